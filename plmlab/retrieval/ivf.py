"""Inverted file index (IVF, 倒排文件): each document is assigned to the list of its nearest centroid, and a search
probes only a few lists."""

from math import isqrt
from typing import Any

import numpy as np
from jaxtyping import Float32, Int64

from plmlab.retrieval.index import DocumentIndex, Numbers, Vectors

FEWEST, LEARNED_FROM = 39, 64
"""Minimum (faiss recommends 39) and maximum number of training vectors per centroid; more gain little."""


class IVFIndex(DocumentIndex):
    """Approximate search in the ``probes`` lists whose centroids are nearest to the query; probing all lists is exact.

    The centroids (spherical k-means with a fixed seed) are trained on the vectors of the first `add` and then stay
    fixed, so the first call should add many representative documents. n vectors give 4·√n lists, as faiss's guidelines
    recommend, but at most one list per 39 vectors; fewer than 78 vectors give one list. A document in a list that is
    not probed is not found, even if the search returns fewer than ``top_k`` documents.
    """

    kind = "ivf"

    def __init__(self, width: int, probes: int = 16) -> None:
        super().__init__(width)
        if probes < 1:
            raise ValueError(f"probes={probes} was given; a search probes at least one list")
        self.probes = probes

    @property
    def settings(self) -> dict[str, int]:
        """The arguments with which to construct an index like this one."""
        return {**super().settings, "probes": self.probes}

    @property
    def lists(self) -> int:
        """The number of lists, which is one before the first vectors are added."""
        return self._faiss.nlist

    def _empty(self, lists: int = 1) -> Any:
        import faiss

        index = faiss.IndexIVFFlat(faiss.IndexFlatIP(self.width), self.width, lists, faiss.METRIC_INNER_PRODUCT)
        index.cp.spherical, index.cp.min_points_per_centroid, index.cp.max_points_per_centroid = True, 1, LEARNED_FROM
        index.set_direct_map_type(faiss.DirectMap.Hashtable)
        return index

    def _insert(self, numbers: Numbers, rows: Vectors) -> None:
        if not self._faiss.is_trained:
            self._faiss = self._empty(max(1, min(4 * isqrt(len(rows)), len(rows) // FEWEST)))
            self._faiss.train(rows)
        self._faiss.add_with_ids(rows, numbers)

    def _delete(self, numbers: Numbers) -> None:
        import faiss

        self._faiss.remove_ids(faiss.IDSelectorArray(numbers))

    def _nearest(self, queries: Float32[np.ndarray, "query width"], top_k: int) -> tuple[
            Float32[np.ndarray, "query most"], Int64[np.ndarray, "query most"]]:
        import faiss

        return self._faiss.search(queries, top_k, params=faiss.SearchParametersIVF(nprobe=self.probes))
