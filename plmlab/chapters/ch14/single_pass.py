"""The single-pass baseline, which takes all pages as one input: the input for a question of the world, and the answer
span in this input.

The *retrieved pages* are the pages named in the question, where CogQA starts as well, followed by the pages with the
highest BM25 scores, in descending order, until the input is full.
"""

from collections.abc import Iterable, Sequence
from functools import cache

from plmlab.chapters.ch14.bm25_baseline import Search
from plmlab.chapters.ch14.gold_graphs import KINDS
from plmlab.chapters.ch14.training import pages
from plmlab.models.cogqa_search import Clue
from plmlab.objectives.single_pass_qa import sentence_starts
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.questions.bank import Question
from plmlab.world.questions.chains import find_words

YES_NO = ("yes", "no")
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


def retrieved_text(question: Question, split: str, time: int) -> Text:
    """The sentences of the retrieved pages of a question, truncated to ``time`` positions."""
    articles = pages(split)
    titles = dict.fromkeys((*articles.named(articles.ids(question.words)), *search(split).titles(question, TOP)))
    return truncated(question, articles, every_sentence(articles, titles), time)


def input_length(question: Question, articles: ArticlePages, text: Sequence[Clue]) -> int:
    """The number of positions that a question and a text occupy."""
    return sentence_starts(articles.ids(question.words), input_sentences(articles, text))[-1] + 1


def truncated(question: Question, articles: ArticlePages, text: Sequence[Clue], time: int) -> Text:
    """A text without the final sentences that do not fit into ``time`` positions."""
    while input_length(question, articles, text) > time:
        text = text[:-1]
    return tuple(text)


def input_sentences(articles: ArticlePages, text: Sequence[Clue]) -> list[Sequence[int]]:
    """The model's input: the two words "yes" and "no", followed by the sentences."""
    return [articles.ids(YES_NO), *(articles.sentences(title)[number] for title, number in text)]


def answer_span(question: Question, articles: ArticlePages, text: Text) -> tuple[int, int, int] | None:
    """The answer span in the input, as (sentence, start, end): in the sentence that states the answer, otherwise at the
    first occurrence of the answer's words. None if these words do not occur."""
    if KINDS[question.form] == "yes-no":
        start = YES_NO.index(question.answer[0])
        return 0, start, start + 1
    title, number = articles.title(question.evidence[-1].article), question.evidence[-1].sentence
    for clue in sorted(text, key=lambda clue: clue != (title, number) or KINDS[question.form] != "special"):
        words = articles.article(articles.keys[clue.title]).sentences[clue.sentence].words
        if (first := find_words(words, question.answer)) is not None:
            return text.index(clue) + 1, first, first + len(question.answer)
    return None
