"""An inverted file (倒排文件): each document is in the list of its nearest centre, and a search reads a few lists."""

from math import isqrt
from typing import Any

import numpy as np
from jaxtyping import Float32, Int64

from plmlab.retrieval.index import DocumentIndex, Numbers, Vectors

FEWEST, LEARNED_FROM = 39, 64
"""Vectors a list that the centres are learned from: the fewest (faiss asks for 39), and the most; more gain little."""


class IVFIndex(DocumentIndex):
    """Looks only into the ``probes`` lists whose centres lie nearest to the query; all of them is exact.

    The centres (spherical k-means, always from the same seed) are learned from the vectors of the first `add`, and then
    stay: add many documents at first, of the kind that will follow. From n first vectors come 4·√n lists, as faiss's
    guidelines advise, but no more than one for 39 vectors; fewer than 78 make one list. A document in a list that is
    not probed is not found, even where fewer than ``most`` are.
    """

    kind = "ivf"

    def __init__(self, width: int, probes: int = 16) -> None:
        super().__init__(width)
        if probes < 1:
            raise ValueError(f"a search looks into one list at least; probes={probes} was given")
        self.probes = probes

    @property
    def settings(self) -> dict[str, int]:
        """What an index of this kind is made with."""
        return {**super().settings, "probes": self.probes}

    @property
    def lists(self) -> int:
        """How many lists there are; one before the first vectors."""
        return self._faiss.nlist

    def _empty(self, lists: int = 1) -> Any:
        import faiss

        made = faiss.IndexIVFFlat(faiss.IndexFlatIP(self.width), self.width, lists, faiss.METRIC_INNER_PRODUCT)
        made.cp.spherical, made.cp.min_points_per_centroid, made.cp.max_points_per_centroid = True, 1, LEARNED_FROM
        made.set_direct_map_type(faiss.DirectMap.Hashtable)
        return made

    def _insert(self, numbers: Numbers, rows: Vectors) -> None:
        if not self._faiss.is_trained:
            self._faiss = self._empty(max(1, min(4 * isqrt(len(rows)), len(rows) // FEWEST)))
            self._faiss.train(rows)
        self._faiss.add_with_ids(rows, numbers)

    def _delete(self, numbers: Numbers) -> None:
        import faiss

        self._faiss.remove_ids(faiss.IDSelectorArray(numbers))

    def _nearest(self, queries: Float32[np.ndarray, "query width"], most: int) -> tuple[
            Float32[np.ndarray, "query most"], Int64[np.ndarray, "query most"]]:
        import faiss

        return self._faiss.search(queries, most, params=faiss.SearchParametersIVF(nprobe=self.probes))
