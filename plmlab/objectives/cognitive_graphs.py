"""A question of several hops as CogQA is trained on it (Ding et al. 2019, §3.4): what is read at each node of its
graph, who was found from whom, and which node, or which of two outcomes, is the answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal, Self

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from plmlab.example import Batch, Example

Kind = Literal["special", "either-or", "yes-no"]
"""What is asked: which node (who, where, when), which of two, or whether something holds of two."""


@dataclass(frozen=True)
class CognitiveExample:
    """A question. ``nodes`` is what is read at each node, ``edges`` go by their numbers, from the node where something
    was read to the one that was found there.

    Of a special question ``asked`` is (the node that is the answer,). Of the others it is (one node, the other, the
    outcome): 1 for the second of two, or for yes.
    """

    nodes: tuple[Example, ...]
    edges: tuple[tuple[int, int], ...]
    kind: Kind
    asked: tuple[int, ...]

    def __post_init__(self) -> None:
        wanted = 1 if self.kind == "special" else 3
        if len(self.asked) != wanted:
            raise ValueError(f"{self.asked!s:.80} was given as what is asked; a {self.kind} question asks {wanted} "
                             "numbers: (answer,), or (one node, the other, 0 or 1)")
        inside = [*self.asked[:2], *(end for edge in self.edges for end in edge)]
        if not all(0 <= node < len(self.nodes) for node in inside):
            raise ValueError(f"nodes {sorted(set(inside))!s:.80} are named, and there are {len(self.nodes)}, counted "
                             "from 0")


def adjacency(edges: Iterable[tuple[int, int]], nodes: int) -> Bool[Tensor, "source target"]:
    """A: true from a node to each that was found from it. An edge that stands twice counts once. ValueError for one
    from or to a node that is not there."""
    found = torch.zeros(nodes, nodes, dtype=torch.bool)
    for source, target in edges:
        if not (0 <= source < nodes and 0 <= target < nodes):
            raise ValueError(f"an edge goes from node {source} to node {target}, and the nodes are 0 to {nodes - 1}")
        found[source, target] = True
    return found


@dataclass(frozen=True)
class CognitiveBatch:
    """Several questions: all of their nodes in one reading, all of their graphs as one whose parts do not meet.

    ``question`` is the number of the question that a node belongs to, ``answers`` the answer of each special question;
    ``either_or`` and ``yes_no`` are rows of (one node, the other, outcome).
    """

    reading: Batch
    edges: Bool[Tensor, "node node"]
    question: Int[Tensor, "node"]
    answers: Int[Tensor, "special"]
    either_or: Int[Tensor, "choice 3"]
    yes_no: Int[Tensor, "claim 3"]

    @classmethod
    def of(cls, examples: Sequence[CognitiveExample], *, pad: int) -> Self:
        """Collate; ``pad`` is the id that fills the shorter texts up."""
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
        """No position predicts a token."""
        return self.reading.targets

    def to(self, device: torch.device | str) -> Self:
        """The same on another device."""
        return replace(self, reading=self.reading.to(device), **{name: getattr(self, name).to(device) for name in (
            "edges", "question", "answers", "either_or", "yes_no")})
