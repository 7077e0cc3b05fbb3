"""The rival that sees all at once: what a one-pass reader is given of a question of the world.

- *Gold pages*: those that the question needs, in random order. Where they are too long for the reader's positions, the
  last sentences that it does not need are left out, so that what it needs is always there: a ceiling for reading.
- *Top pages*: those that the question names, where CogQA begins too, and then those that share most words with it
  (BM25), the best first, as far as they fit.
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from random import Random
from typing import Literal, get_args

from plmlab.chapters.ch14.answering import Outcome, outcome, supporting
from plmlab.chapters.ch14.gold_graphs import KINDS
from plmlab.chapters.ch14.retrieved import Search, every_sentence
from plmlab.chapters.ch14.training import drawn, pages
from plmlab.draws import shuffled
from plmlab.example import Batch, Example
from plmlab.models.cognitive_growth import Clue
from plmlab.models.one_pass_reader import OnePassReader
from plmlab.objectives.one_pass import first_slots, with_support
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.datasets.tokenizer import spelling
from plmlab.world.questions.bank import Question
from plmlab.world.questions.chains import find_words

Given = Literal["gold pages", "top pages"]
GIVEN: tuple[Given, ...] = get_args(Given)
SAID = ("yes", "no")
"""The words that each text begins with."""
TOP = 6
"""So many pages are looked for; two to four fit."""

Text = tuple[Clue, ...]
"""The sentences of a text, each as (title, number)."""


@cache
def search(split: str) -> Search:
    """The articles in which the questions of a split are answered, to be ranked."""
    return Search(pages(split))


def gold_text(question: Question, split: str, time: int, rng: Random) -> Text:
    """The sentences of the pages that a question needs, without the last ones of those that it does not need where they
    are too many for so many slots. Each page's first sentence, which names it, stays."""
    told = pages(split)
    text = every_sentence(told, shuffled(rng, map(told.title, question.needed)))
    needed = supporting(question, told) | {clue for clue in text if clue.sentence == 0}
    for clue in [clue for clue in reversed(text) if clue not in needed]:
        if _slots(question, told, text) > time:
            text.remove(clue)
    return _cut(question, told, text, time)


def top_text(question: Question, split: str, time: int) -> Text:
    """The sentences of the pages that a question names and of those that share most words with it, as far as they fit
    into so many slots."""
    told = pages(split)
    titles = dict.fromkeys((*told.named(told.ids(question.words)), *search(split).titles(question, TOP)))
    return _cut(question, told, every_sentence(told, titles), time)


def given(kind: Given, question: Question, split: str, time: int, rng: Random) -> Text:
    """What a reader of either kind is given."""
    return gold_text(question, split, time, rng) if kind == "gold pages" else top_text(question, split, time)


def _slots(question: Question, told: ArticlePages, text: Sequence[Clue]) -> int:
    return first_slots(told.ids(question.words), _sentences(told, text))[-1] + 1


def _cut(question: Question, told: ArticlePages, text: Sequence[Clue], time: int) -> Text:
    while _slots(question, told, text) > time:
        text = text[:-1]
    return tuple(text)


def _sentences(told: ArticlePages, text: Sequence[Clue]) -> list[Sequence[int]]:
    """What is read: the two words, and then the sentences."""
    return [told.ids(SAID), *(told.sentences(title)[number] for title, number in text)]


def place(question: Question, told: ArticlePages, text: Text) -> tuple[int, int, int] | None:
    """Where the answer stands in what is read, as (sentence, start, end): where it is told, or else where its words
    stand first; None where they do not."""
    if KINDS[question.form] == "yes-no":
        start = SAID.index(question.answer[0])
        return 0, start, start + 1
    title, number = told.title(question.evidence[-1].article), question.evidence[-1].sentence
    for clue in sorted(text, key=lambda clue: clue != (title, number) or KINDS[question.form] != "special"):
        words = told.article(told.keys[clue.title]).sentences[clue.sentence].words
        if (first := find_words(words, question.answer)) is not None:
            return text.index(clue) + 1, first, first + len(question.answer)
    return None


def example(question: Question, told: ArticlePages, text: Text) -> Example:
    """A question, its text, and what is asked of the reader."""
    needed = supporting(question, told)
    return with_support(told.ids(question.words), _sentences(told, text), place(question, told, text),
                        [number for number, clue in enumerate(text, 1) if clue in needed], vocab=told.tokenizer.vocab)


def batches(kind: Given, seed: int, time: int) -> Callable[[int], Batch]:
    """Step → the questions that CogQA has in that update, each with its text."""
    def batch(step: int) -> Batch:
        rng, questions = drawn(seed, step)
        return Batch.of([example(question, pages("train"), given(kind, question, "train", time, rng))
                         for question in questions], pad=spelling().vocab.need("pad"))
    return batch


def answered(model: OnePassReader, question: Question, split: str, text: Text) -> Outcome:
    """A question answered from a text. Supporting sentences are that of the answer, and those that are likelier to
    support it than not."""
    told = pages(split)
    asked = told.ids(question.words)
    read = _sentences(told, text)
    batch = Batch.of([with_support(asked, read, None, (), vocab=told.tokenizer.vocab)], pad=0)
    ((start, end), chances), = model.told(batch.to(next(model.parameters()).device))
    slots = first_slots(asked, read)
    flat = [token for sentence in read for token in sentence]
    sure = {clue for clue, (first, behind) in zip(text, pairwise(slots[1:]), strict=True)
            if chances[first] > 0.5 or first <= start < behind}
    return outcome(question, told, told.spelled(flat[start - slots[0]:end - slots[0]]), sure,
                   len({clue.title for clue in text}))
