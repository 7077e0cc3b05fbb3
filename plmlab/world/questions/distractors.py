"""Distractors: articles that look relevant to a question but state none of the facts needed to answer it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from random import Random

from plmlab.world.documents.articles import Article
from plmlab.world.facts.facts import Facts
from plmlab.world.facts.relations import Entity
from plmlab.world.questions.corpora import Corpora, corpus_of

COUNT = 8
RARE = 12         # a word shared by this many names or more does not make them similar


class Distractors:
    """Samples the distractors of questions from several pools, one from each pool in turn, until there are ``COUNT``.

    Each article that a question needs has three pools: articles whose name has a word in common with it (The Silver
    Harbor, The Silver Bridge), articles that mention it, and articles about entities of the same kind. A final pool
    contains all articles.
    """

    def __init__(self, facts: Facts, corpora: Corpora):
        self.facts = facts
        self.corpora = corpora
        self._mentions = cache(lambda corpus: mentioning(corpora.articles("facts" if corpus is None else corpus)))
        self._of_kind = cache(lambda kind: [entity.key for entity in facts.kind(kind)])

    def draw(self, chain: Iterable[Entity], needed: Sequence[str], split: str, rng: Random) -> tuple[str, ...]:
        """The keys of at most ``COUNT`` articles, none of them about an entity of the chain.

        The chain's own articles are excluded because a fact is stated in the articles of both its entities.
        """
        barred = {entity.key for entity in chain}
        articles = self.corpora.articles(split)
        pools = [taken(rng, pool) for key in needed for pool in self._pools(self.facts[key], split)]
        pools.append(taken(rng, articles))
        found: dict[str, None] = {}
        while pools and len(found) < COUNT:
            pool = pools.pop(0)
            for key in pool:
                if key in articles and key not in barred and key not in found:
                    found[key] = None
                    pools.append(pool)
                    break
        return tuple(found)

    def _pools(self, entity: Entity, split: str) -> tuple[Sequence[str], ...]:
        return (self.namesakes.get(entity.key, ()), self._mentions(corpus_of(split)).get(entity.key, ()),
                self._of_kind(entity.kind))

    @cached_property
    def namesakes(self) -> dict[str, list[str]]:
        """Key → the keys of the named entities whose names share a rare word with that entity's name."""
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


def taken(rng: Random, keys: Iterable[str]) -> Iterator[str]:
    """Iterate over the keys in the order of :func:`plmlab.draws.shuffled`, last first.

    All random numbers are drawn at once, but keys are swapped lazily, because a question needs only a few of the
    hundreds of keys.
    """
    order = list(keys)
    return _settled(order, [rng.random() for _ in order[1:]])


def _settled(order: list[str], draws: list[float]) -> Iterator[str]:
    for last, draw in zip(reversed(range(len(order))), [*draws, 0.0], strict=False):
        other = int(draw * (last + 1))
        order[last], order[other] = order[other], order[last]
        yield order[last]


def mentioning(articles: Mapping[str, Article]) -> dict[str, list[str]]:
    """Key → the keys of the articles that mention the entity with that key."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for key, article in articles.items():
        for sentence in article.sentences:
            for mention in sentence.mentions:
                if mention.entity != key:
                    found[mention.entity][key] = None
    return {key: list(keys) for key, keys in found.items()}
