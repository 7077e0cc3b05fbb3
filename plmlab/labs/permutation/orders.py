"""Orders in which the words of a sentence are said, and what stands on which side of each when it is said."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import factorial
from random import Random

from plmlab.draws import shuffled

MANY = factorial(5)
"""So many orders are tried at once: all of up to five words, and as many drawn ones of more."""


@dataclass(frozen=True)
class Step:
    """One step of an order: the place of the word that is said, and the places, on its ``left`` and on its ``right``,
    of those that have been said."""

    place: int
    left: tuple[int, ...]
    right: tuple[int, ...]


def steps(order: Sequence[int]) -> list[Step]:
    """What each word of an order finds said already, step by step."""
    return [Step(place, tuple(sorted(other for other in order[:t] if other < place)),
                 tuple(sorted(other for other in order[:t] if other > place))) for t, place in enumerate(order)]


def checked(order: Sequence[int], count: int) -> list[int]:
    """The order; a ValueError for one that has not each place of ``count`` words once."""
    if sorted(order) != list(range(count)):
        raise ValueError(f"order is {list(order)!s:.80}; give the place of each of the {count} words once, from 0 to "
                         f"{count - 1}")
    return list(order)


def drawn(count: int, rng: Random, other: Sequence[int] = ()) -> list[int]:
    """An order that runs neither from left to right nor from right to left, where there is such a one, and not the
    ``other``."""
    straight = [list(range(count)), list(range(count))[::-1]] if count > 2 else []
    avoided = [*straight, list(other)] if count > 1 else []
    while True:
        order = shuffled(rng, range(count))
        if order not in avoided:
            return order


def many(count: int, rng: Random) -> tuple[list[list[int]], bool]:
    """All orders of ``count`` words, and True; where there are more than 120, 120 different ones, and False."""
    if factorial(count) <= MANY:
        return [list(order) for order in permutations(range(count))], True
    found: dict[tuple[int, ...], None] = {}
    while len(found) < MANY:
        found[tuple(shuffled(rng, range(count)))] = None
    return [list(order) for order in found], False
