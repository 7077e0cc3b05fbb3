"""How far apart two tokens stand (相对位置编码), put into the scores: Shaw et al. (2018), Transformer-XL (2019)."""

import torch
from einops import einsum
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.layers.attention import MultiHeadAttention
from plmlab.visibility import AttentionMask


class ShawAttention(MultiHeadAttention):
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
