"""Presets of the Blank Lab."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from plmlab.world import World
from plmlab.world.grammar.sentence import Sentence

LOOKED_AT = 300
LONGEST = 9
"""The maximum number of words of a sentence."""


@dataclass(frozen=True)
class BlankPreset:
    """A preset of the Blank Lab: a sentence, its spans as half-open ranges, and the order in which they are filled."""

    title: str
    text: str
    spans: Sequence[Sequence[int]]
    order: Sequence[int]

    def traits(self) -> dict[str, Any]:
        """The trait values that clicking this preset sets, and the title of its button."""
        return asdict(self) | {"chosen": [], "step": 0}


def some_spans(count: int) -> list[list[int]]:
    """Default spans for a text of ``count`` words: one span of one word and one of two words, if they fit."""
    if count < 3:
        return [[count - 1, count]]
    return [[1, 2], [4, 6]] if count > 6 else [[count - 2, count]]


def default_presets(world: World, split: str) -> list[BlankPreset]:
    """Presets for one sentence: blanks for the subject, and for the verb with the word before it, filled in either
    order; the same words as adjacent blanks; all but the first and last word blanked; and the whole sentence blanked.
    The sentence has at most `LONGEST` words and an attractor between subject and verb; [] if the world has no such
    sentence."""
    candidates = (one for one in islice(world.sentences(split, seed=3), LOOKED_AT) if separate(one))
    sentence = next(candidates, None)
    if sentence is None:
        return []
    text, count = " ".join(sentence.words), len(sentence.words)
    subject, verb = sentence.agreement[0].subject, sentence.agreement[0].verb
    two = [[subject, subject + 1], [verb - 1, verb + 1]]
    return [
        BlankPreset("verb first", text, two, [1, 0]),
        BlankPreset("subject first", text, two, [0, 1]),
        BlankPreset("adjacent blanks", text, [[subject - 1, subject + 1], [subject + 1, verb + 1]], [1, 0]),
        BlankPreset("only the ends visible", text, [[1, count - 1]], [0]),
        BlankPreset("everything blank", text, [[0, count]], [0]),
    ]


def separate(sentence: Sentence) -> bool:
    """Return whether there is an attractor, preceded by a word, between the subject and the verb."""
    return len(sentence.words) <= LONGEST and any(
        link.attractors and link.subject > 0 and link.verb > link.subject + 2 for link in sentence.agreement[:1])
