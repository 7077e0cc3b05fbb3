"""What the Retrieval Lab asks of documents that are looked up, whoever looks them up."""

from collections.abc import Sequence
from typing import Any, Protocol, Self

from jaxtyping import Float
from torch import Tensor

from plmlab.objectives.retrievals import Ids, Query
from plmlab.retrieval.blocks import Block
from plmlab.retrieval.index import DocumentIndex
from plmlab.text.tokenizers import Tokenizer


class Looked(Protocol):
    """What was made of a statement, such as `plmlab.models.lookup.Reading`."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The documents in sight."""

    @property
    def scores(self) -> Float[Tensor, " doc"]:
        """Of each document."""

    @property
    def priors(self) -> Float[Tensor, " doc"]:
        """p(z|x)."""

    @property
    def answers(self) -> tuple[Ids, ...]:
        """The likeliest first."""

    @property
    def likelihoods(self) -> Float[Tensor, "doc answer"]:
        """p(y|z,x)."""

    @property
    def marginals(self) -> Float[Tensor, " answer"]:
        """p(y|x)."""

    def pull(self, answer: int = 0) -> Float[Tensor, " doc"]:
        """r(z) for an answer."""


class Looking(Protocol):
    """A model among documents, which can be added, replaced and removed, such as `plmlab.models.lookup.Lookup`."""

    model: Any
    tokenizer: Tokenizer
    index: DocumentIndex
    documents: dict[int, Block]

    def copied(self) -> Self:
        """The same, whose changes this one does not see."""

    def add(self, documents: Sequence[Block]) -> list[int]:
        """Take documents in."""

    def replace(self, number: int, document: Block) -> None:
        """Put another document under a number."""

    def remove(self, number: int) -> None:
        """Take a document out."""

    def read(self, queries: Sequence[Query], most: int = ..., *, null: bool = ..., temperature: float = ...,
             also: Sequence[Sequence[Ids]] | None = ...) -> Sequence[Any]:
        """What is made of each statement."""
