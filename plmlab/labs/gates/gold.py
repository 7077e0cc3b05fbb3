"""What the world knows of a text that is being read, and texts of the world to try."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from plmlab.world import World
from plmlab.world.datasets.tracks import Tracks, tracks_of
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.probability.automaton import END

TRIED = 600
"""Among so many sentences of the world, those to try are looked for."""
NEAR, FAR = range(2, 6), range(6, 99)
"""A verb stands near its subject, or far from it, with so many words between."""


@dataclass(frozen=True)
class GatePreset:
    """Something to try in the Gate Lab: a text, and what the units are sorted by."""

    title: str
    text: str
    sort: str = "number"

    def traits(self) -> dict[str, Any]:
        """The lab's traits that a click on this preset sets, with their values: nothing is held any more."""
        return {"text": self.text, "sort": self.sort, "unit": [], "holds": []}


@dataclass(frozen=True)
class Gold:
    """The labels of a text of the world. A text that only begins a sentence has those of the sentence that it is
    likeliest to become, and ``finished`` is False."""

    tracks: Tracks
    finished: bool


def gold(world: World, words: Sequence[str], split: str) -> Gold | None:
    """The labels of a text; None where no sentence of the split begins so."""
    expected = world.next_words(words, split)
    if not words or not expected:
        return None
    finished = END in expected
    said = tuple(words)
    while END not in expected:
        said = (*said, next(iter(expected)))
        expected = world.next_words(said, split)
    return Gold(tracks_of(world, world.parse(said, split)), finished)


def texts_to_try(world: World, split: str) -> list[GatePreset]:
    """Texts of the world to try, as far as it has them; the first two end where a plural verb can come, behind singular
    nouns: where nothing is known of the number, singular is the likelier."""
    def certain(text: str) -> float:
        return max(world.next_words(text.split(), split).values())

    said = list(islice(world.sentences(split, seed=3), TRIED))
    found = {
        ("far apart", "number"): max(_far(said, FAR), key=len, default=None),
        ("a noun between", "number"): max(_far(said, NEAR), key=certain, default=None),
        ("two subjects", "number"): next(_nested(said), None),
        ("a long name", "inside"): next(
            (one.text for one in said if any(end - start > 2 for start, end, _ in one.mentions)), None),
        ("to the end", "left"): next((one.text for one in said if len(one.words) > 9 and not one.mentions), None),
    }
    return [GatePreset(title, text, sort) for (title, sort), text in found.items() if text is not None]


def _far(said: Sequence[Sentence], distances: range) -> Iterator[str]:
    """Up to a plural verb, so many words behind its subject, with singular nouns between."""
    for sentence in said:
        for link in sentence.agreement:
            if (link.attractors and link.subject < link.verb and link.distance in distances
                    and link.number == "pl"):
                yield " ".join(sentence.words[:link.verb])


def _nested(said: Sequence[Sentence]) -> Iterator[str]:
    """Up to a verb whose subject stands before another subject and its verb, of the other number."""
    for sentence in said:
        for link in sentence.agreement:
            if any(link.subject < inner.subject < inner.verb < link.verb and inner.number != link.number
                   for inner in sentence.agreement):
                yield " ".join(sentence.words[:link.verb])
