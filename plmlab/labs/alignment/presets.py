"""Texts to try in the Alignment Lab."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from random import Random
from typing import Any

from plmlab.world import World
from plmlab.world.datasets.passages import passages

SEED = 5
LONG = range(46, 53)


@dataclass(frozen=True)
class AlignmentPreset:
    """Something to try in the Alignment Lab: a text, and the words that no step may look at."""

    title: str
    text: str
    shut: Sequence[str] = ()

    def traits(self) -> dict[str, Any]:
        """The lab's traits that a click on this preset sets, with their values: no step is held any more."""
        words = self.text.split()
        return {"text": self.text, "held": [], "shut": [words.index(word) for word in self.shut], "steps": None}


TURNED = AlignmentPreset("the order turns", "the key behind the blue chair is new .")
SHORT = AlignmentPreset("a short sentence", "the cat is hungry .")
SHUT = AlignmentPreset("shut a word", "the keys near the table are lost .", ("keys",))


def offered(world: World, split: str) -> list[AlignmentPreset]:
    """What there is to try in a world: the sentences that it has, and a long passage of its own."""
    told = islice(passages(world, "test", Random(SEED), LONG), 20)
    whole = max(told, key=lambda one: min(len(one.english), LONG[-1]))
    long = AlignmentPreset("a long passage", " ".join(whole.english))
    found = [one for one in (TURNED, SHORT, SHUT) if isfinite(world.logprob(one.text.split(), split))]
    return [*found[:2], long, *found[2:]]
