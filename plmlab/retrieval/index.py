"""Maximum inner product search (MIPS, 最大内积检索) over document vectors, by `faiss` (Johnson et al. 2017)."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
from jaxtyping import Float, Float32, Int64
from torch import Tensor

from plmlab.retrieval.retrieved import MISSING, Retrieved

Numbers = Int64[np.ndarray, "document"]
Vectors = Float32[np.ndarray, "document width"]


class Parts(NamedTuple):
    """The faiss index with the vectors, and the document number of each index entry; the numbers are empty if faiss
    itself stores them."""

    vectors: Any
    positions: Numbers


class DocumentIndex(ABC):
    """An index of documents, each with a text and a vector of size ``width``. Documents are numbered from 0; numbers
    are stable and never reused.

    Vectors are stored as float32 in main memory. Arguments are checked before anything changes: after a ValueError the
    index is unchanged. The same calls give the same index and results on one machine with the same number of threads;
    ties are in arbitrary order. All subclasses have the same interface but compare different documents, and so differ
    in recall: `FlatIndex` compares all documents, `IVFIndex` those in some lists, `HNSWIndex` the nodes along a
    graph.
    """

    kind: ClassVar[str]

    def __init__(self, width: int) -> None:
        if width < 1:
            raise ValueError(f"a width of {width} was given; a vector needs at least one dimension")
        self.width = width
        self.next_number = 0
        """The number that the next document to be added will get."""
        self._texts: dict[int, str] = {}
        self._faiss: Any = self._empty()

    def __len__(self) -> int:
        return len(self._texts)

    def __repr__(self) -> str:
        arguments = "".join(f", {name}={value}" for name, value in self.settings.items() if name != "width")
        return f"{type(self).__name__}({self.width}{arguments}), {len(self):,} documents"

    @property
    def texts(self) -> Mapping[int, str]:
        """Read-only mapping of document number → text of all documents in the index."""
        return MappingProxyType(self._texts)

    @property
    def settings(self) -> dict[str, int]:
        """The arguments with which to construct an index like this one."""
        return {"width": self.width}

    def add(self, texts: Sequence[str], vectors: Float[Tensor, "document width"]) -> list[int]:
        """Add documents and return their numbers. Raises ValueError unless there is one finite vector of size ``width``
        per text."""
        numbers = range(self.next_number, self.next_number + len(texts))
        rows = self._read(vectors, "vectors")
        _one_for_each(numbers, texts, rows)
        self._enter(numbers, texts, rows)
        self.next_number += len(texts)
        return [*numbers]

    def replace(self, numbers: Sequence[int], texts: Sequence[str], vectors: Float[Tensor, "document width"]) -> None:
        """Replace the documents with these numbers. Raises the same errors as `remove` and `add`."""
        rows, old = self._read(vectors, "vectors"), self._known(numbers)
        _one_for_each(numbers, texts, rows)
        if len(old):
            self._delete(old)
        self._enter(numbers, texts, rows)

    def remove(self, numbers: Sequence[int]) -> None:
        """Remove documents. Raises ValueError for an unknown, removed or duplicate number."""
        old = self._known(numbers)
        if len(old):
            self._delete(old)
        for number in numbers:
            del self._texts[number]

    def vectors(self, numbers: Sequence[int]) -> Float[Tensor, "document width"]:
        """A copy of the vectors of these documents. Raises ValueError for an unknown number."""
        known = self._known(numbers)
        return torch.from_numpy(self._kept(known)) if len(known) else torch.empty(0, self.width)

    def search(self, queries: Float[Tensor, "query width"], top_k: int, excluded: Sequence[Collection[int]] = (),
               ) -> Retrieved:
        """The ``top_k`` documents with the largest inner products for each query; the result always has ``top_k``
        columns.

        ``excluded`` holds, for each query, the numbers of documents that must not be returned; other documents take
        their place. The scores carry no gradient: for training, recompute them with `Retrieved.scored` from the
        `vectors` of the results, or from the texts. The scores of a query may differ in the last digits if it is
        searched in a batch. Raises ValueError for invalid query vectors.
        """
        if top_k < 1:
            raise ValueError(f"top_k={top_k} was given; a search returns at least one document")
        if any(excluded):
            return self.search(queries, top_k + max(map(len, excluded))).without(excluded, top_k)
        rows = self._read(queries, "queries")
        if not len(self) or not len(rows):
            return Retrieved(torch.full((len(rows), top_k), MISSING), torch.full((len(rows), top_k), -torch.inf))
        scores, numbers = self._nearest(rows, top_k)
        scores[numbers < 0] = -np.inf
        return Retrieved(torch.from_numpy(numbers), torch.from_numpy(scores))

    def parts(self) -> Parts:
        """The data to be stored on disk, in addition to the texts."""
        return Parts(self._faiss, self._positions())

    def resume(self, parts: Parts, texts: Mapping[int, str], next_number: int) -> None:
        """Restore an index from stored parts, texts and `next_number`; it must have the same `settings` as the stored
        index."""
        self._take(parts)
        self._texts, self.next_number = dict(texts), next_number

    def copied(self) -> Self:
        """An independent copy with the same documents and vectors."""
        import faiss

        other = type(self)(**self.settings)
        vectors, positions = self.parts()
        other.resume(Parts(faiss.clone_index(vectors), positions.copy()), self.texts, self.next_number)
        return other

    def _read(self, vectors: Tensor, called: str) -> Vectors:
        """Validate the vectors and convert them to faiss's input format."""
        if vectors.ndim != 2 or vectors.shape[1] != self.width:
            raise ValueError(f"the {called} have the shape {tuple(vectors.shape)}, but this index holds vectors of "
                             f"size {self.width}; give a matrix with {self.width} columns")
        rows = vectors.detach().to("cpu", torch.float32).contiguous()
        if not (finite := rows.isfinite().all(dim=1)).all():
            raise ValueError(f"row {int(finite.int().argmin())} of the {called} contains a number that is not finite "
                             "(NaN or infinity), so its scores cannot be ranked; check how it was computed")
        return rows.numpy()

    def _known(self, numbers: Sequence[int]) -> Numbers:
        """Check that all documents exist and none is listed twice. Returns their numbers."""
        unknown = [number for number in numbers if number not in self._texts]
        if unknown:
            reason = "was removed" if 0 <= unknown[0] < self.next_number else "was never assigned"
            raise ValueError(f"no document has the number {unknown[0]}, which {reason}; the index holds {len(self):,} "
                             "documents, whose numbers are the keys of its texts")
        if len({*numbers}) < len(numbers):
            raise ValueError("a document is listed twice; list each once")
        return np.array([*numbers], dtype=np.int64)

    def _enter(self, numbers: Sequence[int], texts: Sequence[str], rows: Vectors) -> None:
        if len(rows):
            self._insert(np.array([*numbers], dtype=np.int64), rows)
        self._texts.update(zip(numbers, texts, strict=True))

    @abstractmethod
    def _empty(self) -> Any:
        """An empty faiss index."""

    @abstractmethod
    def _insert(self, numbers: Numbers, rows: Vectors) -> None:
        """Insert vectors under unused numbers."""

    @abstractmethod
    def _delete(self, numbers: Numbers) -> None:
        """Delete the vectors with these numbers."""

    def _kept(self, numbers: Numbers) -> Vectors:
        """The vectors with these numbers."""
        return self._faiss.reconstruct_batch(numbers)

    @abstractmethod
    def _nearest(self, queries: Float32[np.ndarray, "query width"], top_k: int) -> tuple[
            Float32[np.ndarray, "query most"], Int64[np.ndarray, "query most"]]:
        """Scores and numbers of the nearest documents, best first; the number is −1 where there are no more
        documents."""

    def _positions(self) -> Numbers:
        """The document number of each index entry, if faiss does not store the numbers."""
        return np.empty(0, dtype=np.int64)

    def _take(self, parts: Parts) -> None:
        """Restore stored vectors."""
        self._faiss = parts.vectors


def _one_for_each(numbers: Sequence[int], texts: Sequence[str], rows: Vectors) -> None:
    if isinstance(texts, str):
        raise ValueError("texts is a single string; give a list of texts, such as [text]")
    if not len(numbers) == len(texts) == len(rows):
        raise ValueError(f"{len(texts)} texts and {len(rows)} vectors were given for {len(numbers)} documents; each "
                         "document needs one text and one vector")


class FlatIndex(DocumentIndex):
    """Exact search: compares the query with every document, in linear time."""

    kind = "flat"

    def _empty(self) -> Any:
        import faiss

        return faiss.IndexIDMap2(faiss.IndexFlatIP(self.width))

    def _insert(self, numbers: Numbers, rows: Vectors) -> None:
        self._faiss.add_with_ids(rows, numbers)

    def _delete(self, numbers: Numbers) -> None:
        self._faiss.remove_ids(numbers)

    def _nearest(self, queries: Float32[np.ndarray, "query width"], top_k: int) -> tuple[
            Float32[np.ndarray, "query most"], Int64[np.ndarray, "query most"]]:
        return self._faiss.search(queries, top_k)
