"""Time per query and recall@10 of exact and approximate vector indexes."""

from collections.abc import Mapping
from statistics import fmean, median
from time import perf_counter

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.retrieval import DocumentIndex, FlatIndex, HNSWIndex, IVFIndex

INDEXES: Mapping[str, type[DocumentIndex]] = {"flat": FlatIndex, "IVF": IVFIndex, "HNSW": HNSWIndex}
TOP, QUERIES, WIDTH, TOPICS = 10, 100, 64, 500


def clustered(size: int, seed: int = 0) -> Float[Tensor, "doc width"]:
    """Random vectors around ``TOPICS`` centres, because texts come in topics."""
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(TOPICS, WIDTH, generator=rng)[torch.arange(size) % TOPICS] + 0.5 * torch.randn(
        size, WIDTH, generator=rng)


def measured(size: int) -> dict[str, tuple[float, float]]:
    """Index → (median time of a query in µs, recall@10 as a fraction), for ``size`` `clustered` vectors."""
    vectors, rows = clustered(size), dict[str, tuple[float, float]]()
    queries = vectors[:QUERIES] + 0.3 * torch.randn(QUERIES, WIDTH, generator=torch.Generator().manual_seed(1))
    exact = [{*row.topk(TOP).indices.tolist()} for row in queries @ vectors.T]
    for name, kind in INDEXES.items():
        index, times, recalls = kind(WIDTH), list[float](), list[float]()
        index.add([str(number) for number in range(size)], vectors)
        index.search(queries[:1], TOP)  # the first search also builds the index
        for query, best in zip(queries, exact, strict=True):
            start = perf_counter()
            found = index.search(query[None], TOP).numbers[0].tolist()
            times.append(1e6 * (perf_counter() - start))
            recalls.append(len(best.intersection(found)) / TOP)
        rows[name] = median(times), fmean(recalls)
    return rows
