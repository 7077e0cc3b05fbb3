"""Word pairs from a world's grammar and facts, by relation, for analogy questions a : b = c : ?."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from random import Random
from typing import NamedTuple

from plmlab.draws import shuffled
from plmlab.world.world import World

FORMS = {
    "noun: plural": ("NOUN", "sg", "pl"), "verb: third person": ("VERB", "base", "third"),
    "verb: past": ("VERB", "base", "past"),
}
"""Relation → the part of speech and the two word forms."""
FACTS = {"town: its country": "in_country", "town: its river": "on_river"}
"""Relation → the name of the fact."""


class Question(NamedTuple):
    """An analogy question: ``a`` is to ``b`` as ``c`` is to ``d``."""

    a: str
    b: str
    c: str
    d: str


def related(world: World) -> dict[str, list[tuple[str, str]]]:
    """Relation → its word pairs, in the order of the tables; only single, unambiguous words that occur in the
    sentences.

    A word is the first element of at most one pair per relation. Pairs of two identical words are left out.
    """
    vocabulary = set(world.automaton().vocabulary)
    ambiguous = set(world.lexicon.ambiguous)
    names = {key: entity.words[-1] if entity.kind == "river" else " ".join(entity.words)
             for key, entity in world.facts.entities.items()}

    def kept(pairs: Iterator[tuple[str, str]]) -> list[tuple[str, str]]:
        found = {one: other for one, other in pairs if {one, other} <= vocabulary - ambiguous and one != other}
        return list(found.items())

    found = {name: kept((word.forms[one], word.forms[other]) for word in world.lexicon
                        if word.tag == tag and {one, other} <= word.forms.keys())
             for name, (tag, one, other) in FORMS.items()}
    for name, relation in FACTS.items():
        found[name] = kept((names[fact.subject], names[fact.object]) for fact in world.triples("train")
                           if fact.relation == relation)
    return found


def questions(pairs: Sequence[tuple[str, str]], *, most: int = 500, seed: int = 0) -> list[Question]:
    """All questions from two pairs with four different words, in either order, or a random sample of ``most`` of
    them."""
    every = [Question(a, b, c, d) for (a, b), (c, d) in permutations(pairs, 2) if len({a, b, c, d}) == 4]
    return shuffled(Random(seed), every)[:most]


def asked(relations: Mapping[str, Sequence[tuple[str, str]]], **choices: int) -> dict[str, list[Question]]:
    """Relation → the analogy questions built from its word pairs."""
    return {name: questions(pairs, **choices) for name, pairs in relations.items()}
