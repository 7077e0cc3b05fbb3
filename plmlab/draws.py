"""Random draws that are the same on every platform and Python version: all of them through ``rng.random()``."""

from collections.abc import Iterable, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def randint(rng: Random, n: int) -> int:
    """A whole number from 0 to n − 1, each as likely."""
    return int(rng.random() * n)


def choice(rng: Random, items: Sequence[T]) -> T:
    """One of the items, all equally likely."""
    if not items:
        raise ValueError("nothing to draw from: the list is empty")
    return items[randint(rng, len(items))]


def shuffled(rng: Random, items: Iterable[T]) -> list[T]:
    """The items in random order (Fisher and Yates)."""
    order = list(items)
    for last in range(len(order) - 1, 0, -1):
        other = randint(rng, last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def sample(rng: Random, items: Sequence[T], k: int) -> list[T]:
    """``k`` different items, in random order."""
    if k > len(items):
        raise ValueError(f"cannot draw {k} different things from {len(items)}")
    return shuffled(rng, items)[:k]
