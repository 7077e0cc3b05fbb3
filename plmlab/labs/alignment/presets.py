"""Presets of the Alignment Lab."""

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
    """A preset of the Alignment Lab: a text, and the source words to mask."""

    title: str
    text: str
    masked: Sequence[str] = ()

    def traits(self) -> dict[str, Any]:
        """The trait values that clicking this preset sets; all interventions on the attention are removed."""
        words = self.text.split()
        return {"text": self.text, "moved": [], "masked": [words.index(word) for word in self.masked], "steps": None}


TURNED = AlignmentPreset("reversed word order", "the key behind the blue chair is new .")
SHORT = AlignmentPreset("a short sentence", "the cat is hungry .")
MASKED = AlignmentPreset("mask a word", "the keys near the table are lost .", ("keys",))


def default_presets(world: World, split: str) -> list[AlignmentPreset]:
    """Presets for a world: three sentences, as far as its grammar contains them, and a long passage."""
    sampled = islice(passages(world, "test", Random(SEED), LONG), 20)
    whole = max(sampled, key=lambda passage: min(len(passage.english), LONG[-1]))
    long = AlignmentPreset("a long passage", " ".join(whole.english))
    known = [preset for preset in (TURNED, SHORT, MASKED) if isfinite(world.logprob(preset.text.split(), split))]
    return [*known[:2], long, *known[2:]]
