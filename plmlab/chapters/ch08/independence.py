"""Excess loss of predicting two masked words independently: their mutual information, exactly, in the Small World."""

from itertools import islice
from math import log
from random import Random

from plmlab import world
from plmlab.draws import shuffled


def mutual_information(words: list[str], one: int, other: int) -> float:
    """The mutual information of the words at two masked positions of a sentence, given its visible words, in nats.

    It is the KL divergence from their exact joint distribution to the product of the exact marginals.
    """
    full = world.full()
    joint, marginals = full.joint(words, [one, other]), full.posterior(words, [one, other])
    return sum(p * log(p / (marginals[0][a] * marginals[1][b])) for (a, b), p in joint.items() if p > 0)


def of_random_positions(sentences: int = 300) -> list[float]:
    """The mutual information of two random words of each of some sentences of the training text; the full stop is never
    one of them."""
    draw = Random(0)
    return [mutual_information(words, *sorted(shuffled(draw, range(len(words) - 1))[:2]))
            for words in islice(world.full().text("train", seed=4), sentences)]
