"""Statements or questions with what was retrieved for each, side by side: what REALM is trained on."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from plmlab.example import IGNORE, Batch, Example
from plmlab.retrieval.retrieved import Retrieved

Ids = tuple[int, ...]


class Query(NamedTuple):
    """A statement, the places of its hidden tokens, and the numbers of documents that may not be looked up for it."""

    tokens: Ids
    hidden: tuple[int, ...]
    excluded: Collection[int] = ()


@dataclass(frozen=True)
class RetrievedBatch:
    """What the retriever reads of statements, what was ``retrieved`` for them, and what is read of each pair.

    ``documents`` has a row for each of `Retrieved.documents`: what the retriever reads of it, or a vector that was made
    before and does not learn. The ``reader_inputs`` have a row for each of `Retrieved.pairs`.
    """

    queries: Batch
    retrieved: Retrieved
    documents: Batch | Float[Tensor, "document width"]
    reader_inputs: Batch

    @classmethod
    def of(cls, queries: Sequence[Example], retrieved: Retrieved,
           documents: Sequence[Example] | Float[Tensor, "document width"], readings: Sequence[Example], *,
           pad: int) -> Self:
        """Collate; ``pad`` is the id that fills the shorter texts up. ValueError where a query has no document, or
        where there is not one reading for each pair."""
        counts = retrieved.doc_mask.sum(1)
        if len(counts) != len(queries) or not bool(counts.all()) or int(counts.sum()) != len(readings):
            raise ValueError(f"{int(counts.sum())} documents came with {len(readings)} readings for {len(queries)} "
                             "queries; give a reading for each document, and one document at least for each query")
        return cls(Batch.of(queries, pad=pad), retrieved[:],
                   documents if isinstance(documents, Tensor) else Batch.of(documents, pad=pad),
                   Batch.of(readings, pad=pad))

    @property
    def target_mask(self) -> Bool[Tensor, "query token"]:
        """As many true ones in a row as tokens of the statement are hidden."""
        hidden = self.retrieved.unflatten((self.reader_inputs.targets != IGNORE).sum(1), 0).amax(1)
        return torch.arange(int(hidden.max()), device=hidden.device) < hidden[:, None]

    @property
    def targets(self) -> Int[Tensor, "row time"]:
        """What each position of the readings must say."""
        return self.reader_inputs.targets

    def scored(self, queries: Float[Tensor, "query width"], documents: Float[Tensor, "document width"]) -> Retrieved:
        """What was retrieved, scored by the vectors of the queries and of the documents, through which both learn."""
        rows = torch.searchsorted(self.retrieved.documents, self.retrieved.numbers)
        return self.retrieved.scored(queries, documents[rows])

    def to(self, device: torch.device | str) -> Self:
        """The same on another device."""
        return replace(self, queries=self.queries.to(device), retrieved=self.retrieved.to(device),
                       documents=self.documents.to(device), reader_inputs=self.reader_inputs.to(device))
