"""Questions whose answer stands somewhere in what was retrieved, nobody says in which document (Lee et al. 2019, §3;
Guu et al. 2020, §3.2): what REALM is fine-tuned on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from plmlab.example import Batch, Example
from plmlab.objectives.retrieved import Ids, two_texts
from plmlab.text.vocabulary import Vocabulary


def pointed_at(question: Ids, document: Ids, answers: Sequence[Ids], *, vocab: Vocabulary) -> Example:
    """[CLS] question [SEP] document [SEP], nothing hidden; label ``spans``, [span 2], the first and the last slot of
    every place where one of the answers stands in the document.

    Any of the ``answers`` is right. They may overlap, and stand nowhere. ValueError for a document or an answer without
    a token: there is nothing to point at in the null document.
    """
    if not document:
        raise ValueError("a document without a token was given, in which no answer can stand; leave it away, the null "
                         "document too")
    if not all(answers):
        raise ValueError("an answer without a token was given; leave it away")
    before, text = len(question) + 2, [*document]
    spans = sorted({(before + start, before + start + len(answer) - 1) for answer in answers
                    for start in range(len(text) - len(answer) + 1) if text[start:start + len(answer)] == [*answer]})
    found = torch.tensor(spans, dtype=torch.long).view(-1, 2)
    return replace(two_texts(question, document, vocab), labels={"spans": found})


@dataclass(frozen=True)
class QuestionExample:
    """A question and what was retrieved for it: what the retriever reads of it, the ``vectors`` by which the documents
    were found, and what the reader reads with each of these documents."""

    query: Example
    vectors: Float[Tensor, "doc width"]
    readings: tuple[Example, ...]

    def __post_init__(self) -> None:
        if len(self.vectors) != len(self.readings) or not self.readings:
            raise ValueError(f"{len(self.vectors)} vectors came with {len(self.readings)} readings; give one of each "
                             "for each document, and one document at least")


@dataclass(frozen=True)
class QuestionBatch:
    """Questions with what was retrieved for each. The documents' ``vectors`` are numbers that were computed before, and
    do not learn; they are 0 where a question has fewer documents than another one, and ``there`` says where. The
    ``readings`` are those of the first question, then those of the second, and so on."""

    queries: Batch
    vectors: Float[Tensor, "query doc width"]
    there: Bool[Tensor, "query doc"]
    readings: Batch

    @classmethod
    def of(cls, examples: Sequence[QuestionExample], *, pad: int) -> Self:
        """Collate; ``pad`` is the id that fills the shorter texts up."""
        counts = torch.tensor([len(one.readings) for one in examples])
        return cls(Batch.of([one.query for one in examples], pad=pad),
                   pad_sequence([one.vectors for one in examples], batch_first=True),
                   torch.arange(int(counts.max())) < counts[:, None],
                   Batch.of([reading for one in examples for reading in one.readings], pad=pad))

    @property
    def targets(self) -> Int[Tensor, "query time"]:
        """No slot predicts a token."""
        return self.queries.targets

    def to(self, device: torch.device | str) -> Self:
        """The same on another device."""
        return replace(self, queries=self.queries.to(device), vectors=self.vectors.to(device),
                       there=self.there.to(device), readings=self.readings.to(device))
