"""Document indexes at scale: ``OMP_WAIT_POLICY=PASSIVE python benchmarks/retrieval.py FILE.json [documents …]``.

Real encodings: every fifth block of 64 tokens of the Wikipedia sample, encoded by MiniLM (mean over the tokens, 384
dimensions, mapped to 768 by a fixed random matrix with orthonormal columns, unit length). A document is one of them
plus noise of half its length, normalized to unit length; a query is a document plus such noise again. For each number
of documents (by default 10,000, 100,000 and 1,000,000), each index is built, and 200 queries are searched one at a
time. Recall is relative to the flat index, which is exact. At the smallest number, everything is repeated with
documents of unequal norms (log-normal, σ = ½), which a trained retriever can have. The rows are appended to the file.

For the 13,353,718 blocks of REALM's Wikipedia, the following is extrapolated from the table in README.md, not measured.
Vectors of 768 dimensions take 41.0 GB; of 128 dimensions, as in REALM, 6.8 GB. The flat index read 8.9 GB/s at
1,000,000: 4.6 s per query, and 0.8 s. IVF has 14,616 lists; 64 of them and the centroids are 225 MB, and 37 MB, at 10
GB/s: 22 ms, and 4 ms. Learning the centroids and filling the lists is 49 times the work that took 149 s at 1,000,000:
2.0 hours, and 0.3.

- Sharded: each machine has an index of its shard. The best ten among the shards' best tens are the best of all, if the
  shards are exact. Eight machines hold 5.1 GB each, and answer in 0.6 s.
- Memory-mapped: ``faiss.read_index(file, faiss.IO_FLAG_MMAP)`` leaves the lists of an IVF index on the disk. A query
  reads the lists that it probes: 180 MB of 41 GB.
- Encoding takes longest: at 51 blocks of 64 tokens per second, as here, it takes 3 days. ``accelerate launch`` starts
  one process per GPU, and each encodes its share of the blocks into a shard of its own.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

import torch
from torch import Tensor
from torch.nn.functional import normalize

from plmlab.hf import minilm
from plmlab.hf.minilm_vectors import encoded
from plmlab.retrieval import DocumentIndex, FlatIndex, HNSWIndex, IVFIndex, blocks
from plmlab.text.wikipedia_pages import WikipediaPages

WIDTH, LONGEST, EVERY, MOST, QUERIES = 768, 64, 5, 10, 200
SMALLEST, LARGEST_GRAPH = 10_000, 100_000
MORE_PROBES = (16, 64)


@dataclass(frozen=True)
class Row:
    """Measurements of one index; times are ms per query, ``against_flat`` is the ratio of medians."""

    documents: int
    lengths: str
    index: str
    built_s: float
    gigabytes: float
    query_ms: float
    slowest_ms: float
    against_flat: float
    recall: float


def encodings() -> Tensor:
    """Encodings of the blocks, [block 768], of unit length; the input is [CLS] title [SEP] text [SEP]."""
    read = blocks(WikipediaPages(minilm()[1]), LONGEST)[::EVERY]
    made = encoded([(block.title, block.text) for block in read])
    turned = torch.linalg.qr(torch.randn(WIDTH, made.shape[1], generator=torch.Generator().manual_seed(0))).Q
    return made @ turned.T


def around(real: Tensor, count: int, draw: torch.Generator) -> Tensor:
    """``count`` vectors of unit length: the real ones in turn, plus noise."""
    made = torch.empty(count, WIDTH)
    for start in range(0, count, SMALLEST):
        chosen = torch.arange(start, min(start + SMALLEST, count)) % len(real)
        noise = torch.randn(len(chosen), WIDTH, generator=draw) * 0.5 / WIDTH ** 0.5
        made[start:start + len(chosen)] = normalize(real[chosen] + noise)
    return made


def size(index: DocumentIndex) -> float:
    """Gigabytes of the vectors and their search structure, as written by faiss; texts and document numbers are not
    included."""
    import faiss

    with TemporaryDirectory() as folder:
        faiss.write_index(index.parts().vectors, str(file := Path(folder) / "vectors"))
        return file.stat().st_size / 1e9


def asked(index: DocumentIndex, queries: Tensor) -> tuple[list[float], Tensor]:
    """Search time of each query in ms, and the documents found."""
    took, found = [], []
    index.search(queries[:1], MOST)
    for query in queries.split(1):
        start = time.perf_counter()
        found.append(index.search(query, MOST).numbers)
        took.append((time.perf_counter() - start) * 1e3)
    return took, torch.cat(found)


def kinds(documents: int) -> Iterator[tuple[str, Callable[[], DocumentIndex]]]:
    """Indexes to build for this number of documents; the first is flat, the reference for the others."""
    yield "flat", lambda: FlatIndex(WIDTH)
    yield "IVF", lambda: IVFIndex(WIDTH)
    if documents <= LARGEST_GRAPH:
        yield "HNSW", lambda: HNSWIndex(WIDTH)


def measured(vectors: Tensor, queries: Tensor, lengths: str) -> Iterator[Row]:
    """Measure a row for each index, and for an IVF index one per number of probes."""
    texts, best, exact_ms = [""] * len(vectors), torch.empty(0), 1.0
    for name, make in kinds(len(vectors)):
        index = make()
        start = time.perf_counter()
        index.add(texts, vectors)
        built, gigabytes = time.perf_counter() - start, size(index)
        for probes in MORE_PROBES if isinstance(index, IVFIndex) else (0,):
            told = name
            if isinstance(index, IVFIndex):
                index.probes, told = probes, f"IVF, {probes} of {index.lists:,} lists"
            took, found = asked(index, queries)
            if name == "flat":
                best, exact_ms = found, median(took)
            recall = float((found[:, :, None] == best[:, None]).any(2).float().mean())
            yield Row(len(vectors), lengths, told, built, gigabytes, median(took), quantiles(took, n=100)[98],
                      exact_ms / median(took), recall)


def line(row: Row) -> str:
    """Format a row of the table."""
    return (f"| {row.documents:,}{row.lengths} | {row.index} | {row.built_s:,.1f} | {row.gigabytes:.2f} | "
            f"{row.query_ms:.2f} | {row.slowest_ms:.2f} | {row.against_flat:.1f} | {row.recall:.3f} |")


def main(file: Path, counts: Sequence[int]) -> None:
    """Print the table, and append its rows to the file."""
    start = time.perf_counter()
    real = encodings()
    print(f"{len(real):,} blocks encoded in {time.perf_counter() - start:.0f} s\n")
    print("| documents | index | build time, s | GB | ms per query | 99th percentile | speed-up over flat | recall@10 |"
          "\n|---|---|--:|--:|--:|--:|--:|--:|")
    rows = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    for count in counts:
        draw = torch.Generator().manual_seed(1)
        vectors = around(real, count, draw)
        queries = around(vectors[:: count // QUERIES], QUERIES, draw)
        unequal = torch.randn(count, 1, generator=draw).mul(0.5).exp()
        for lengths, scale in (("", None), (", unequal norms", unequal)):
            if scale is None or count == SMALLEST:
                for row in measured(vectors if scale is None else vectors * scale, queries, lengths):
                    print(line(row), flush=True)
                    rows.append(asdict(row))
                    file.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(count) for count in sys.argv[2:]] or [10_000, 100_000, 1_000_000])
