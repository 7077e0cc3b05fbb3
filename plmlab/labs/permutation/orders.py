"""Factorization orders of a sentence, and the left and right context of each prediction step."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import factorial
from random import Random

from plmlab.draws import shuffled

MANY = factorial(5)
"""Number of orders evaluated together: all orders of up to five words, or this many random orders of more words."""


@dataclass(frozen=True)
class Step:
    """One step of an order: the index of the target (``place``), and the indices of the words already predicted on its
    ``left`` and on its ``right``."""

    place: int
    left: tuple[int, ...]
    right: tuple[int, ...]


def steps(order: Sequence[int]) -> list[Step]:
    """The steps of an order, each with the words predicted before it."""
    return [Step(place, tuple(sorted(other for other in order[:t] if other < place)),
                 tuple(sorted(other for other in order[:t] if other > place))) for t, place in enumerate(order)]


def checked(order: Sequence[int], count: int) -> list[int]:
    """Return the order as a list. Raises ValueError if it is not a permutation of 0 … ``count`` − 1."""
    if sorted(order) != list(range(count)):
        raise ValueError(f"order is {list(order)!s:.80}; give the index of each of the {count} words once, from 0 to "
                         f"{count - 1}")
    return list(order)


def drawn(count: int, rng: Random, other: Sequence[int] = ()) -> list[int]:
    """Sample an order that differs from ``other`` and is neither left-to-right nor right-to-left, if there is such an
    order."""
    straight = [list(range(count)), list(range(count))[::-1]] if count > 2 else []
    avoided = [*straight, list(other)] if count > 1 else []
    while True:
        order = shuffled(rng, range(count))
        if order not in avoided:
            return order


def many(count: int, rng: Random) -> tuple[list[list[int]], bool]:
    """All permutations of ``count`` words, and True; if there are more than 120, 120 distinct random permutations, and
    False."""
    if factorial(count) <= MANY:
        return [list(order) for order in permutations(range(count))], True
    distinct: dict[tuple[int, ...], None] = {}
    while len(distinct) < MANY:
        distinct[tuple(shuffled(rng, range(count)))] = None
    return [list(order) for order in distinct], False
