"""The inverse cloze task (逆完形填空; Lee et al. 2019, §4): given a sentence, find the block from which it was taken.
The task needs no labels and pretrains REALM's retriever (warm start)."""

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
"""Probability of removing the sentence from its block. In the other 10 %, word overlap is enough to find the block."""


class InverseCloze(NamedTuple):
    """An example of the inverse cloze task: [CLS] sentence [SEP] and [CLS] title [SEP] block [SEP]."""

    query: Example
    block: Example


def inverse_cloze(title: Ids, sentences: Sequence[Ids], *, vocab: Vocabulary, rng: Random, removed: float = REMOVED,
                  ) -> InverseCloze:
    """Sample one sentence of a block as the query and remove it from the block with probability ``removed``. The only
    sentence of a block is never removed (the authors drop such an example). Raises ValueError if the block is empty."""
    if not sentences:
        raise ValueError("the block has no sentences; the query is sampled from them, so give at least one")
    chosen = randint(rng, len(sentences))
    remove = rng.random() < removed and len(sentences) > 1
    rest = [sentence for i, sentence in enumerate(sentences) if not (remove and i == chosen)]
    return InverseCloze(cls_first(sentences[chosen], None, vocab), pair_input(title, [*chain(*rest)], vocab))


@dataclass(frozen=True)
class MatchingBatch:
    """A batch of matching queries and documents: query i matches document i; the other documents are in-batch
    negatives. There may be more documents than queries: the others are hard negatives, for all queries."""

    queries: Batch
    documents: Batch

    @classmethod
    def of(cls, pairs: Sequence[tuple[Example, Example]], negatives: Sequence[Example] = (), *, pad: int) -> Self:
        """Collate; ``negatives`` are hard negatives, ``pad`` is the id of the padding token."""
        return cls(Batch.of([query for query, _ in pairs], pad=pad),
                   Batch.of([*(document for _, document in pairs), *negatives], pad=pad))

    @property
    def targets(self) -> Int[Tensor, "batch time"]:
        """All IGNORE: no token is predicted."""
        return self.queries.targets

    def to(self, device: torch.device | str) -> Self:
        """Copy to a device."""
        return replace(self, queries=self.queries.to(device), documents=self.documents.to(device))
