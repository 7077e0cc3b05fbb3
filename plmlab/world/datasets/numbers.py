"""Singular and plural: the words of a world whose form tells a number, and their form in the other one."""

from functools import cache

from plmlab.world.grammar.patterns import NUMBER_WORDS
from plmlab.world.world import World


@cache
def other_number(world: World) -> dict[str, str]:
    """Each word that shows its subject's number, and its form in the other: verbs, and "this", "it", "its"."""
    return _both_ways([*NUMBER_WORDS.values(), *_forms(world, "third", "base")])


@cache
def other_noun(world: World) -> dict[str, str]:
    """Each common noun that has both numbers, and its form in the other."""
    return _both_ways(_forms(world, "sg", "pl", tag="NOUN"))


def _forms(world: World, one: str, other: str, tag: str | None = None) -> list[tuple[str, str]]:
    return [(word.forms[one], word.forms[other]) for word in world.lexicon
            if {one, other} <= {*word.forms} and tag in (None, word.tag)]


def _both_ways(pairs: list[tuple[str, str]]) -> dict[str, str]:
    return {one: other for pair in pairs for one, other in (pair, pair[::-1]) if one != other}
