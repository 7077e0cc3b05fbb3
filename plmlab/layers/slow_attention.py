"""Attention with the norm of a hidden layer as its score: "Slow Multi-Head Attention" of the Fast Autoregressive
Transformer (see `plmlab.models.fat`)."""

from math import prod, sqrt

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from plmlab.layers.attention import MultiHeadAttention, RelativePositions

MOST_NUMBERS = 2**24
"""Maximum number of elements of the hidden layer that is computed at once (64 MiB in float32)."""


def relu_norms(q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
               ) -> Float[Tensor, "batch head query key"]:
    """‖ReLU(q_i + k_j)‖₂ of every pair of a query and a key; its gradient is 0 where the norm is 0."""
    return torch.linalg.vector_norm((q[..., :, None, :] + k[..., None, :, :]).relu(), dim=-1)


class SlowAttention(MultiHeadAttention):
    """Multi-head attention with the scores e_ij = ‖ReLU(A q_i + B k_j)‖₂ / √d_k.

    A and B are shared by the heads and have no bias. The hidden layer is [batch head query key width], so neither a
    matrix product nor PyTorch's fused kernel can compute the scores. If it has more than `MOST_NUMBERS` elements, it is
    computed for some queries at a time, and again in the backward pass, so that the memory is bounded.
    """

    formula = "‖ReLU(A q + B k)‖₂ / √d_k"
    """How a score is computed, for the labs."""

    def __init__(self, model: int, heads: int, *, dropout: float = 0.0, bias: bool = True, width: int | None = None,
                 ) -> None:
        super().__init__(model, heads, dropout=dropout, bias=bias, width=width)
        self.width = width or model // heads
        self.query_map = nn.Linear(self.width, self.width, bias=False)
        self.key_map = nn.Linear(self.width, self.width, bias=False)

    def score(
        self, q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
        relative: RelativePositions | None = None,
    ) -> Float[Tensor, "batch head query key"]:
        """Score each query against each key."""
        q, k = self.query_map(q), self.key_map(k)
        rows = max(1, MOST_NUMBERS // prod(k.shape))
        if rows >= q.shape[2]:
            return relu_norms(q, k) / sqrt(self.width)
        parts = [checkpoint(relu_norms, part, k, use_reentrant=False) for part in q.split(rows, 2)]
        return torch.cat(parts, 2) / sqrt(self.width)
