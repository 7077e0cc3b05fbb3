"""The occurrences that the Layer Lab stores, and those that it asks about: sentences, senses and vectors."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from plmlab.labs.layer.reading import Layers, Reader
from plmlab.world import World, full
from plmlab.world.datasets.occurrences import Occurrence, other_sentences
from plmlab.world.probability.posterior import NotInGrammar

MOST = 4
"""So many sentences of one pattern are asked about."""


@dataclass(frozen=True)
class Sentences:
    """Ambiguous words in sentences: those stored, and those that are ``asked`` about, which are held out. ``world``
    tells the senses of a typed sentence; None where only these are known."""

    known: tuple[Occurrence, ...]
    asked: tuple[Occurrence, ...]
    world: World | None = None

    @classmethod
    def of_the_world(cls) -> "Sentences":
        """Every second sentence of each pattern of the full Small World, and a few of the others."""
        known, others = other_sentences()
        by_pattern: dict[str, list[Occurrence]] = defaultdict(list)
        for row in others:
            by_pattern[row.pattern].append(row)
        return cls(tuple(known), tuple(row for rows in by_pattern.values() for row in rows[:MOST]), full())

    @cached_property
    def frequent(self) -> dict[str, str]:
        """Word → the sense that it has most often where it is stored; of equals, the first."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for row in self.known:
            counts[row.word][row.sense] += 1
        return {word: senses.most_common(1)[0][0] for word, senses in counts.items()}

    def parsed(self, words: Sequence[str]) -> tuple[list[str | None], str | None]:
        """The sense of each word of a sentence, None where it has only one, or where nothing is known of it; and the
        pattern of the sentence, None where that is not known."""
        if self.world is not None:
            try:
                sentence = self.world.parse(words)
            except NotInGrammar:
                return [None] * len(words), None
            return list(sentence.senses), sentence.pattern
        rows = [row for row in (*self.known, *self.asked) if row.words == tuple(words)]
        told = {row.place: row.sense for row in rows}
        return [told.get(place) for place in range(len(words))], rows[0].pattern if rows else None


@dataclass(frozen=True)
class Store:
    """Sentences with the vectors of their ambiguous words, each layer divided by its mean length over those stored.

    ``lengths`` are these means. ``known`` and ``asked`` are the vectors after the division: no layer has more to say
    in a mix for being longer, and what is longer within a layer stays so.
    """

    sentences: Sentences
    lengths: Float[Tensor, "model"]
    known: Layers
    asked: Layers

    @classmethod
    def of(cls, reader: Reader, sentences: Sentences) -> "Store":
        """All of them read. ValueError where nothing is stored, or nothing asked."""
        if not sentences.known or not sentences.asked:
            raise ValueError(f"{len(sentences.known)} stored and {len(sentences.asked)} asked occurrences were given; "
                             "at least one of each is needed")
        known, asked = (reader.occurrences([list(row.words) for row in rows], [row.place for row in rows])
                        for rows in (sentences.known, sentences.asked))
        lengths = known.norm(dim=-1).mean(0)
        if not lengths.all() or not lengths.isfinite().all():
            raise ValueError("a layer of this ELMo is zero, or not finite, at every stored word: nothing lies near "
                             "anything there")
        return cls(sentences, lengths, known / lengths[:, None], asked / lengths[:, None])

    def scaled(self, vectors: Layers) -> Layers:
        """Other vectors of the same model, divided by the same lengths."""
        return vectors / self.lengths[:, None]

    def strangers(self) -> list[list[float]]:
        """How near two stored occurrences of different words are, in the mean: a cosine for each layer and each of
        `DIRECTIONS`."""
        words = [row.word for row in self.sentences.known]
        names = {word: i for i, word in enumerate(dict.fromkeys(words))}
        kind = torch.tensor([names[word] for word in words])
        differ = kind[:, None] != kind
        return [[float((unit @ unit.T)[differ].mean()) if differ.any() else 0.0
                 for unit in (F.normalize(part, dim=-1) for part in directions(layer).values())]
                for layer in self.known.unbind(1)]

    def sent(self) -> dict[str, Any]:
        """What JavaScript is told of it, once. A row is [words, place, index of its sense, index of its pattern];
        ``known`` and ``asked`` are vectors as `packed` gives them."""
        senses, patterns = ({name: i for i, name in enumerate(dict.fromkeys(
            getattr(row, field) for row in (*self.sentences.known, *self.sentences.asked)))}
            for field in ("sense", "pattern"))
        rows = [[[" ".join(row.words), row.place, senses[row.sense], patterns[row.pattern]] for row in part]
                for part in (self.sentences.known, self.sentences.asked)]
        return {"half": self.known.shape[-1] // 2, "senses": list(senses), "patterns": list(patterns),
                "frequent": self.sentences.frequent, "strangers": self.strangers(),
                "known": {"rows": rows[0], "vectors": packed(self.known)},
                "asked": {"rows": rows[1], "vectors": packed(self.asked)}}


DIRECTIONS = ("left", "right", "both")


def directions(vectors: Float[Tensor, "*rows both"]) -> dict[str, Float[Tensor, "*rows _"]]:
    """What was read from the left, what from the right, and both side by side."""
    left, right = vectors.chunk(2, -1)
    return dict(zip(DIRECTIONS, (left, right, vectors), strict=True))


def packed(vectors: Layers) -> bytes:
    """Vectors as 32-bit floats, little-endian: of layer 0, which is the same twice, one half, then the others."""
    half = vectors.shape[-1] // 2
    return torch.cat([vectors[:, 0, :half], vectors[:, 1:].flatten(1)], 1).numpy().astype("<f4").tobytes()
