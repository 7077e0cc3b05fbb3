"""Distractors: articles that look as if a question needed them, and say nothing of what it asks."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from itertools import cycle
from random import Random

from plmlab.draws import shuffled
from plmlab.world.documents.articles import Article
from plmlab.world.facts.facts import Facts
from plmlab.world.facts.relations import Entity
from plmlab.world.questions.corpora import Corpora, corpus_of

COUNT = 8
RARE = 12         # a word that so many names share, or more, makes none of them look alike


class Distractors:
    """Draws the distractors of questions: in turn one from each pool, until there are ``COUNT``.

    Each needed article has three pools: articles whose name shares a word with it (The Silver Harbor, The Silver
    Bridge), articles that mention it, and articles of its kind. The last pool is that of all articles.
    """

    def __init__(self, facts: Facts, corpora: Corpora):
        self.facts = facts
        self.corpora = corpora
        self._mentions = cache(lambda corpus: mentioning(corpora.articles("facts" if corpus is None else corpus)))

    def draw(self, chain: Iterable[Entity], needed: Sequence[str], split: str, rng: Random) -> tuple[str, ...]:
        """At most ``COUNT`` keys of articles, none of an entity of the chain.

        The chain's own articles are barred, because facts are told in the articles of their ends.
        """
        barred = {entity.key for entity in chain}
        articles = self.corpora.articles(split)
        pools = [shuffled(rng, pool) for key in needed for pool in self._pools(self.facts[key], split)]
        pools.append(shuffled(rng, list(articles)))
        found: dict[str, None] = {}
        for pool in cycle(pools):
            if len(found) == COUNT or not any(pools):
                break
            while pool:
                key = pool.pop()
                if key in articles and key not in barred and key not in found:
                    found[key] = None
                    break
        return tuple(found)

    def _pools(self, entity: Entity, split: str) -> tuple[Sequence[str], ...]:
        return (self.namesakes.get(entity.key, ()), self._mentions(corpus_of(split)).get(entity.key, ()),
                [other.key for other in self.facts.kind(entity.kind)])

    @cached_property
    def namesakes(self) -> dict[str, list[str]]:
        """A key → the keys of the named entities that share a rare word with its name."""
        sharing: dict[str, list[str]] = defaultdict(list)
        for entity in self.facts.entities.values():
            if entity.named:
                for word in dict.fromkeys(entity.words):
                    sharing[word].append(entity.key)
        found: dict[str, list[str]] = defaultdict(list)
        for keys in sharing.values():
            if len(keys) < RARE:
                for key in keys:
                    found[key] += [other for other in keys if other != key]
        return dict(found)


def mentioning(articles: Mapping[str, Article]) -> dict[str, list[str]]:
    """A key → the keys of the articles that mention its entity."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for key, article in articles.items():
        for sentence in article.sentences:
            for mention in sentence.mentions:
                if mention.entity != key:
                    found[mention.entity][key] = None
    return {key: list(keys) for key, keys in found.items()}
