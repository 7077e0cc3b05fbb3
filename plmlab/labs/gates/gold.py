"""Gold labels of a text, derived from the world's grammar, and the presets of the Gate Lab."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from plmlab.world import World
from plmlab.world.datasets.tracks import Tracks, tracks_of
from plmlab.world.grammar.sentence import Sentence
from plmlab.world.probability.automaton import END

TRIED = 600
"""Number of sampled sentences among which the presets are searched."""
NEAR, FAR = range(2, 6), range(6, 99)
"""Distances between a subject and its verb that count as near and as far."""


@dataclass(frozen=True)
class GatePreset:
    """A preset of the Gate Lab: a text, and the label by which units are sorted."""

    title: str
    text: str
    sort: str = "number"

    def traits(self) -> dict[str, Any]:
        """The trait values that clicking this preset sets; all clamps are removed."""
        return {"text": self.text, "sort": self.sort, "unit": [], "holds": []}


@dataclass(frozen=True)
class Gold:
    """Gold labels of a text. A text that is only a prefix of a sentence gets the labels of its most probable
    completion, and ``finished`` is False."""

    tracks: Tracks
    finished: bool


def gold(world: World, words: Sequence[str], split: str) -> Gold | None:
    """Gold labels of a text, or None if it is not a prefix of any sentence of the split."""
    expected = world.next_words(words, split)
    if not words or not expected:
        return None
    finished = END in expected
    sentence = tuple(words)
    while END not in expected:
        sentence = (*sentence, next(iter(expected)))
        expected = world.next_words(sentence, split)
    return Gold(tracks_of(world, world.parse(sentence, split)), finished)


def default_presets(world: World, split: str) -> list[GatePreset]:
    """Presets from the world, as far as it has suitable sentences. The first two texts end before a plural verb and
    after singular nouns, because a model that has lost the subject's number then prefers the singular."""
    def certain(text: str) -> float:
        return max(world.next_words(text.split(), split).values())

    sampled = list(islice(world.sentences(split, seed=3), TRIED))
    texts = {
        ("far apart", "number"): max(_far(sampled, FAR), key=len, default=None),
        ("a noun between", "number"): max(_far(sampled, NEAR), key=certain, default=None),
        ("two subjects", "number"): next(_nested(sampled), None),
        ("a long name", "inside"): next(
            (item.text for item in sampled if any(end - start > 2 for start, end, _ in item.mentions)), None),
        ("to the end", "left"): next(
            (item.text for item in sampled if len(item.words) > 9 and not item.mentions), None),
    }
    return [GatePreset(title, text, sort) for (title, sort), text in texts.items() if text is not None]


def _far(sentences: Sequence[Sentence], distances: range) -> Iterator[str]:
    """Prefixes that end before a plural verb whose subject is at one of these ``distances``, with singular nouns in
    between."""
    for sentence in sentences:
        for link in sentence.agreement:
            if (link.attractors and link.subject < link.verb and link.distance in distances
                and link.number == "pl"):
                yield " ".join(sentence.words[:link.verb])


def _nested(sentences: Sequence[Sentence]) -> Iterator[str]:
    """Prefixes that end before a verb, with another subject–verb pair of the opposite number nested between its subject
    and itself."""
    for sentence in sentences:
        for link in sentence.agreement:
            if any(link.subject < inner.subject < inner.verb < link.verb and inner.number != link.number
                   for inner in sentence.agreement):
                yield " ".join(sentence.words[:link.verb])
