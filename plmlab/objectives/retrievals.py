"""Statements with what was retrieved for each, side by side: what REALM is trained on."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from plmlab.example import IGNORE, Batch, Example

Ids = tuple[int, ...]
NULL = -1
"""The number of the null document, in which nothing stands."""


class Query(NamedTuple):
    """A statement, the places of its hidden tokens, and the numbers of documents that may not be looked up for it."""

    tokens: Ids
    hidden: tuple[int, ...]
    excluded: Collection[int] = ()


@dataclass(frozen=True)
class RetrievedExample:
    """A statement and what was retrieved for it: what the retriever reads of it, the ``numbers`` of the documents, and
    what the reader reads with each of them."""

    query: Example
    numbers: tuple[int, ...]
    readings: tuple[Example, ...]

    def __post_init__(self) -> None:
        if len(self.numbers) != len(self.readings) or not self.numbers:
            raise ValueError(f"{len(self.numbers)} documents came with {len(self.readings)} readings; give a reading "
                             "for each document, and one document at least")


@dataclass(frozen=True)
class RetrievedBatch:
    """Statements, the documents that were retrieved for any of them, each once, and what is read of each pair.

    ``choice`` has the rows of ``documents`` that a statement was given, and −1 where it has fewer than another one. The
    ``readings`` are those of the first statement, then those of the second, and so on.
    """

    queries: Batch
    documents: Batch
    choice: Int[Tensor, "query doc"]
    readings: Batch

    @classmethod
    def of(cls, examples: Sequence[RetrievedExample], documents: Mapping[int, Example], *, pad: int) -> Self:
        """Collate; ``documents`` is the number of a document → what the retriever reads of it."""
        row = {number: place for place, number in enumerate(sorted({n for one in examples for n in one.numbers}))}
        choice = torch.full((len(examples), max(len(one.numbers) for one in examples)), -1)
        for some, one in zip(choice, examples, strict=True):
            some[:len(one.numbers)] = torch.tensor([row[number] for number in one.numbers])
        return cls(Batch.of([one.query for one in examples], pad=pad),
                   Batch.of([documents[number] for number in row], pad=pad), choice,
                   Batch.of([reading for one in examples for reading in one.readings], pad=pad))

    @property
    def there(self) -> Bool[Tensor, "query doc"]:
        """Which documents there are."""
        return self.choice >= 0

    @property
    def asked(self) -> Bool[Tensor, "query token"]:
        """As many true ones in a row as tokens of the statement are hidden."""
        each = (self.targets != IGNORE).sum(1)
        hidden = each[self.there.sum(1).cumsum(0) - 1]
        return torch.arange(int(hidden.max()), device=hidden.device) < hidden[:, None]

    @property
    def targets(self) -> Int[Tensor, "reading time"]:
        """What each slot of the readings must say."""
        return self.readings.targets

    def to(self, device: torch.device | str) -> Self:
        """The same on another device."""
        return replace(self, queries=self.queries.to(device), documents=self.documents.to(device),
                       choice=self.choice.to(device), readings=self.readings.to(device))
