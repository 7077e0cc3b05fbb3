"""Documents found by the inner product of their vectors with a query's (maximum inner product search, 最大内积检索),
by `faiss` (Johnson et al. 2017)."""

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
    """The vectors, an index of faiss's, and the number of the document in each of its positions; no numbers where faiss
    keeps them itself."""

    vectors: Any
    positions: Numbers


class DocumentIndex(ABC):
    """Documents, each a text and a vector of size ``width``. Their numbers count from 0, stay, and are never given
    twice.

    Vectors are kept in float32, in the machine's main memory. What the caller gives is checked before anything
    changes: a ValueError leaves the index as it was. The same calls give the same index and the same answers, on one
    machine with the same number of threads; of documents with equal scores any may come first. The kinds are used
    alike and differ in where they look, and so in what they may miss: `FlatIndex` looks at all documents, `IVFIndex`
    in some lists, `HNSWIndex` along a graph.
    """

    kind: ClassVar[str]

    def __init__(self, width: int) -> None:
        if width < 1:
            raise ValueError(f"a vector has one number at least; a width of {width} was given")
        self.width = width
        self.next_number = 0
        """The number that the next new document will have."""
        self._texts: dict[int, str] = {}
        self._faiss: Any = self._empty()

    def __len__(self) -> int:
        return len(self._texts)

    def __repr__(self) -> str:
        told = "".join(f", {name}={value}" for name, value in self.settings.items() if name != "width")
        return f"{type(self).__name__}({self.width}{told}), {len(self):,} documents"

    @property
    def texts(self) -> Mapping[int, str]:
        """A document's number → its text, for all that are in the index; to be read only."""
        return MappingProxyType(self._texts)

    @property
    def settings(self) -> dict[str, int]:
        """What an index of this kind is made with."""
        return {"width": self.width}

    def add(self, texts: Sequence[str], vectors: Float[Tensor, "document width"]) -> list[int]:
        """Take documents in; returns their numbers. ValueError where there is not one vector for each text, or where a
        vector has another width or holds a number that is not finite."""
        numbers = range(self.next_number, self.next_number + len(texts))
        rows = self._read(vectors, "vectors")
        _one_for_each(numbers, texts, rows)
        self._enter(numbers, texts, rows)
        self.next_number += len(texts)
        return [*numbers]

    def replace(self, numbers: Sequence[int], texts: Sequence[str], vectors: Float[Tensor, "document width"]) -> None:
        """Put other documents under these numbers: what `remove` and `add` refuse is refused."""
        rows, old = self._read(vectors, "vectors"), self._known(numbers)
        _one_for_each(numbers, texts, rows)
        if len(old):
            self._delete(old)
        self._enter(numbers, texts, rows)

    def remove(self, numbers: Sequence[int]) -> None:
        """Take documents out. ValueError for a number that no document has, or no longer, and for one named twice."""
        old = self._known(numbers)
        if len(old):
            self._delete(old)
        for number in numbers:
            del self._texts[number]

    def vectors(self, numbers: Sequence[int]) -> Float[Tensor, "document width"]:
        """The vectors of these documents, a copy. ValueError for a number that no document has."""
        known = self._known(numbers)
        return torch.from_numpy(self._kept(known)) if len(known) else torch.empty(0, self.width)

    def search(self, queries: Float[Tensor, "query width"], most: int, excluded: Sequence[Collection[int]] = (),
               ) -> Retrieved:
        """The ``most`` documents with the greatest inner products for each query, always as many columns.

        ``excluded`` are the numbers of documents that may not be found, a collection for each query; other documents
        take their place. The scores carry no gradient: compute them again by `Retrieved.scored` from the `vectors` of
        what was found, or from the texts, to learn. Scores of one query and of a batch may differ in the last digits.
        ValueError for queries as for vectors.
        """
        if most < 1:
            raise ValueError(f"a search gives one document at least; most={most} was given")
        if any(excluded):
            return self.search(queries, most + max(map(len, excluded))).without(excluded, most)
        rows = self._read(queries, "queries")
        if not len(self) or not len(rows):
            return Retrieved(torch.full((len(rows), most), MISSING), torch.full((len(rows), most), -torch.inf))
        scores, numbers = self._nearest(rows, most)
        scores[numbers < 0] = -np.inf
        return Retrieved(torch.from_numpy(numbers), torch.from_numpy(scores))

    def parts(self) -> Parts:
        """What is written to a disk besides the texts."""
        return Parts(self._faiss, self._positions())

    def resume(self, parts: Parts, texts: Mapping[int, str], next_number: int) -> None:
        """Become the index that had these parts, texts and `next_number`; both are of the same `settings`."""
        self._take(parts)
        self._texts, self.next_number = dict(texts), next_number

    def copied(self) -> Self:
        """An index of the same documents and vectors; what is changed in one of the two, the other does not see."""
        import faiss

        made = type(self)(**self.settings)
        vectors, positions = self.parts()
        made.resume(Parts(faiss.clone_index(vectors), positions.copy()), self.texts, self.next_number)
        return made

    def _read(self, vectors: Tensor, called: str) -> Vectors:
        """The vectors as faiss reads them."""
        if vectors.ndim != 2 or vectors.shape[1] != self.width:
            raise ValueError(f"this index holds vectors of {self.width} numbers, and the {called} given have the shape "
                             f"{tuple(vectors.shape)}; give a matrix of {self.width} columns")
        rows = vectors.detach().to("cpu", torch.float32).contiguous()
        if not (sound := rows.isfinite().all(dim=1)).all():
            raise ValueError(f"row {int(sound.int().argmin())} of the {called} holds a number that is not finite (NaN "
                             "or infinite), which has no order among scores; look for where it was made")
        return rows.numpy()

    def _known(self, numbers: Sequence[int]) -> Numbers:
        """The numbers of documents that are here, each named once."""
        unknown = [number for number in numbers if number not in self._texts]
        if unknown:
            of_old = "was removed" if 0 <= unknown[0] < self.next_number else "was never given"
            raise ValueError(f"no document has the number {unknown[0]}, which {of_old}; this index holds {len(self):,} "
                             "documents, whose numbers are the keys of its texts")
        if len({*numbers}) < len(numbers):
            raise ValueError("a document is named twice; name each once")
        return np.array([*numbers], dtype=np.int64)

    def _enter(self, numbers: Sequence[int], texts: Sequence[str], rows: Vectors) -> None:
        if len(rows):
            self._insert(np.array([*numbers], dtype=np.int64), rows)
        self._texts.update(zip(numbers, texts, strict=True))

    @abstractmethod
    def _empty(self) -> Any:
        """faiss's index, without a vector."""

    @abstractmethod
    def _insert(self, numbers: Numbers, rows: Vectors) -> None:
        """Take vectors in under numbers that are free."""

    @abstractmethod
    def _delete(self, numbers: Numbers) -> None:
        """Let go of the vectors under these numbers."""

    def _kept(self, numbers: Numbers) -> Vectors:
        """The vectors under these numbers."""
        return self._faiss.reconstruct_batch(numbers)

    @abstractmethod
    def _nearest(self, queries: Float32[np.ndarray, "query width"], most: int) -> tuple[
            Float32[np.ndarray, "query most"], Int64[np.ndarray, "query most"]]:
        """Scores and numbers, the best first, and −1 for a number where there is no further one."""

    def _positions(self) -> Numbers:
        """The number of the document in each position, where faiss does not keep it."""
        return np.empty(0, dtype=np.int64)

    def _take(self, parts: Parts) -> None:
        """Go on with vectors that were kept."""
        self._faiss = parts.vectors


def _one_for_each(numbers: Sequence[int], texts: Sequence[str], rows: Vectors) -> None:
    if isinstance(texts, str):
        raise ValueError("the texts are one string; give a list of texts, such as [text]")
    if not len(numbers) == len(texts) == len(rows):
        raise ValueError(f"each document has one text and one vector; {len(texts)} texts and {len(rows)} vectors were "
                         f"given for {len(numbers)} documents")


class FlatIndex(DocumentIndex):
    """Looks at every document, and so finds the best: exact, in time that grows with the documents."""

    kind = "flat"

    def _empty(self) -> Any:
        import faiss

        return faiss.IndexIDMap2(faiss.IndexFlatIP(self.width))

    def _insert(self, numbers: Numbers, rows: Vectors) -> None:
        self._faiss.add_with_ids(rows, numbers)

    def _delete(self, numbers: Numbers) -> None:
        self._faiss.remove_ids(numbers)

    def _nearest(self, queries: Float32[np.ndarray, "query width"], most: int) -> tuple[
            Float32[np.ndarray, "query most"], Int64[np.ndarray, "query most"]]:
        return self._faiss.search(queries, most)
