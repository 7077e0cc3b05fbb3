"""The inverse cloze task (逆完形填空; Lee et al. 2019, §4): from which block is a sentence? It needs no labels, and
warms up REALM's retriever."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from random import Random
from typing import NamedTuple, Self

import torch
from jaxtyping import Int
from torch import Tensor

from plmlab.draws import randint
from plmlab.example import Batch, Example
from plmlab.objectives.layouts import cls_first
from plmlab.objectives.reader_inputs import Ids, pair_input
from plmlab.text.vocabulary import Vocabulary

REMOVED = 0.9
"""So often the sentence is taken out of its block. Once in ten it stays, and to know its words again is enough."""


class InverseCloze(NamedTuple):
    """[CLS] sentence [SEP], and [CLS] title [SEP] block [SEP]."""

    query: Example
    block: Example


def inverse_cloze(title: Ids, sentences: Sequence[Ids], *, vocab: Vocabulary, rng: Random, removed: float = REMOVED,
                  ) -> InverseCloze:
    """One of a block's sentences, drawn, and the block, mostly without it. Out of a block of one sentence it is never
    taken (the authors leave the example out where it would be). ValueError for a block without any."""
    if not sentences:
        raise ValueError("a block without a sentence was given; a query is one of its sentences")
    drawn = randint(rng, len(sentences))
    out = rng.random() < removed and len(sentences) > 1
    rest = [one for place, one in enumerate(sentences) if not (out and place == drawn)]
    return InverseCloze(cls_first(sentences[drawn], None, vocab), pair_input(title, [*chain(*rest)], vocab))


@dataclass(frozen=True)
class MatchingBatch:
    """Texts of two sides; the i-th of the one belongs to the i-th of the other, and to no other."""

    queries: Batch
    documents: Batch

    @classmethod
    def of(cls, pairs: Sequence[tuple[Example, Example]], *, pad: int) -> Self:
        """Collate; ``pad`` is the id that fills the shorter texts up."""
        return cls(Batch.of([query for query, _ in pairs], pad=pad), Batch.of([other for _, other in pairs], pad=pad))

    @property
    def targets(self) -> Int[Tensor, "batch time"]:
        """No position predicts a token."""
        return self.queries.targets

    def to(self, device: torch.device | str) -> Self:
        """The same on another device."""
        return replace(self, queries=self.queries.to(device), documents=self.documents.to(device))
