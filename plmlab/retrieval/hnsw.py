"""Hierarchical navigable small world index (HNSW; Malkov and Yashunin 2016): a graph that links each document to nearby
documents, for greedy search."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from jaxtyping import Float32, Int64

from plmlab.retrieval.index import DocumentIndex, Numbers, Parts, Vectors

DELETED = -1
MAX_DELETED = 0.2
"""Proportion of deleted entries above which the graph is rebuilt."""


class HNSWIndex(DocumentIndex):
    """Approximate search that moves along a graph to ever nearer documents, keeping ``breadth`` candidates. Each
    document has about ``links`` links (twice as many in the lowest layer).

    Similarity is the inner product, which is not a metric: a document with a short vector is rarely another document's
    nearest neighbour and may be unreachable (`benchmarks/README.md` reports recall). A graph does not support deletion:
    a removed document remains as a node that is traversed but never returned; once more than a fifth of the nodes are
    removed documents, the graph is rebuilt. If a search finds too few documents, it falls back to exact search. The
    graph is built with a single thread, because with two it would differ from run to run.
    """

    kind = "hnsw"

    def __init__(self, width: int, links: int = 32, breadth: int = 64) -> None:
        if links < 2 or breadth < 1:
            raise ValueError(f"links={links} and breadth={breadth} were given; a graph needs links of at least 2 and a "
                             "breadth of at least 1")
        self.links, self.breadth = links, breadth
        self._numbers, self._position_of = np.empty(0, dtype=np.int64), dict[int, int]()
        super().__init__(width)

    @property
    def settings(self) -> dict[str, int]:
        """The arguments with which to construct an index like this one."""
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
            self._numbers[self._position_of.pop(number)] = DELETED
        if (self._numbers == DELETED).mean() > MAX_DELETED:
            self._build_anew()

    def _build_anew(self) -> None:
        """Rebuild the graph from the remaining documents."""
        living = self._numbers[self._numbers != DELETED]
        rows = self._kept(living)
        self._take(Parts(self._empty(), np.empty(0, dtype=np.int64)))
        if len(living):
            self._insert(living, rows)

    def _kept(self, numbers: Numbers) -> Vectors:
        return super()._kept(np.array([self._position_of[number] for number in numbers.tolist()], dtype=np.int64))

    def _nearest(self, queries: Float32[np.ndarray, "query width"], top_k: int) -> tuple[
            Float32[np.ndarray, "query most"], Int64[np.ndarray, "query most"]]:
        import faiss

        dead = np.flatnonzero(self._numbers == DELETED)
        living = {"sel": faiss.IDSelectorNot(faiss.IDSelectorBatch(dead))} if len(dead) else {}
        climb = faiss.SearchParametersHNSW(efSearch=max(self.breadth, top_k), **living)
        scores, positions = self._faiss.search(queries, top_k, params=climb)
        short = (positions >= 0).sum(axis=1) < min(top_k, len(self._position_of))
        if short.any():
            vectors = faiss.downcast_index(self._faiss.storage)
            scores[short], positions[short] = vectors.search(queries[short], top_k,
                                                             params=faiss.SearchParameters(**living))
        return scores, np.where(positions < 0, -1, self._numbers[positions])

    def _positions(self) -> Numbers:
        return self._numbers

    def _take(self, parts: Parts) -> None:
        self._faiss, self._numbers = parts
        self._position_of = {number: position for position, number in enumerate(self._numbers.tolist())
                             if number != DELETED}


@contextmanager
def one_thread() -> Iterator[None]:
    """Context manager in which faiss uses a single thread."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
