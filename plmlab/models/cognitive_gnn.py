"""System 2 of CogQA (Ding et al. 2019, §3.3–3.4): a graph neural network that updates node representations by message
passing and selects the answer among the nodes.

There are two versions of the adjacency matrix. In the paper's Δ = σ((AD⁻¹)ᵀ σ(XW₁)), D holds the column sums of A, so a
node without incoming edges would cause a division by 0; here its column stays zero, and the node receives no message.
The authors' code has 2I + A instead of A: every node has a self-loop with twice the weight of an incoming edge, and no
column is empty.

As in the authors' code but not in the paper: no activation function is applied to Δ itself, both rounds share their
weights, no layer has a bias, and there is a LayerNorm between the two layers of a predictor.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.layers.hooks import HookPoint

ROUNDS = 2


class GraphLayer(nn.Module):
    """One round of message passing: X′ = σ(XW₂ + Δ), Δ = Pᵀ σ(XW₁), where P is the normalized adjacency matrix."""

    def __init__(self, model: int) -> None:
        super().__init__()
        self.passed_on = nn.Linear(model, model, bias=False)
        self.retained = nn.Linear(model, model, bias=False)
        self.messages = HookPoint()
        self.updated = HookPoint()

    def forward(self, x: Float[Tensor, "node model"], shares: Float[Tensor, "node node"]
                ) -> Float[Tensor, "node model"]:
        """Update the node representations; ``shares[i, j]`` is the weight of the message from node i to node j."""
        delta = shares.T @ self.messages(F.gelu(self.passed_on(x)))
        return self.updated(F.gelu(self.retained(x) + delta))


class Predictor(nn.Module):
    """Two-layer MLP that maps a vector to a logit; the paper's "fully connected network" (全连接网络)."""

    def __init__(self, model: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Dropout(dropout), nn.Linear(model, model, bias=False), nn.GELU(),
                                    nn.LayerNorm(model), nn.Dropout(dropout), nn.Linear(model, 1, bias=False))

    def forward(self, x: Float[Tensor, "row model"]) -> Float[Tensor, "row"]:
        """One logit per row."""
        return self.layers(x).squeeze(-1)


class CognitiveGNN(nn.Module):
    """Graph neural network with three predictors and the paper's adjacency matrix.

    ``answer`` scores each node as the answer to a special question. ``either_or`` and ``yes_no`` compare two nodes by
    the difference of their representations from System 1, without using the graph.
    """

    def __init__(self, model: int, dropout: float) -> None:
        super().__init__()
        self.layer = GraphLayer(model)
        self.answer, self.either_or, self.yes_no = (Predictor(model, dropout) for _ in range(3))

    @staticmethod
    def shares(edges: Float[Tensor, "node node"]) -> Float[Tensor, "node node"]:
        """The normalized adjacency matrix AD⁻¹: each node receives the mean of its predecessors' messages, or none if
        it has no predecessor."""
        return edges / edges.sum(0).clamp(min=1)

    def forward(self, x: Float[Tensor, "node model"], edges: Bool[Tensor, "node node"]) -> Float[Tensor, "node"]:
        """Logit of each node after two rounds of message passing. Several graphs can be processed as one disconnected
        graph."""
        shares = self.shares(edges.to(x.dtype))
        for _ in range(ROUNDS):
            x = self.layer(x, shares)
        return self.answer(x)


class SelfLoopGNN(CognitiveGNN):
    """`CognitiveGNN` with the adjacency matrix of the authors' code, which has self-loops."""

    @staticmethod
    def shares(edges: Float[Tensor, "node node"]) -> Float[Tensor, "node node"]:
        """The adjacency matrix 2I + A, normalized so that each column sums to 1."""
        loops = edges + 2 * torch.eye(len(edges), dtype=edges.dtype, device=edges.device)
        return loops / loops.sum(0)
