"""Documents retrieved for queries: the result of a search, which is used to train a retriever and as input to a
reader."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Self

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

MISSING = -1
"""The number of a missing document, where a query has fewer documents than columns."""
NULL = -1
"""The number of the null document, which is empty; its score is finite, unlike the −∞ of a missing document."""


@dataclass(frozen=True)
class Retrieved:
    """Search results, one row per query, best document first: the ``numbers`` of the documents and their ``scores``
    f(x, z).

    Queries may have different numbers of documents: a missing document has the number −1 and the score −∞.
    """

    numbers: Int[Tensor, "query doc"]
    scores: Float[Tensor, "query doc"]

    @classmethod
    def of(cls, numbers: Sequence[Sequence[int]]) -> Self:
        """Build the result from the document numbers of each query; all scores are 0, so all documents are equally
        likely."""
        sizes = torch.tensor([*map(len, numbers)], dtype=torch.long)
        there = torch.arange(max(map(len, numbers), default=0)) < sizes[:, None]
        flat = torch.tensor([*chain(*numbers)], dtype=torch.long)
        return cls(torch.full(there.shape, MISSING).masked_scatter(there, flat),
                   torch.zeros(there.shape).masked_fill(~there, -torch.inf))

    def __len__(self) -> int:
        """The number of queries."""
        return len(self.numbers)

    def __getitem__(self, queries: slice) -> Self:
        """Select a subset of the queries, dropping columns in which all their documents are missing."""
        columns = self.doc_mask[queries].any(0)
        return replace(self, numbers=self.numbers[queries][:, columns], scores=self.scores[queries][:, columns])

    @property
    def doc_mask(self) -> Bool[Tensor, "query doc"]:
        """Mask of the retrieved documents: False for a missing document."""
        return ~self.scores.isneginf()

    @property
    def pairs(self) -> Int[Tensor, "pair 2"]:
        """(query, document number) for all documents that are not missing, query by query."""
        return torch.stack([self.doc_mask.nonzero()[:, 0], self.numbers[self.doc_mask]], 1)

    @property
    def documents(self) -> Int[Tensor, "doc"]:
        """Sorted indices of all documents retrieved for at least one query, without duplicates."""
        return self.numbers[self.doc_mask].unique()

    def unflatten(self, pairs: Shaped[Tensor, " pair *rest"], fill: int | float) -> Shaped[Tensor, "query doc *rest"]:
        """Arrange one value per pair by query and document, with ``fill`` for missing documents."""
        table = pairs.new_full((*self.numbers.shape, *pairs.shape[1:]), fill)
        return table.masked_scatter(self.doc_mask.view(*self.numbers.shape, *[1] * (pairs.ndim - 1)), pairs)

    def lists(self) -> list[tuple[int, ...]]:
        """The numbers of each query's documents as Python integers."""
        return [tuple(row[there].tolist()) for row, there in zip(self.numbers, self.doc_mask, strict=True)]

    def logprobs(self, temperature: float = 1.0) -> Float[Tensor, "query doc"]:
        """log p(z|x), the log-softmax of the scores divided by the temperature; −∞ for a missing document."""
        return self._divided(temperature).log_softmax(1).masked_fill(~self.doc_mask, -torch.inf)

    def probs(self, temperature: float = 1.0) -> Float[Tensor, "query doc"]:
        """p(z|x), the softmax of the scores divided by the temperature; 0 for a missing document."""
        return self._divided(temperature).softmax(1).masked_fill(~self.doc_mask, 0)

    def scored(self, queries: Float[Tensor, "query width"], documents: Float[Tensor, "query doc width"]) -> Self:
        """The same documents, scored by the inner products of these vectors, through which gradients reach the
        retriever. The vector of a missing document is ignored."""
        scores = torch.einsum("qw,qdw->qd", queries, documents)
        return replace(self, scores=scores.masked_fill(~self.doc_mask, -torch.inf))

    def with_null(self) -> Self:
        """Prepend the null document, with score 0 until a model scores it."""
        first = self.numbers.new_full((len(self), 1), NULL), self.scores.new_zeros(len(self), 1)
        return replace(self, numbers=torch.cat([first[0], self.numbers], 1),
                       scores=torch.cat([first[1], self.scores], 1))

    def without(self, excluded: Sequence[Collection[int]], top_k: int) -> Self:
        """The ``top_k`` best documents for each query, except those ``excluded`` for it."""
        if len(excluded) != len(self):
            raise ValueError(f"excluded was given for {len(excluded)} queries, but there are {len(self)}; give one "
                             "collection of numbers per query")
        out = torch.tensor([[number in some for number in row]
                            for row, some in zip(self.numbers.tolist(), excluded, strict=True)], dtype=torch.bool)
        kept = self.doc_mask & ~out.view_as(self.numbers)
        order = kept.int().argsort(dim=1, descending=True, stable=True)[:, :top_k]
        return replace(self, numbers=self.numbers.masked_fill(~kept, MISSING).gather(1, order),
                       scores=self.scores.masked_fill(~kept, -torch.inf).gather(1, order))

    def to(self, device: torch.device | str) -> Self:
        """Move the tensors to another device."""
        return replace(self, numbers=self.numbers.to(device), scores=self.scores.to(device))

    def _divided(self, temperature: float) -> Float[Tensor, "query doc"]:
        if temperature <= 0:
            raise ValueError(f"temperature={temperature:g} was given; the scores are divided by it, so give a number "
                             "above 0")
        return self.scores / temperature
