"""A corpus (语料库): documents by number, the retriever that makes vectors of them, and an index of these vectors."""

from collections.abc import Collection, Sequence
from copy import copy
from typing import Any, Generic, Protocol, Self, TypeVar

from jaxtyping import Float
from torch import Tensor

from plmlab.retrieval.index import DocumentIndex, FlatIndex
from plmlab.retrieval.retrieved import Retrieved

Query = TypeVar("Query")
Document = TypeVar("Document")


class Retriever(Protocol):
    """Makes vectors of ``width`` numbers of queries and of documents, by one network or by two; a document is most
    useful to a query where the inner product of the two is greatest."""

    @property
    def width(self) -> int:
        """The size of a vector."""

    def queries(self, queries: Sequence[Any]) -> Float[Tensor, "query width"]:
        """A vector for each query, without a gradient."""

    def documents(self, documents: Sequence[Any]) -> Float[Tensor, "document width"]:
        """A vector for each document, without a gradient."""


class Corpus(Generic[Query, Document]):
    """Documents that can be added, replaced and removed at any time; no weight changes by that. Their numbers are those
    of the ``index``, a `FlatIndex` unless another, empty one is given.

    A document is what the retriever takes: a `plmlab.retrieval.Block` of text, or, in an entity memory, an entity's
    row in a table of vectors, which needs no text.
    """

    def __init__(self, retriever: Retriever, documents: Sequence[Document] = (),
                 index: DocumentIndex | None = None) -> None:
        self.retriever = retriever
        self.index = FlatIndex(retriever.width) if index is None else index
        self.documents: dict[int, Document] = {}
        self.add(documents)

    def add(self, documents: Sequence[Document]) -> list[int]:
        """Add documents; returns their numbers."""
        numbers = self.index.add([*map(str, documents)], self.retriever.documents(documents))
        self.documents |= zip(numbers, documents, strict=True)
        return numbers

    def replace(self, number: int, document: Document) -> None:
        """Put another document under a number."""
        self.index.replace([number], [str(document)], self.retriever.documents([document]))
        self.documents[number] = document

    def remove(self, number: int) -> None:
        """Remove a document."""
        self.index.remove([number])
        del self.documents[number]

    def refresh(self) -> None:
        """Make all vectors again, after the retriever has learned."""
        documents = [*self.documents.values()]
        self.index.replace([*self.documents], [*map(str, documents)], self.retriever.documents(documents))

    def copied(self) -> Self:
        """The same documents and retriever; no vector is made again, and a change of one corpus does not affect the
        other. The copy takes 4 bytes per number of the index."""
        made = copy(self)
        made.index, made.documents = self.index.copied(), dict(self.documents)
        return made

    def search(self, queries: Sequence[Query], most: int, excluded: Sequence[Collection[int]] = ()) -> Retrieved:
        """The ``most`` best documents for each query, without those ``excluded`` for it."""
        return self.index.search(self.retriever.queries(queries), most, excluded)
