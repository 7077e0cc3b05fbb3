"""Articles of a world in several wordings, without the facts that a question needs."""

from collections.abc import Collection
from functools import cache
from random import Random
from typing import NamedTuple

from plmlab.draws import choice
from plmlab.text import Text
from plmlab.world.datasets.texts import document_text
from plmlab.world.datasets.tokenizer import world_tokenizer
from plmlab.world.datasets.two_hop_questions import facts_of_later_splits
from plmlab.world.documents.articles import Article, Library
from plmlab.world.facts.relations import Triple
from plmlab.world.world import World

WORDINGS = {"train": range(8), "development": range(8, 12), "test": range(12, 16)}
"""The versions of articles that a split uses, each with other words and another order of sentences."""


class Paragraph(NamedTuple):
    """An article and its tokens."""

    article: Article
    text: Text


class RewordedArticles:
    """The articles of a split of `two_hop_questions`. They state no fact that a question of a later split needs, and
    only the test articles state held-out facts."""

    def __init__(self, world: World, split: str) -> None:
        self.world, self.split = world, split
        self.corpus = None if split == "test" else "train"
        self.keys = [*world.corpora.articles("facts" if split == "test" else "train")]
        self.later = facts_of_later_splits(world, split)
        self._library = cache(lambda number: Library(world.facts, world.held, world.seed + number, world.folder))
        self._general = cache(self._written)

    def draw(self, key: str, needed: Collection[Triple], rng: Random) -> Paragraph:
        """The article about an entity in a random wording, without the needed facts."""
        wording = choice(rng, WORDINGS[self.split])
        involved = frozenset(fact for fact in needed if key in (fact.subject, fact.object))
        return self._written(key, wording, involved) if involved else self._general(key, wording)

    def _written(self, key: str, wording: int, without: frozenset[Triple] = frozenset()) -> Paragraph:
        article = self._library(wording).article(key, self.corpus, without | self.later)
        return Paragraph(article, document_text(article.sentences, world_tokenizer()))
