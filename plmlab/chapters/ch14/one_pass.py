"""The rival that sees all at once: what it is given of a question of the world, where the answer stands in that, and
what it answers.

*Top pages* are those that the question names, where CogQA begins too, and then those that share most words with it
(BM25), the best first, as far as they fit.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise

from plmlab.chapters.ch14.answering import Outcome, outcome
from plmlab.chapters.ch14.gold_graphs import KINDS
from plmlab.chapters.ch14.retrieved import Search
from plmlab.chapters.ch14.training import pages
from plmlab.example import Batch
from plmlab.models.cogqa_search import Clue
from plmlab.models.single_pass_reader import SinglePassReader
from plmlab.objectives.single_pass_qa import first_positions, with_support
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.questions.bank import Question
from plmlab.world.questions.chains import find_words

SAID = ("yes", "no")
"""The words that each text begins with."""
TOP = 6
"""So many pages are looked for; two to four fit."""

Text = tuple[Clue, ...]
"""The sentences of a text, each as (title, number)."""


def every_sentence(pages: ArticlePages, titles: Iterable[str]) -> list[Clue]:
    """The sentences of some pages, page after page, each as (title, number)."""
    return [Clue(title, number) for title in titles for number in range(len(pages.sentences(title)))]


@cache
def search(split: str) -> Search:
    """The articles in which the questions of a split are answered, to be ranked."""
    return Search(pages(split))


def top_text(question: Question, split: str, time: int) -> Text:
    """The sentences of the pages that a question names and of those that share most words with it, as far as they fit
    into so many positions."""
    told = pages(split)
    titles = dict.fromkeys((*told.named(told.ids(question.words)), *search(split).titles(question, TOP)))
    return shortened(question, told, every_sentence(told, titles), time)


def length(question: Question, told: ArticlePages, text: Sequence[Clue]) -> int:
    """How many positions a question and a text take."""
    return first_positions(told.ids(question.words), read_sentences(told, text))[-1] + 1


def shortened(question: Question, told: ArticlePages, text: Sequence[Clue], time: int) -> Text:
    """A text without the last sentences that do not fit into so many positions."""
    while length(question, told, text) > time:
        text = text[:-1]
    return tuple(text)


def read_sentences(told: ArticlePages, text: Sequence[Clue]) -> list[Sequence[int]]:
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


def answered(model: SinglePassReader, question: Question, split: str, text: Text) -> Outcome:
    """A question answered from a text. Supporting sentences are that of the answer, and those that are likelier to
    support it than not."""
    told = pages(split)
    asked = told.ids(question.words)
    read = read_sentences(told, text)
    batch = Batch.of([with_support(asked, read, None, (), vocab=told.tokenizer.vocab)], pad=0)
    ((start, end), chances), = model.told(batch.to(next(model.parameters()).device))
    positions = first_positions(asked, read)
    flat = [token for sentence in read for token in sentence]
    sure = {clue for clue, (first, behind) in zip(text, pairwise(positions[1:]), strict=True)
            if chances[first] > 0.5 or first <= start < behind}
    return outcome(question, told, told.spelled(flat[start - positions[0]:end - positions[0]]), sure,
                   len({clue.title for clue in text}))
