"""Retrieval baseline without training: the answers given by BM25 over sentences alone."""

from functools import cache, cached_property

from plmlab.chapters.ch14.answering import Outcome, outcome
from plmlab.chapters.ch14.bm25_baseline import Search, normalized_words
from plmlab.chapters.ch14.gold_graphs import KINDS
from plmlab.chapters.ch14.single_pass import every_sentence
from plmlab.chapters.ch14.training import pages
from plmlab.models.cogqa_search import Clue
from plmlab.retrieval import BM25
from plmlab.world.questions.bank import Question
from plmlab.world.questions.cloze import salient

SENTENCES_SEARCHED = 4
"""Number of sentences that are searched for an answer."""


class Ranking(Search):
    """BM25 over pages, and over single sentences that are each prefixed with the title of their page."""

    @cached_property
    def _clues(self) -> list[Clue]:
        return every_sentence(self.pages, self.pages.keys)

    @cached_property
    def _by_sentence(self) -> BM25:
        return BM25([normalized_words(title.split()) + words
                     for title in self.pages.keys for words in self.words(title)])

    def sentences(self, question: Question, limit: int) -> list[Clue]:
        """The sentences with the highest BM25 scores for a question, best first."""
        found, = self._by_sentence.search([normalized_words(question.words)], limit).lists()
        return [self._clues[number] for number in found]

    def answer(self, question: Question) -> str:
        """The answer given by ranking alone: the first name, year or number of the best sentence that is not in the
        question; of two entities, the one whose page is ranked higher; and "yes" for yes–no questions."""
        if KINDS[question.form] == "yes-no":
            return "yes"
        if KINDS[question.form] == "either-or":
            named = self.pages.named(self.pages.ids(question.words))
            return next(title for title in self.titles(question, len(self.pages.keys)) if title in named)
        for clue in self.sentences(question, SENTENCES_SEARCHED):
            sentence = self.pages.article(self.pages.keys[clue.title]).sentences[clue.sentence]
            for (start, end), _ in salient(sentence, self.pages.world.facts):
                words = sentence.words[start:end]
                if not set(normalized_words(words)) <= set(normalized_words(question.words)):
                    return " ".join(words)
        return ""


@cache
def ranking(split: str) -> Ranking:
    """The ranking of a split's articles and their sentences."""
    return Ranking(pages(split))


def ranked_outcome(question: Question, split: str) -> Outcome:
    """The outcome of a question answered by ranking alone, given the number of supporting sentences."""
    found = ranking(split)
    predicted = found.sentences(question, len(question.evidence))
    return outcome(question, pages(split), found.answer(question), predicted, len({clue.title for clue in predicted}))
