"""BM25 ranking of the world's articles for a question."""

from collections.abc import Sequence
from functools import cached_property
from itertools import chain

from plmlab.metrics import normalised
from plmlab.retrieval import BM25
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.questions.bank import Question


def normalized_words(words: Sequence[str]) -> list[str]:
    """Normalize words for matching: lower case, without punctuation and articles."""
    return normalised(" ".join(words)).split()


class Search:
    """BM25 search over pages."""

    def __init__(self, pages: ArticlePages) -> None:
        self.pages = pages

    @cached_property
    def _by_page(self) -> BM25:
        return BM25([[*chain(*self.words(title))] for title in self.pages.keys])

    def words(self, title: str) -> list[list[str]]:
        """The sentences of a page as normalized words."""
        return [normalized_words(one.words) for one in self.pages.article(self.pages.keys[title]).sentences]

    def titles(self, question: Question, limit: int) -> list[str]:
        """Titles of the ``limit`` pages with the highest BM25 scores for a question, best first."""
        titles = [*self.pages.keys]
        ranked, = self._by_page.search([normalized_words(question.words)], limit).lists()
        return [titles[number] for number in ranked]
