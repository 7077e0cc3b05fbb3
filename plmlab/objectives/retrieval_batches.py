"""Training batches of REALM and RAG: queries (masked statements or questions) with their retrieved documents."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from plmlab.example import IGNORE, Batch, Example
from plmlab.retrieval.retrieved import Retrieved

Ids = tuple[int, ...]


class Query(NamedTuple):
    """A statement, the indices of its masked tokens, and the ids of documents that must not be retrieved for it."""

    tokens: Ids
    hidden: tuple[int, ...]
    excluded: Collection[int] = ()


@dataclass(frozen=True)
class RetrievedBatch:
    """The retriever's queries, the documents ``retrieved`` for them, and the reader's input for each pair.

    ``documents`` has one row per document of `Retrieved.documents`: the retriever's input, or a precomputed vector
    without gradient. ``reader_inputs`` has one row per pair of `Retrieved.pairs`; ``reader_batch`` is its class.
    """

    reader_batch: ClassVar[type[Any]] = Batch
    queries: Batch
    retrieved: Retrieved
    documents: Batch | Float[Tensor, "document width"]
    reader_inputs: Batch

    @classmethod
    def of(cls, queries: Sequence[Example], retrieved: Retrieved,
           documents: Sequence[Example] | Float[Tensor, "document width"], readings: Sequence[Any], *,
           pad: int) -> Self:
        """Collate; ``pad`` is the id of the padding token. Raises ValueError if a query has no document, or if there is
        not exactly one reader input per pair."""
        counts = retrieved.doc_mask.sum(1)
        if len(counts) != len(queries) or not bool(counts.all()) or int(counts.sum()) != len(readings):
            raise ValueError(f"got {int(counts.sum())} documents and {len(readings)} reader inputs for "
                             f"{len(queries)} queries; give one reader input per document, and at least one document "
                             "per query")
        return cls(Batch.of(queries, pad=pad), retrieved[:],
                   documents if isinstance(documents, Tensor) else Batch.of(documents, pad=pad),
                   cls.reader_batch.of(readings, pad=pad))

    @property
    def target_mask(self) -> Bool[Tensor, "query token"]:
        """Mask of real targets, [query token], because queries have different numbers of masked tokens."""
        # masked tokens per query, [query]: the same for all of its documents
        counts = self.retrieved.unflatten((self.reader_inputs.targets != IGNORE).sum(1), 0).amax(1)
        return torch.arange(int(counts.max()), device=counts.device) < counts[:, None]

    @property
    def targets(self) -> Int[Tensor, "row time"]:
        """Targets of the reader's inputs."""
        return self.reader_inputs.targets

    def by_token(self, values: Float[Tensor, " target"]) -> Float[Tensor, "query doc token"]:
        """Arrange one value per target of the reader's inputs by query, document and token; 0 for a missing document or
        token."""
        real = self.retrieved.doc_mask[..., None] & self.target_mask[:, None]
        return values.new_zeros(real.shape).masked_scatter(real, values)

    def scored(self, queries: Float[Tensor, "query width"], documents: Float[Tensor, "document width"]) -> Retrieved:
        """Score the retrieved documents with differentiable query and document vectors."""
        rows = torch.searchsorted(self.retrieved.documents, self.retrieved.numbers)
        return self.retrieved.scored(queries, documents[rows])

    def to(self, device: torch.device | str) -> Self:
        """Copy to a device."""
        return replace(self, queries=self.queries.to(device), retrieved=self.retrieved.to(device),
                       documents=self.documents.to(device), reader_inputs=self.reader_inputs.to(device))
