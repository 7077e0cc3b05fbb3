"""The stored occurrences and the held-out queries of the Layer Lab: sentences, senses and vectors."""

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
"""Maximum number of queries per sentence pattern."""


@dataclass(frozen=True)
class Sentences:
    """Occurrences of ambiguous words: stored ones (``known``) and held-out queries (``asked``). ``world`` determines
    the senses in typed sentences; if it is None, senses are known for these sentences only."""

    known: tuple[Occurrence, ...]
    asked: tuple[Occurrence, ...]
    world: World | None = None

    @classmethod
    def of_the_world(cls) -> "Sentences":
        """Store every second sentence of each pattern of the full Small World; use some of the other sentences as
        queries."""
        known, others = other_sentences()
        by_pattern: dict[str, list[Occurrence]] = defaultdict(list)
        for row in others:
            by_pattern[row.pattern].append(row)
        return cls(tuple(known), tuple(row for rows in by_pattern.values() for row in rows[:MOST]), full())

    @cached_property
    def frequent(self) -> dict[str, str]:
        """Map each word to its most frequent sense among the stored occurrences (the first if tied)."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for row in self.known:
            counts[row.word][row.sense] += 1
        return {word: senses.most_common(1)[0][0] for word, senses in counts.items()}

    def parsed(self, words: Sequence[str]) -> tuple[list[str | None], str | None]:
        """The sense of each word of a sentence (None if the word is unambiguous or its sense unknown), and the
        sentence's pattern (None if unknown)."""
        if self.world is not None:
            try:
                sentence = self.world.parse(words)
            except NotInGrammar:
                return [None] * len(words), None
            return list(sentence.senses), sentence.pattern
        rows = [row for row in (*self.known, *self.asked) if row.words == tuple(words)]
        senses = {row.place: row.sense for row in rows}
        return [senses.get(index) for index in range(len(words))], rows[0].pattern if rows else None


@dataclass(frozen=True)
class Store:
    """Vectors of the ambiguous words of some sentences, where each layer is divided by its mean norm over the stored
    occurrences.

    ``known`` holds the vectors of the stored occurrences, ``asked`` those of the queries, and ``lengths`` the mean norm
    of each layer. The division keeps layers with large norms from dominating the mix, but preserves differences in norm
    within a layer.
    """

    sentences: Sentences
    lengths: Float[Tensor, "model"]
    known: Layers
    asked: Layers

    @classmethod
    def of(cls, reader: Reader, sentences: Sentences) -> "Store":
        """Run the model on all sentences. Raises ValueError if there are no stored occurrences or no queries."""
        if not sentences.known or not sentences.asked:
            raise ValueError(f"{len(sentences.known)} stored occurrences and {len(sentences.asked)} queries were "
                             "given; at least one of each is needed")
        known, asked = (reader.occurrences([list(row.words) for row in rows], [row.place for row in rows])
                        for rows in (sentences.known, sentences.asked))
        lengths = known.norm(dim=-1).mean(0)
        if not lengths.all() or not lengths.isfinite().all():
            raise ValueError("a layer of this ELMo is zero or not finite at every stored word, so cosines are "
                             "undefined there")
        return cls(sentences, lengths, known / lengths[:, None], asked / lengths[:, None])

    def scaled(self, vectors: Layers) -> Layers:
        """Divide other vectors of the same model by the same mean norms."""
        return vectors / self.lengths[:, None]

    def strangers(self) -> list[list[float]]:
        """Mean cosine of two stored occurrences of different words, indexed as ``[layer][direction]``."""
        words = [row.word for row in self.sentences.known]
        names = {word: i for i, word in enumerate(dict.fromkeys(words))}
        word_ids = torch.tensor([names[word] for word in words])
        differ = word_ids[:, None] != word_ids
        return [[float((unit @ unit.T)[differ].mean()) if differ.any() else 0.0
                 for unit in (F.normalize(part, dim=-1) for part in directions(layer).values())]
                for layer in self.known.unbind(1)]

    def sent(self) -> dict[str, Any]:
        """The data that is sent to JavaScript once. A row is [words, word index, sense index, pattern index]; the
        vectors of ``known`` and ``asked`` are encoded by `packed`."""
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
    """The forward half, the backward half, and both concatenated."""
    left, right = vectors.chunk(2, -1)
    return dict(zip(DIRECTIONS, (left, right, vectors), strict=True))


def packed(vectors: Layers) -> bytes:
    """Encode vectors as little-endian 32-bit floats: one half of layer 0 (both halves are equal), then the other
    layers."""
    half = vectors.shape[-1] // 2
    return torch.cat([vectors[:, 0, :half], vectors[:, 1:].flatten(1)], 1).numpy().astype("<f4").tobytes()
