"""Sentences and blanks to try in the Blank Lab."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from plmlab.world import World
from plmlab.world.grammar.sentence import Sentence

LOOKED_AT = 300
LONGEST = 9
"""Words of a sentence, at most."""


@dataclass(frozen=True)
class BlankPreset:
    """Something to try in the Blank Lab: a sentence, its spans as in slices, and the order in which they are filled."""

    title: str
    text: str
    spans: Sequence[Sequence[int]]
    order: Sequence[int]

    def traits(self) -> dict[str, Any]:
        """The lab's traits that a click on this preset sets, and the title of its button."""
        return asdict(self) | {"chosen": [], "step": 0}


def some_spans(count: int) -> list[list[int]]:
    """A span of one word and one of two, in a text of so many words; fewer where they do not fit."""
    if count < 3:
        return [[count - 1, count]]
    return [[1, 2], [4, 6]] if count > 6 else [[count - 2, count]]


def things_to_try(world: World, split: str) -> list[BlankPreset]:
    """A subject, and its verb with the word before it, the one or the other filled first; the same two as blanks that
    touch; a sentence of which only the ends are left; and one that is hidden whole. Where the world has such a
    sentence: of `LONGEST` words at most, with a noun of the other number between the subject and the verb."""
    found = (one for one in islice(world.sentences(split, seed=3), LOOKED_AT) if apart(one))
    sentence = next(found, None)
    if sentence is None:
        return []
    text, count = " ".join(sentence.words), len(sentence.words)
    subject, verb = sentence.agreement[0].subject, sentence.agreement[0].verb
    two = [[subject, subject + 1], [verb - 1, verb + 1]]
    return [
        BlankPreset("the verb first", text, two, [1, 0]),
        BlankPreset("its subject first", text, two, [0, 1]),
        BlankPreset("blanks that touch", text, [[subject - 1, subject + 1], [subject + 1, verb + 1]], [1, 0]),
        BlankPreset("only the ends are left", text, [[1, count - 1]], [0]),
        BlankPreset("all of it", text, [[0, count]], [0]),
    ]


def apart(sentence: Sentence) -> bool:
    """Whether a noun of the other number, with a word before it, stands between the subject and the verb."""
    return len(sentence.words) <= LONGEST and any(
        link.attractors and link.subject > 0 and link.verb > link.subject + 2 for link in sentence.agreement[:1])
