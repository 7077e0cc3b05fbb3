"""What the readers of one pass learn from, the questions that CogQA has in the same updates.

*Gold pages* are those that a question needs, in random order. Where they are too long for the reader's positions, the
last sentences that it does not need are left out, so that what it needs is always there: a ceiling for reading.
*Top pages* are what the chapter gives its reader (`plmlab.chapters.ch14.one_pass`).
"""

from collections.abc import Callable
from random import Random
from typing import Literal, get_args

from plmlab.chapters.ch14.answering import supporting
from plmlab.chapters.ch14.one_pass import Text, every_sentence, length, place, read_sentences, shortened, top_text
from plmlab.chapters.ch14.training import pages
from plmlab.draws import shuffled
from plmlab.example import Batch, Example
from plmlab.objectives.single_pass_qa import with_support
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.datasets.tokenizer import world_tokenizer
from plmlab.world.questions.bank import Question
from studies.ch14.learning import drawn

Given = Literal["gold pages", "top pages"]
GIVEN: tuple[Given, ...] = get_args(Given)


def gold_text(question: Question, split: str, time: int, rng: Random) -> Text:
    """The sentences of the pages that a question needs, without the last ones of those that it does not need where they
    are too many for so many positions. Each page's first sentence, which names it, stays."""
    told = pages(split)
    text = every_sentence(told, shuffled(rng, map(told.title, question.needed)))
    needed = supporting(question, told) | {clue for clue in text if clue.sentence == 0}
    for clue in [clue for clue in reversed(text) if clue not in needed]:
        if length(question, told, text) > time:
            text.remove(clue)
    return shortened(question, told, text, time)


def given(kind: Given, question: Question, split: str, time: int, rng: Random) -> Text:
    """What a reader of either kind is given."""
    return gold_text(question, split, time, rng) if kind == "gold pages" else top_text(question, split, time)


def example(question: Question, told: ArticlePages, text: Text) -> Example:
    """A question, its text, and what is asked of the reader."""
    needed = supporting(question, told)
    return with_support(told.ids(question.words), read_sentences(told, text), place(question, told, text),
                        [number for number, clue in enumerate(text, 1) if clue in needed], vocab=told.tokenizer.vocab)


def batches(kind: Given, seed: int, time: int) -> Callable[[int], Batch]:
    """Step → the questions that CogQA has in that update, each with its text."""
    def batch(step: int) -> Batch:
        rng, questions = drawn(seed, step)
        return Batch.of([example(question, pages("train"), given(kind, question, "train", time, rng))
                         for question in questions], pad=world_tokenizer().vocab.need("pad"))
    return batch
