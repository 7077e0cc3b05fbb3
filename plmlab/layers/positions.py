"""Where a token stands (位置编码): added to its vector, or put into the scores."""

import torch
from einops import einsum
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.layers.attention import MultiHeadAttention
from plmlab.visibility import AttentionMask


def sinusoid(positions: Int[Tensor, "*batch time"], model: int, base: float = 10_000.0,
             ) -> Float[Tensor, "*batch time model"]:
    """sin(p/base^{2i/d}) in dimension 2i, cos of the same in 2i + 1 (Vaswani et al. 2017, §3.5)."""
    if model % 2:
        raise ValueError(f"sines and cosines come in pairs: the width must be even, {model} was given")
    even = torch.arange(0, model, 2, device=positions.device, dtype=torch.float64)
    angles = positions[..., None].double() / base ** (even / model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).to(torch.get_default_dtype())


class Sinusoidal(nn.Module):
    """The sinusoid as a table that is not learned. It is cheap to extend, so no text is too long."""

    table: Float[Tensor, "time model"]

    def __init__(self, model: int, base: float = 10_000.0) -> None:
        super().__init__()
        self.model, self.base = model, base
        self.register_buffer("table", sinusoid(torch.arange(512), model, base), persistent=False)

    def forward(self, positions: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time model"]:
        """The vector of each position."""
        longest = int(positions.max()) + 1
        if longest > len(self.table):
            self.table = sinusoid(torch.arange(longest), self.model, self.base).to(self.table)
        return self.table[positions]


class Learned(nn.Embedding):
    """A vector for each position, learned like a word's (BERT, GPT)."""

    def forward(self, positions: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time model"]:
        """The vector of each position; a ValueError where the text is longer than the table."""
        if positions.shape[1] > self.num_embeddings:
            raise ValueError(
                f"a text of {positions.shape[1]} tokens is too long: the model has learned "
                f"{self.num_embeddings} positions; shorten the text, or build a model with more"
            )
        return super().forward(positions)


class RelativeAttention(MultiHeadAttention):
    """Relative positions in keys and values (Shaw et al. 2018, eqs. 3–5).

    A distance j − i, clipped to ±``window``, has a vector a^K that is added to the key and a^V that is
    added to the value; the 2·window + 1 vectors are shared by the heads. As eq. 5 does, the scores are
    taken in two products, so that no key is ever copied for each query.
    """

    def __init__(self, model: int, heads: int, *, window: int = 16, dropout: float = 0.0, bias: bool = True,
                 ) -> None:
        super().__init__(model, heads, dropout=dropout, bias=bias)
        self.window = window
        self.key_distance = nn.Embedding(2 * window + 1, model // heads)
        self.value_distance = nn.Embedding(2 * window + 1, model // heads)

    def distance(self, query: int, key: int) -> Int[Tensor, "query key"]:
        """The row of the tables for each pair: j − i, clipped, counted from 0. The queries are the last of the keys."""
        device = self.key_distance.weight.device
        j, i = torch.arange(key, device=device), torch.arange(key - query, key, device=device)
        return (j[None, :] - i[:, None]).clamp(-self.window, self.window) + self.window

    def score(
        self, q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
    ) -> Float[Tensor, "batch head query key"]:
        """qᵀ(k + a^K)/√d_k."""
        a = self.key_distance(self.distance(q.shape[2], k.shape[2]))
        by_place = einsum(q, a, "batch head query width, query key width -> batch head query key")
        return super().score(q, k) + by_place / q.shape[-1] ** 0.5

    def attend(
        self, q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
        v: Float[Tensor, "batch head key width"], may_look: AttentionMask,
    ) -> Float[Tensor, "batch head query width"]:
        """Σ_j α_ij (v_j + a^V_{j−i})."""
        weights = self.weigh(q, k, may_look)
        a = self.value_distance(self.distance(q.shape[2], k.shape[2]))
        by_place = einsum(weights, a, "batch head query key, query key width -> batch head query width")
        return weights @ v + by_place
