"""Chance, from the one stream that Python guarantees across versions: ``Random.random()``."""

from random import Random


def below(rng: Random, n: int) -> int:
    """A whole number from 0 to n − 1, each as likely."""
    return int(rng.random() * n)


def shuffled(rng: Random, n: int) -> list[int]:
    """The numbers 0 … n − 1 in a random order (Fisher–Yates)."""
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        j = below(rng, i + 1)
        order[i], order[j] = order[j], order[i]
    return order
