"""A corpus (语料库) for retrieval: numbered documents, the retriever that encodes them, and an index of their
vectors."""

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
    """Interface of a dense retriever: encodes queries and documents as ``width``-dimensional vectors, with one network
    or two; the relevance of a document is the inner product of the vectors."""

    @property
    def width(self) -> int:
        """The dimension of the vectors."""

    def queries(self, queries: Sequence[Any]) -> Float[Tensor, "query width"]:
        """One vector per query, without gradient."""

    def documents(self, documents: Sequence[Any]) -> Float[Tensor, "document width"]:
        """One vector per document, without gradient."""


class Corpus(Generic[Query, Document]):
    """Documents that can be added, replaced and removed at any time without changing any weights. Documents are
    numbered by the ``index``, which is a `FlatIndex` unless another empty index is given.

    A document is whatever the retriever encodes: a `plmlab.retrieval.Block` of text or, in an entity memory, an
    entity's row in an embedding matrix, without any text.
    """

    def __init__(self, retriever: Retriever, documents: Sequence[Document] = (),
                 index: DocumentIndex | None = None) -> None:
        self.retriever = retriever
        self.index = FlatIndex(retriever.width) if index is None else index
        self.documents: dict[int, Document] = {}
        self.add(documents)

    def add(self, documents: Sequence[Document]) -> list[int]:
        """Add documents and return their numbers."""
        numbers = self.index.add([*map(str, documents)], self.retriever.documents(documents))
        self.documents |= zip(numbers, documents, strict=True)
        return numbers

    def replace(self, number: int, document: Document) -> None:
        """Replace the document with this number."""
        self.index.replace([number], [str(document)], self.retriever.documents([document]))
        self.documents[number] = document

    def remove(self, number: int) -> None:
        """Remove the document with this number."""
        self.index.remove([number])
        del self.documents[number]

    def refresh(self) -> None:
        """Recompute all document vectors, after the retriever has been trained."""
        documents = [*self.documents.values()]
        self.index.replace([*self.documents], [*map(str, documents)], self.retriever.documents(documents))

    def copied(self) -> Self:
        """A copy with the same documents and retriever, made without encoding anything again; changes to one corpus do
        not affect the other. The copy takes 4 bytes per vector component of the index."""
        other = copy(self)
        other.index, other.documents = self.index.copied(), dict(self.documents)
        return other

    def search(self, queries: Sequence[Query], top_k: int, excluded: Sequence[Collection[int]] = ()) -> Retrieved:
        """The ``top_k`` best documents for each query, except those ``excluded`` for it."""
        return self.index.search(self.retriever.queries(queries), top_k, excluded)
