"""What two readers know of a word who have seen a side of it each, pooled afterwards; and who sees both at once.

All are the best possible (`World.next_words`, `previous_words`, `World.posterior`), so that what pooling costs is no
fault of a model.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import islice
from math import exp, log
from typing import NamedTuple

from plmlab.world.probability.backwards import previous_words
from plmlab.world.world import World

COUNTED = 5000
"""Sentences in which words are counted, for how usual they are."""


class Beliefs(NamedTuple):
    """A ``word``, and what is believed of it, word → probability: from the ``left``, from the ``right``, from ``both``
    at once; and without any context (``usual``)."""

    word: str
    left: dict[str, float]
    right: dict[str, float]
    both: dict[str, float]
    usual: dict[str, float]


@cache
def frequencies(world: World) -> dict[str, float]:
    """Word → its share of the words of training text, half a count added to each."""
    counts = Counter(word for words in islice(world.text("train", seed=43), COUNTED) for word in words)
    whole = counts.total() + len(world.vocabulary) / 2
    return {word: (counts[word] + 0.5) / whole for word in world.vocabulary}


def believed(world: World, words: Sequence[str]) -> list[Beliefs]:
    """What the best readers believe of each word of a sentence of training text."""
    automaton = world.automaton("train")
    return [Beliefs(word, world.next_words(words[:position]), previous_words(automaton, words[position + 1:]),
                    world.posterior(words, {position})[0], frequencies(world)) for position, word in enumerate(words)]


def pooled(beliefs: Beliefs, left: float, right: float, usual: float) -> float:
    """The nats that a word costs where the two one-sided beliefs are multiplied, to these powers, and divided by how
    usual each word is, to the third."""
    def score(word: str) -> float:
        return exp(left * log(beliefs.left[word]) + right * log(beliefs.right[word]) - usual * log(beliefs.usual[word]))

    return log(sum(score(word) for word in beliefs.left if word in beliefs.right)) - log(score(beliefs.word))
