"""Random draws that are reproducible on every platform and Python version, because they use only ``rng.random()``."""

from collections.abc import Iterable, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def randint(rng: Random, n: int) -> int:
    """A uniform random integer from 0 to n − 1."""
    return int(rng.random() * n)


def choice(rng: Random, items: Sequence[T]) -> T:
    """A uniformly random item. Raises ValueError for an empty sequence."""
    if not items:
        raise ValueError("cannot draw an item: the list is empty")
    return items[randint(rng, len(items))]


def shuffled(rng: Random, items: Iterable[T]) -> list[T]:
    """The items in random order (Fisher–Yates shuffle)."""
    order = list(items)
    for last in range(len(order) - 1, 0, -1):
        other = randint(rng, last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def sample(rng: Random, items: Sequence[T], k: int) -> list[T]:
    """Draw ``k`` items without replacement, in random order. Raises ValueError if there are fewer than ``k`` items."""
    if k > len(items):
        raise ValueError(f"cannot draw {k} items without replacement from {len(items)}")
    return shuffled(rng, items)[:k]
