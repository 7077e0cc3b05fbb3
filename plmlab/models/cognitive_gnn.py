"""System 2 of CogQA (Ding et al. 2019, §3.3–3.4): what was read at each node is passed along the edges, and the answer
is chosen among the nodes.

Two readings of the adjacency. The paper's Δ = σ((AD⁻¹)ᵀ σ(XW₁)) has in D the column sums of A, so a node that nobody
leads to divides by 0; here such a column stays zero, and the node hears nothing. The authors' code has 2I + A in the
place of A: every node hears itself twice as loudly as each of those before it, and no column is empty.

As in the authors' code and not in the paper: Δ itself is not bent once more, both rounds share their weights, no layer
has a bias, and a norm stands between the two layers of a predictor.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.layers.hooks import HookPoint

ROUNDS = 2


class GraphLayer(nn.Module):
    """X′ = σ(XW₂ + Δ), Δ = Pᵀ σ(XW₁): what a node was, and what those before it pass on; P tells how much of it."""

    def __init__(self, model: int) -> None:
        super().__init__()
        self.passed_on = nn.Linear(model, model, bias=False)
        self.retained = nn.Linear(model, model, bias=False)
        self.messages = HookPoint()
        self.updated = HookPoint()

    def forward(self, x: Float[Tensor, "node model"], shares: Float[Tensor, "node node"]
                ) -> Float[Tensor, "node model"]:
        """The nodes after a round; ``shares[i, j]`` is how much of what i says j hears."""
        delta = shares.T @ self.messages(F.gelu(self.passed_on(x)))
        return self.updated(F.gelu(self.retained(x) + delta))


class Predictor(nn.Module):
    """Two layers, from a vector to one number: what the paper calls a fully connected network (全连接网络)."""

    def __init__(self, model: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Dropout(dropout), nn.Linear(model, model, bias=False), nn.GELU(),
                                    nn.LayerNorm(model), nn.Dropout(dropout), nn.Linear(model, 1, bias=False))

    def forward(self, x: Float[Tensor, "row model"]) -> Float[Tensor, "row"]:
        """The logit of each row."""
        return self.layers(x).squeeze(-1)


class CognitiveGNN(nn.Module):
    """The graph network with its three predictors, by the paper's adjacency.

    ``answer`` says of each node how likely it is the answer of a special question. ``either_or`` and ``yes_no`` compare
    two nodes by the difference of what was read there, and see nothing of the graph.
    """

    def __init__(self, model: int, dropout: float) -> None:
        super().__init__()
        self.layer = GraphLayer(model)
        self.answer, self.either_or, self.yes_no = (Predictor(model, dropout) for _ in range(3))

    @staticmethod
    def shares(edges: Float[Tensor, "node node"]) -> Float[Tensor, "node node"]:
        """AD⁻¹: what each node hears, in equal shares from those before it; nothing where there are none."""
        return edges / edges.sum(0).clamp(min=1)

    def forward(self, x: Float[Tensor, "node model"], edges: Bool[Tensor, "node node"]) -> Float[Tensor, "node"]:
        """The logit of each node, after two rounds. Graphs side by side are one graph, in which they do not meet."""
        shares = self.shares(edges.to(x.dtype))
        for _ in range(ROUNDS):
            x = self.layer(x, shares)
        return self.answer(x)


class SelfLoopGNN(CognitiveGNN):
    """The same by the adjacency of the authors' code, in which each node hears itself too."""

    @staticmethod
    def shares(edges: Float[Tensor, "node node"]) -> Float[Tensor, "node node"]:
        """(2I + A) with columns that add up to 1."""
        loops = edges + 2 * torch.eye(len(edges), dtype=edges.dtype, device=edges.device)
        return loops / loops.sum(0)
