"""The articles that serve as context for the questions and clozes of a split, generated once and indexed by entity and
fact."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache

from plmlab.world.documents.articles import Article, Library
from plmlab.world.facts.relations import Triple
from plmlab.world.grammar.splits import checked
from plmlab.world.questions.cognitive_graph import Clue


def corpus_of(split: str) -> str | None:
    """The articles that a split uses: "train", or None, which states every fact, for "facts" and "entities".

    Raises:
        SplitError: for an unknown split.
    """
    return None if checked(split) in ("facts", "entities") else "train"


class Corpora:
    """The articles of a world, by the split that uses them."""

    def __init__(self, library: Library):
        self._library = library
        self._articles = cache(self._written)
        self._tellers = cache(self._found_tellers)

    def articles(self, split: str) -> Mapping[str, Article]:
        """The articles that the split uses, as a mapping from an entity's key to its article."""
        return self._articles(corpus_of(split))

    def clue(self, key: str, fact: Triple, split: str) -> Clue | None:
        """The sentence in an entity's article that states the fact; None if there is no such sentence or article."""
        article = self.articles(split).get(key)
        index = article.telling(fact) if article else None
        return None if index is None else Clue(key, index)

    def tellers(self, fact: Triple, split: str) -> tuple[str, ...]:
        """The keys of all articles that state the fact, among those that the split uses."""
        return tuple(self._tellers(corpus_of(split)).get(fact, ()))

    def _written(self, corpus: str | None) -> dict[str, Article]:
        return {article.entity: article for article in self._library.articles(corpus)}

    def _found_tellers(self, corpus: str | None) -> dict[Triple, dict[str, None]]:
        found: dict[Triple, dict[str, None]] = defaultdict(dict)
        for key, article in self._articles(corpus).items():
            for sentence in article.sentences:
                for fact in sentence.facts:
                    found[fact][key] = None
        return dict(found)
