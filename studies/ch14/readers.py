"""Training batches of the single-pass baselines, with the same questions in the same updates as for CogQA.

*Gold pages* are the pages that a question needs, in random order. If they exceed the model's maximum length, the last
sentences that the question does not need are left out, so that the evidence is always in the input, which gives an
upper bound for reading. *Top pages* are those of the chapter (`plmlab.chapters.ch14.single_pass`).
"""

from collections.abc import Callable
from random import Random
from typing import Literal, get_args

from plmlab.chapters.ch14.answering import supporting
from plmlab.chapters.ch14.single_pass import Text, every_sentence, length, place, read_sentences, shortened, top_text
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
    """The sentences of the pages that a question needs. If there are too many for ``time`` positions, the last unneeded
    sentences are left out, but never the first sentence of a page, which names it."""
    told = pages(split)
    text = every_sentence(told, shuffled(rng, map(told.title, question.needed)))
    needed = supporting(question, told) | {clue for clue in text if clue.sentence == 0}
    for clue in [clue for clue in reversed(text) if clue not in needed]:
        if length(question, told, text) > time:
            text.remove(clue)
    return shortened(question, told, text, time)


def given(kind: Given, question: Question, split: str, time: int, rng: Random) -> Text:
    """The input text of a baseline of either kind."""
    return gold_text(question, split, time, rng) if kind == "gold pages" else top_text(question, split, time)


def example(question: Question, told: ArticlePages, text: Text) -> Example:
    """An Example of a question and its text, with the targets."""
    needed = supporting(question, told)
    return with_support(told.ids(question.words), read_sentences(told, text), place(question, told, text),
                        [number for number, clue in enumerate(text, 1) if clue in needed], vocab=told.tokenizer.vocab)


def batches(kind: Given, seed: int, time: int) -> Callable[[int], Batch]:
    """Return a function from a step to the questions of CogQA's update, each with its text."""
    def batch(step: int) -> Batch:
        rng, questions = drawn(seed, step)
        return Batch.of([example(question, pages("train"), given(kind, question, "train", time, rng))
                         for question in questions], pad=world_tokenizer().vocab.need("pad"))
    return batch
