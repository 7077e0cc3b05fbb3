"""Grammatical number: the words of a world that mark singular or plural, and their forms in the opposite number."""

from functools import cache
from typing import NamedTuple

from plmlab.world.grammar.patterns import NUMBER_WORDS
from plmlab.world.world import World

AUXILIARIES = ("is", "was", "has", "does")
NUMBERS = ("sg", "pl")


class NumberWords(NamedTuple):
    """The words of a world by how they mark number, each list in the order of the vocabulary.

    Attributes:
        singular, plural: words with a reading as a verb (or auxiliary) in this number.
        others: nouns, words such as "this" and "their", and verbs whose present and past forms are identical.
    """

    singular: tuple[str, ...]
    plural: tuple[str, ...]
    others: tuple[str, ...]


@cache
def other_number(world: World) -> dict[str, str]:
    """Each word that agrees in number with its subject or antecedent (verbs, and "this", "it", "its") → its form in the
    opposite number."""
    return _both_ways([*NUMBER_WORDS.values(), *_forms(world, "third", "base")])


@cache
def other_noun(world: World) -> dict[str, str]:
    """Each common noun that has both numbers → its form in the opposite number."""
    return _both_ways(_forms(world, "sg", "pl", tag="NOUN"))


def number_words(world: World) -> NumberWords:
    """The words of the world that mark number. A word that is also a noun, such as "work", counts as a verb."""
    pairs = [NUMBER_WORDS[name] for name in AUXILIARIES]
    groups: dict[str, list[str]] = {"singular": [], "plural": [], "others": []}
    others = {word for name, pair in NUMBER_WORDS.items() if name not in AUXILIARIES for word in pair}
    for word in world.vocabulary:
        verbs = [(reading, form) for reading, form in world.lexicon.readings.get(word, ())
                 if reading.tag == "VERB" and form in ("base", "third")]
        if any(word == one for one, _ in pairs) or any(form == "third" for _, form in verbs):
            groups["singular"].append(word)
        elif any(word == two for _, two in pairs) or any(reading.forms["past"] != word for reading, _ in verbs):
            groups["plural"].append(word)
        elif verbs or word in others or number_of_noun(world, word):
            groups["others"].append(word)
    return NumberWords(*map(tuple, groups.values()))


def number_of_noun(world: World, word: str) -> str | None:
    """The number of a noun in the lexicon, "sg" or "pl"; None if the word is not a noun or has no number."""
    forms = (form for reading, form in world.lexicon.readings.get(word, ()) if reading.tag == "NOUN")
    return next((form for form in forms if form in NUMBERS), None)


def _forms(world: World, one: str, other: str, tag: str | None = None) -> list[tuple[str, str]]:
    return [(word.forms[one], word.forms[other]) for word in world.lexicon
            if {one, other} <= {*word.forms} and tag in (None, word.tag)]


def _both_ways(pairs: list[tuple[str, str]]) -> dict[str, str]:
    return {one: other for pair in pairs for one, other in (pair, pair[::-1]) if one != other}
