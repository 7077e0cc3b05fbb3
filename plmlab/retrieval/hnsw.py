"""A navigable small world (Malkov and Yashunin 2016): a graph that joins each document to near ones, for a search to
climb along."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from jaxtyping import Float32, Int64

from plmlab.retrieval.index import DocumentIndex, Numbers, Parts, Vectors

DEAD = -1
TOLERATED = 0.2
"""The share of dead positions above which the graph is built anew."""


class HNSWIndex(DocumentIndex):
    """Climbs from document to nearer document, ``breadth`` candidates in hand; each has some ``links`` to others (twice
    as many in the lowest layer).

    Nearness is the inner product, which is no metric: a document with a short vector is seldom another's nearest, and
    may not be reached (`benchmarks/README.md` has what is found). No document can leave a graph: one that was removed
    stays as a place to climb over and is never told; once more than a fifth are such, the graph is built anew. Where a
    climb finds fewer documents than it should, all are looked at. One thread builds the graph: with two it would be
    another one each time.
    """

    kind = "hnsw"

    def __init__(self, width: int, links: int = 32, breadth: int = 64) -> None:
        if links < 2 or breadth < 1:
            raise ValueError(f"a graph needs two links a document and a breadth of one at least; links={links} and "
                             f"breadth={breadth} were given")
        self.links, self.breadth = links, breadth
        self._numbers, self._position_of = np.empty(0, dtype=np.int64), dict[int, int]()
        super().__init__(width)

    @property
    def settings(self) -> dict[str, int]:
        """What an index of this kind is made with."""
        return {**super().settings, "links": self.links, "breadth": self.breadth}

    def _empty(self) -> Any:
        import faiss

        return faiss.IndexHNSWFlat(self.width, self.links, faiss.METRIC_INNER_PRODUCT)

    def _insert(self, numbers: Numbers, rows: Vectors) -> None:
        with one_thread():
            self._faiss.add(rows)
        self._position_of |= {number: position for position, number in enumerate(numbers.tolist(), len(self._numbers))}
        self._numbers = np.concatenate([self._numbers, numbers])

    def _delete(self, numbers: Numbers) -> None:
        for number in numbers.tolist():
            self._numbers[self._position_of.pop(number)] = DEAD
        if (self._numbers == DEAD).mean() > TOLERATED:
            self._build_anew()

    def _build_anew(self) -> None:
        """The graph of the living alone."""
        living = self._numbers[self._numbers != DEAD]
        rows = self._kept(living)
        self._take(Parts(self._empty(), np.empty(0, dtype=np.int64)))
        if len(living):
            self._insert(living, rows)

    def _kept(self, numbers: Numbers) -> Vectors:
        return super()._kept(np.array([self._position_of[number] for number in numbers.tolist()], dtype=np.int64))

    def _nearest(self, queries: Float32[np.ndarray, "query width"], most: int) -> tuple[
            Float32[np.ndarray, "query most"], Int64[np.ndarray, "query most"]]:
        import faiss

        dead = np.flatnonzero(self._numbers == DEAD)
        living = {"sel": faiss.IDSelectorNot(faiss.IDSelectorBatch(dead))} if len(dead) else {}
        climb = faiss.SearchParametersHNSW(efSearch=max(self.breadth, most), **living)
        scores, positions = self._faiss.search(queries, most, params=climb)
        short = (positions >= 0).sum(axis=1) < min(most, len(self._position_of))
        if short.any():
            vectors = faiss.downcast_index(self._faiss.storage)
            scores[short], positions[short] = vectors.search(queries[short], most,
                                                         params=faiss.SearchParameters(**living))
        return scores, np.where(positions < 0, -1, self._numbers[positions])

    def _positions(self) -> Numbers:
        return self._numbers

    def _take(self, parts: Parts) -> None:
        self._faiss, self._numbers = parts
        self._position_of = {number: position for position, number in enumerate(self._numbers.tolist())
                             if number != DEAD}


@contextmanager
def one_thread() -> Iterator[None]:
    """faiss works by one thread in here."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
