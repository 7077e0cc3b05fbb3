"""The single-pass baseline, which takes all pages as one input: the input for a question of the world, the answer span
in this input, and the prediction.

The *top pages* are the pages named in the question, where CogQA starts as well, followed by the pages with the highest
BM25 scores, in descending order, until the input is full.
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
from plmlab.objectives.single_pass_qa import sentence_starts, with_support
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.questions.bank import Question
from plmlab.world.questions.chains import find_words

SAID = ("yes", "no")
"""The words that each input starts with."""
TOP = 6
"""Number of pages that are retrieved; two to four fit."""

Text = tuple[Clue, ...]
"""The sentences of an input, each as (title, index)."""


def every_sentence(pages: ArticlePages, titles: Iterable[str]) -> list[Clue]:
    """All sentences of these pages in order, each as (title, index)."""
    return [Clue(title, number) for title in titles for number in range(len(pages.sentences(title)))]


@cache
def search(split: str) -> Search:
    """BM25 search over the articles that answer the questions of a split."""
    return Search(pages(split))


def top_text(question: Question, split: str, time: int) -> Text:
    """The sentences of the top pages of a question, truncated to ``time`` positions."""
    articles = pages(split)
    titles = dict.fromkeys((*articles.named(articles.ids(question.words)), *search(split).titles(question, TOP)))
    return shortened(question, articles, every_sentence(articles, titles), time)


def length(question: Question, told: ArticlePages, text: Sequence[Clue]) -> int:
    """The number of positions that a question and a text occupy."""
    return sentence_starts(told.ids(question.words), read_sentences(told, text))[-1] + 1


def shortened(question: Question, told: ArticlePages, text: Sequence[Clue], time: int) -> Text:
    """A text without the final sentences that do not fit into ``time`` positions."""
    while length(question, told, text) > time:
        text = text[:-1]
    return tuple(text)


def read_sentences(told: ArticlePages, text: Sequence[Clue]) -> list[Sequence[int]]:
    """The model's input: the two words "yes" and "no", followed by the sentences."""
    return [told.ids(SAID), *(told.sentences(title)[number] for title, number in text)]


def place(question: Question, told: ArticlePages, text: Text) -> tuple[int, int, int] | None:
    """The answer span in the input, as (sentence, start, end): in the sentence that states the answer, otherwise at the
    first occurrence of the answer's words. None if these words do not occur."""
    if KINDS[question.form] == "yes-no":
        start = SAID.index(question.answer[0])
        return 0, start, start + 1
    title, number = told.title(question.evidence[-1].article), question.evidence[-1].sentence
    for clue in sorted(text, key=lambda clue: clue != (title, number) or KINDS[question.form] != "special"):
        words = told.article(told.keys[clue.title]).sentences[clue.sentence].words
        if (first := find_words(words, question.answer)) is not None:
            return text.index(clue) + 1, first, first + len(question.answer)
    return None


def answer_from_text(model: SinglePassReader, question: Question, split: str, text: Text) -> Outcome:
    """Answer a question from a text. The predicted supporting sentences are the sentence of the answer and all
    sentences with a predicted probability above ½."""
    articles = pages(split)
    asked = articles.ids(question.words)
    read = read_sentences(articles, text)
    batch = Batch.of([with_support(asked, read, None, (), vocab=articles.tokenizer.vocab)], pad=0)
    ((start, end), probs), = model.predict(batch.to(next(model.parameters()).device))
    positions = sentence_starts(asked, read)
    flat = [token for sentence in read for token in sentence]
    support = {clue for clue, (first, stop) in zip(text, pairwise(positions[1:]), strict=True)
               if probs[first] > 0.5 or first <= start < stop}
    return outcome(question, articles, articles.spelled(flat[start - positions[0]:end - positions[0]]), support,
                   len({clue.title for clue in text}))
