"""The world's articles ranked by the words that they share with a question, and what that alone would answer."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain

from plmlab.chapters.ch14.gold_graphs import KINDS
from plmlab.metrics import normalised
from plmlab.models.cognitive_growth import Clue
from plmlab.retrieval import BM25
from plmlab.world.datasets.pages import ArticlePages
from plmlab.world.questions.bank import Question
from plmlab.world.questions.cloze import salient

LOOKED_AT = 4
"""So many sentences are looked through for an answer."""


def spelled(words: Sequence[str]) -> list[str]:
    """Words as they are compared: small, without punctuation, articles left out."""
    return normalised(" ".join(words)).split()


def every_sentence(pages: ArticlePages, titles: Iterable[str]) -> list[Clue]:
    """The sentences of some pages, page after page, each as (title, number)."""
    return [Clue(title, number) for title in titles for number in range(len(pages.sentences(title)))]


class Search:
    """BM25 over pages, and over single sentences, each with the title of its page before it."""

    def __init__(self, pages: ArticlePages) -> None:
        self.pages = pages

    @cached_property
    def _by_page(self) -> BM25:
        return BM25([[*chain(*self._words(title))] for title in self.pages.keys])

    @cached_property
    def _clues(self) -> list[Clue]:
        return every_sentence(self.pages, self.pages.keys)

    @cached_property
    def _by_sentence(self) -> BM25:
        return BM25([spelled(title.split()) + words for title in self.pages.keys for words in self._words(title)])

    def _words(self, title: str) -> list[list[str]]:
        return [spelled(one.words) for one in self.pages.article(self.pages.keys[title]).sentences]

    def titles(self, question: Question, most: int) -> list[str]:
        """The titles of the pages that share most with a question, the best first."""
        titles = [*self.pages.keys]
        return [titles[ranked.text] for ranked in self._by_page.best(spelled(question.words), most)]

    def sentences(self, question: Question, most: int) -> list[Clue]:
        """The sentences that share most with a question, the best first."""
        return [self._clues[ranked.text] for ranked in self._by_sentence.best(spelled(question.words), most)]

    def answer(self, question: Question) -> str:
        """What the ranking alone says: the first name, year or number of the best sentence that the question does not
        have; of two, the one whose page is above the other's; and yes."""
        if KINDS[question.form] == "yes-no":
            return "yes"
        if KINDS[question.form] == "either-or":
            named = self.pages.named(self.pages.ids(question.words))
            return next(title for title in self.titles(question, len(self.pages.keys)) if title in named)
        for clue in self.sentences(question, LOOKED_AT):
            sentence = self.pages.article(self.pages.keys[clue.title]).sentences[clue.sentence]
            for (start, end), _ in salient(sentence, self.pages.world.facts):
                words = sentence.words[start:end]
                if not set(spelled(words)) <= set(spelled(question.words)):
                    return " ".join(words)
        return ""
