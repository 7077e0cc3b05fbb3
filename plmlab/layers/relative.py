"""Relative position encodings (相对位置编码) in attention: Shaw, NEZHA, Transformer-XL, XLNet, T5, MPNet."""

from typing import Self

import torch
import torch.nn.functional as F
from einops import einsum, rearrange
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.layers.attention import Bias, MultiHeadAttention, RelativePositions
from plmlab.layers.hooks import HookPoint
from plmlab.layers.positions import Sinusoidal, sinusoid
from plmlab.layers.shape import LayerShape
from plmlab.visibility import AttentionMask

TERMS = ("content", "content_position", "global_content", "global_position")
"""Hook points of the terms (a), (b), (c) and (d) of Transformer-XL's score."""


class ClippedDistanceAttention(MultiHeadAttention):
    """Base class: attention with an encoding of the distance j − i, clipped to ±``window``, in keys and values.

    The encoding a^K of a distance is added to the key, and a^V to the value (Shaw et al. 2018, eqs. 3–5). Subclasses
    define the 2·window + 1 encodings, which all heads share. As in eq. 5, the scores are computed as the sum of two
    products, so that the keys need not be copied for each query.
    """

    window: int

    def encode_keys(self, distance: Int[Tensor, "query key"]) -> Float[Tensor, "query key width"]:
        """Encodings a^K, given the index of each (query, key) pair's clipped distance, from 0 to 2·window."""
        raise NotImplementedError

    def encode_values(self, distance: Int[Tensor, "query key"]) -> Float[Tensor, "query key width"]:
        """Encodings a^V, given the same indices."""
        raise NotImplementedError

    @classmethod
    def of(cls, shape: LayerShape) -> Self:
        """Build the attention module of a layer with this shape."""
        return cls(shape.model, shape.heads, dropout=shape.attention_dropout, bias=shape.bias)

    def distance(self, query: int, key: int) -> Int[Tensor, "query key"]:
        """Index of each (query, key) pair's distance: j − i, clipped and shifted to start at 0. The queries are the
        last keys."""
        device = self.q.weight.device
        j, i = torch.arange(key, device=device), torch.arange(key - query, key, device=device)
        return (j[None, :] - i[:, None]).clamp(-self.window, self.window) + self.window

    def score(
        self, q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
        relative: RelativePositions | None = None,
    ) -> Float[Tensor, "batch head query key"]:
        """Attention scores qᵀ(k + a^K)/√d_k."""
        a = self.encode_keys(self.distance(q.shape[2], k.shape[2]))  # [query key width]
        by_distance = einsum(q, a, "batch head query width, query key width -> batch head query key")
        return super().score(q, k) + by_distance / q.shape[-1] ** 0.5

    def attend(
        self, q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
        v: Float[Tensor, "batch head key width"], attn_mask: AttentionMask, bias: Bias | None = None,
        relative: RelativePositions | None = None,
    ) -> Float[Tensor, "batch head query width"]:
        """Weighted sums of the values, Σ_j α_ij (v_j + a^V_{j−i})."""
        weights = self.weigh(q, k, attn_mask, bias)
        a = self.encode_values(self.distance(q.shape[2], k.shape[2]))  # [query key width]
        by_distance = einsum(weights, a, "batch head query key, query key width -> batch head query width")
        return weights @ v + by_distance


class ShawAttention(ClippedDistanceAttention):
    """Attention with learned relative position embeddings in keys and values (Shaw et al. 2018)."""

    def __init__(self, model: int, heads: int, *, window: int = 16, dropout: float = 0.0, bias: bool = True,
                 ) -> None:
        super().__init__(model, heads, dropout=dropout, bias=bias)
        self.window = window
        self.key_distance = nn.Embedding(2 * window + 1, model // heads)
        self.value_distance = nn.Embedding(2 * window + 1, model // heads)

    def encode_keys(self, distance: Int[Tensor, "query key"]) -> Float[Tensor, "query key width"]:
        """Embeddings that are added to the keys."""
        return self.key_distance(distance)

    def encode_values(self, distance: Int[Tensor, "query key"]) -> Float[Tensor, "query key width"]:
        """Embeddings that are added to the values."""
        return self.value_distance(distance)


class FunctionalRelativeAttention(ClippedDistanceAttention):
    """Attention with functional relative position encodings (NEZHA: Wei et al. 2019, §2.2): a^K = a^V = the sinusoid of
    the clipped distance j − i, as wide as a head, with no learned parameters.

    Dimension 2k is sin((j − i)/10000^{2k/d_k}), dimension 2k + 1 the cosine. The authors' code takes the sinusoid of
    j − i + window, which rotates each pair of dimensions by a constant angle. Rotating the query, key and value
    projections by the same angle, and the output projection back, gives the same outputs, so the two compute the same
    functions with different weights. ``window`` is 64 as in the authors' pretraining code; their PyTorch configuration
    has 127. Raises ValueError if the width of a head is odd.
    """

    table: Float[Tensor, "distance width"]

    def __init__(self, model: int, heads: int, *, window: int = 64, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__(model, heads, dropout=dropout, bias=bias)
        self.window = window
        encodings = sinusoid(torch.arange(-window, window + 1), model // heads)
        self.register_buffer("table", encodings, persistent=False)

    def encode_keys(self, distance: Int[Tensor, "query key"]) -> Float[Tensor, "query key width"]:
        """Sinusoids that are added to the keys."""
        return self.table[distance]

    def encode_values(self, distance: Int[Tensor, "query key"]) -> Float[Tensor, "query key width"]:
        """Sinusoids that are added to the values, the same as for the keys."""
        return self.table[distance]


def relative_shift(by_distance: Float[Tensor, "*batch query distance"], keys: int,
                   ) -> Float[Tensor, "*batch query key"]:
    """Relative shift: turn columns indexed by distance into columns indexed by key (Dai et al. 2019, appendix B).

    The input columns are the distances i − j in decreasing order; the queries are the last of the ``keys``. Row i has
    to move left by ``query − 1 − i`` columns. Prepending a column of zeros and reshaping achieves this without
    indexing. Entries for keys after the query hold values from the next row and must be masked.
    """
    # 2 queries, 3 distances; 0 is the padding. Reshape to rows of 2, drop the first row, reshape to rows of 3:
    #   0 a b c      →  0 a | b c | 0 d | e f  →  b c 0
    #   0 d e f                                   d e f
    *batch, query, distance = by_distance.shape
    # [*batch query distance + 1], read as [*batch distance + 1 query]
    padded = F.pad(by_distance, (1, 0)).reshape(*batch, distance + 1, query)
    return padded[..., 1:, :].reshape(by_distance.shape)[..., :keys]  # [*batch query key]


class TransformerXLAttention(MultiHeadAttention):
    """Relative attention of Transformer-XL (Dai et al. 2019, §3.3): each score is the sum of four terms.

    (a) qᵀk, content–content; (b) qᵀW_{k,R}R_{i−j}, content–position; (c) uᵀk, global content bias; (d)
    vᵀW_{k,R}R_{i−j}, global position bias. R is the fixed sinusoidal encoding of the distance; u is ``content_bias``
    and v ``position_bias``. No projection has a bias. Each term, divided by √d_k, is a hook point; unless one of them
    is recorded, the terms are computed in pairs (equation 4). Distances beyond ``clamp`` are clamped to it.

    Differences from the paper: each layer has its own u and v, as in the authors' TensorFlow runs on WikiText-103
    (untie_r); sines and cosines alternate in R, whereas the paper has all sines first; there is no dropout on R.
    """

    def __init__(self, model: int, heads: int, *, dropout: float = 0.0) -> None:
        super().__init__(model, heads, dropout=dropout, bias=False)
        self.clamp: int | None = None
        self.sinusoid = Sinusoidal(model)
        self.r = nn.Linear(model, model, bias=False)
        self.content_bias = nn.Parameter(0.02 * torch.randn(heads, model // heads))
        self.position_bias = nn.Parameter(0.02 * torch.randn(heads, model // heads))
        self.content, self.content_position = HookPoint(), HookPoint()
        self.global_content, self.global_position = HookPoint(), HookPoint()

    @classmethod
    def of(cls, shape: LayerShape) -> Self:
        """Build the attention module of a layer with this shape; its projections never have biases."""
        return cls(shape.model, shape.heads, dropout=shape.attention_dropout)

    def score(
        self, q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
        relative: RelativePositions | None = None,
    ) -> Float[Tensor, "batch head query key"]:
        """Sum of the four terms, divided by √d_k. The queries are the last keys."""
        key, root = k.shape[2], q.shape[3] ** 0.5
        # [head 1 width], [head 1 width], [head distance width]
        u, v, r = self.content_bias[:, None], self.position_bias[:, None], self.relative_keys(key)
        if not any(getattr(self, term).open for term in TERMS):
            # (a) + (c) and (b) + (d), [batch head query key]
            return ((q + u) @ k.mT + self.shift((q + v) @ r.mT, key, relative)) / root
        return (self.content(q @ k.mT / root)
                + self.content_position(self.shift(q @ r.mT, key, relative) / root)
                + self.global_content(u.expand_as(q) @ k.mT / root)
                + self.global_position(self.shift(v.expand_as(q) @ r.mT, key, relative) / root))

    def shift(self, by_distance: Float[Tensor, "batch head query distance"], keys: int,
              relative: RelativePositions | None) -> Float[Tensor, "batch head query key"]:
        """Turn columns indexed by distance into columns indexed by key."""
        return relative_shift(by_distance, keys)

    def distances(self, key: int) -> Int[Tensor, "distance"]:
        """All possible distances from a query back to a key, in decreasing order: key − 1, …, 0."""
        return torch.arange(key - 1, -1, -1, device=self.r.weight.device)

    def relative_keys(self, key: int) -> Float[Tensor, "head distance width"]:
        """Projected encodings of the distances: W_{k,R}R."""
        distances = self.distances(key)
        if self.clamp is not None:
            distances = distances.clamp(-self.clamp, self.clamp)
        return rearrange(self.r(self.sinusoid(distances[None])), "1 distance (head width) -> head distance width",
                         head=self.heads)


class XLNetAttention(TransformerXLAttention):
    """Transformer-XL's four terms with keys on both sides, plus relative segment encodings (Yang et al. 2019, §2.5).

    The segment term is (q + b)ᵀs. In each head, s is s₊ if query and key belong to the same segment and s₋ otherwise; b
    is ``segment_bias``. The term depends only on whether the segments are equal, not on which they are. Queries can be
    at any index (`RelativePositions`); the columns are then gathered, because the relative shift does not apply. The
    hook point of the segment term is ``by_segment``.
    """

    def __init__(self, model: int, heads: int, *, dropout: float = 0.0) -> None:
        super().__init__(model, heads, dropout=dropout)
        self.segments = nn.Parameter(0.02 * torch.randn(2, heads, model // heads))
        self.segment_bias = nn.Parameter(0.02 * torch.randn(heads, model // heads))
        self.by_segment = HookPoint()

    def score(  # type: ignore[override]
        self, q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
        relative: RelativePositions,
    ) -> Float[Tensor, "batch head query key"]:
        """Sum of the five terms, divided by √d_k."""
        # [batch head query 1] each
        same, other = einsum(q + self.segment_bias[:, None], self.segments,
                             "batch head query width, pair head width -> pair batch head query")[..., None]
        by_segment = torch.where(relative.same_segment[:, None], same, other) / q.shape[3] ** 0.5
        return super().score(q, k, relative) + self.by_segment(by_segment)

    def shift(  # type: ignore[override]
        self, by_distance: Float[Tensor, "batch head query distance"], keys: int, relative: RelativePositions,
    ) -> Float[Tensor, "batch head query key"]:
        """Turn columns indexed by signed distance into columns indexed by key."""
        if relative.positions is None:
            return relative_shift(by_distance, keys)
        ahead = torch.arange(keys, device=by_distance.device) - relative.positions[..., None]  # [batch query key]
        columns = (ahead + keys - 1)[:, None].expand(-1, self.heads, -1, -1)  # [batch head query key]
        return by_distance.gather(-1, columns)

    def distances(self, key: int) -> Int[Tensor, "distance"]:
        """All possible signed distances from a query back to a key, negative for later keys: key − 1, …, 1 − key."""
        return torch.arange(key - 1, -key, -1, device=self.r.weight.device)


def relative_position_bucket(distance: Int[Tensor, "*batch"], buckets: int = 32, max_distance: int = 128) -> Int[Tensor,
                                                                                                             "*batch"]:
    """T5's relative position bucket of a backward distance (Raffel et al. 2020, §2.1; formula of the authors' code).

    The first half of the buckets hold one distance each: 0, 1, 2, …. The others are spaced logarithmically up to
    ``max_distance``; all larger distances share the last bucket. Negative distances (later keys) are treated as 0. A
    bidirectional encoder has ``buckets // 2`` buckets for each direction.
    """
    near = buckets // 2
    back = distance.clamp(min=0)
    ratio = torch.log(back.clamp(min=near).double() / near) / torch.tensor(max_distance / near).double().log()
    far = near + (ratio * (buckets - near)).long()
    return torch.where(back < near, back, far.clamp(max=buckets - 1))


class RelativePositionBias(nn.Embedding):
    """Relative position bias: a learned scalar per bucket and head, added to the scores (T5's encoder; MPNet).

    Half of the buckets are for keys before the query, half for keys after it; see `relative_position_bucket`.
    """

    def forward(  # type: ignore[override]
        self, query: Int[Tensor, "batch query"], key: Int[Tensor, "batch key"],
    ) -> Float[Tensor, "batch head query key"]:
        """Compute the bias for queries and keys at these positions."""
        back = query[:, :, None] - key[:, None, :]  # [batch query key]
        max_distance = int(back.abs().max())
        biases = super().forward(self.bucket_of(torch.arange(-max_distance, max_distance + 1, device=back.device)))
        return rearrange(biases[back + max_distance], "batch query key head -> batch head query key")

    def bucket_of(self, back: Int[Tensor, "distance"]) -> Int[Tensor, "distance"]:
        """Bucket of each backward distance; negative distances are keys after the query."""
        side = self.num_embeddings // 2
        return relative_position_bucket(back.abs(), side) + side * (back < 0)


class CausalRelativePositionBias(RelativePositionBias):
    """Relative position bias for causal attention: all buckets are for keys before the query (T5's decoder)."""

    def bucket_of(self, back: Int[Tensor, "distance"]) -> Int[Tensor, "distance"]:
        """Bucket of each backward distance."""
        return relative_position_bucket(back, self.num_embeddings)
