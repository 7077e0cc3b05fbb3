"""Training examples of CogQA (Ding et al. 2019, §3.4): a multi-hop question with its cognitive graph. An example holds
the input at each node, the edges, and the answer (a node, or one of two outcomes)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal, Self

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from plmlab.example import Batch, Example

Kind = Literal["special", "either-or", "yes-no"]
"""Type of question: which node (who, where, when), which of two nodes, or whether a statement about two is true."""


@dataclass(frozen=True)
class CognitiveExample:
    """A question with its cognitive graph.

    ``nodes`` are the inputs of the nodes. ``edges`` are (source, target) pairs of node indices; the target was found in
    the source's paragraph. ``asked`` is (answer node,) for a special question. For a comparison it is (first node,
    second node, outcome), where outcome 1 means the second node, or yes. Raises ValueError if ``asked`` has the wrong
    length or a node does not exist.
    """

    nodes: tuple[Example, ...]
    edges: tuple[tuple[int, int], ...]
    kind: Kind
    asked: tuple[int, ...]

    def __post_init__(self) -> None:
        expected = 1 if self.kind == "special" else 3
        if len(self.asked) != expected:
            raise ValueError(f"asked={self.asked!s:.80}: a {self.kind} question needs {expected} numbers: (answer,) or "
                             "(first node, second node, 0 or 1)")
        inside = [*self.asked[:2], *(end for edge in self.edges for end in edge)]
        if not all(0 <= node < len(self.nodes) for node in inside):
            raise ValueError(f"node indices {sorted(set(inside))!s:.80} are used, but the {len(self.nodes)} nodes "
                             "count from 0")


def adjacency(edges: Iterable[tuple[int, int]], nodes: int) -> Bool[Tensor, "source target"]:
    """Adjacency matrix A, [source target]: True from a node to each node found in its paragraph; duplicate edges count
    once. Raises ValueError if an edge refers to a node that does not exist."""
    matrix = torch.zeros(nodes, nodes, dtype=torch.bool)
    for source, target in edges:
        if not (0 <= source < nodes and 0 <= target < nodes):
            raise ValueError(f"an edge goes from node {source} to node {target}, but the nodes are 0 to {nodes - 1}")
        matrix[source, target] = True
    return matrix


@dataclass(frozen=True)
class CognitiveBatch:
    """A batch of questions: all nodes in one `Batch`, all graphs in one disconnected graph.

    ``question`` is the index of each node's question; ``answers`` are the answer nodes of the special questions;
    ``either_or`` and ``yes_no`` have rows of (first node, second node, outcome).
    """

    reading: Batch
    edges: Bool[Tensor, "node node"]
    question: Int[Tensor, "node"]
    answers: Int[Tensor, "special"]
    either_or: Int[Tensor, "choice 3"]
    yes_no: Int[Tensor, "claim 3"]

    @classmethod
    def of(cls, examples: Sequence[CognitiveExample], *, pad: int) -> Self:
        """Collate; ``pad`` is the id of the padding token."""
        sizes = [len(example.nodes) for example in examples]
        first = [0, *accumulate(sizes)]
        edges = [(begin + source, begin + target) for example, begin in zip(examples, first, strict=False)
                 for source, target in example.edges]
        asked: dict[Kind, list[list[int]]] = {"special": [], "either-or": [], "yes-no": []}
        for example, begin in zip(examples, first, strict=False):
            asked[example.kind].append([*(begin + node for node in example.asked[:2]), *example.asked[2:]])
        return cls(
            Batch.of([node for example in examples for node in example.nodes], pad=pad),
            adjacency(edges, first[-1]),
            torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes)),
            torch.tensor(asked["special"], dtype=torch.long).flatten(),
            *(torch.tensor(asked[kind], dtype=torch.long).reshape(-1, 3) for kind in ("either-or", "yes-no")))

    @property
    def targets(self) -> Int[Tensor, "node time"]:
        """All IGNORE: no token is predicted."""
        return self.reading.targets

    def to(self, device: torch.device | str) -> Self:
        """Copy to a device."""
        return replace(self, reading=self.reading.to(device), **{name: getattr(self, name).to(device) for name in (
            "edges", "question", "answers", "either_or", "yes_no")})
