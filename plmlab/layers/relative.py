"""How far apart two tokens stand (相对位置编码), put into the scores: Shaw, Transformer-XL, XLNet, T5, MPNet."""

from typing import Self

import torch
import torch.nn.functional as F
from einops import einsum, rearrange
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.layers.attention import Bias, MultiHeadAttention, RelativePositions
from plmlab.layers.hooks import HookPoint
from plmlab.layers.positions import Sinusoidal
from plmlab.layers.shape import LayerShape
from plmlab.visibility import AttentionMask

TERMS = ("content", "content_position", "global_content", "global_position")
"""The hook points of the terms (a), (b), (c) and (d) of a Transformer-XL's score."""


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

    @classmethod
    def of(cls, shape: LayerShape) -> Self:
        """That of a layer of this shape."""
        return cls(shape.model, shape.heads, dropout=shape.attention_dropout, bias=shape.bias)

    def distance(self, query: int, key: int) -> Int[Tensor, "query key"]:
        """The row of the tables for each pair: j − i, clipped, counted from 0. The queries are the last of the keys."""
        device = self.key_distance.weight.device
        j, i = torch.arange(key, device=device), torch.arange(key - query, key, device=device)
        return (j[None, :] - i[:, None]).clamp(-self.window, self.window) + self.window

    def score(
        self, q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
        relative: RelativePositions | None = None,
    ) -> Float[Tensor, "batch head query key"]:
        """qᵀ(k + a^K)/√d_k."""
        a = self.key_distance(self.distance(q.shape[2], k.shape[2]))
        by_place = einsum(q, a, "batch head query width, query key width -> batch head query key")
        return super().score(q, k) + by_place / q.shape[-1] ** 0.5

    def attend(
        self, q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
        v: Float[Tensor, "batch head key width"], attn_mask: AttentionMask, bias: Bias | None = None,
        relative: RelativePositions | None = None,
    ) -> Float[Tensor, "batch head query width"]:
        """Σ_j α_ij (v_j + a^V_{j−i})."""
        weights = self.weigh(q, k, attn_mask, bias)
        a = self.value_distance(self.distance(q.shape[2], k.shape[2]))
        by_place = einsum(weights, a, "batch head query key, query key width -> batch head query width")
        return weights @ v + by_place


def relative_shift(by_distance: Float[Tensor, "*batch query distance"], keys: int,
                   ) -> Float[Tensor, "*batch query key"]:
    """From a column for each distance to a column for each key (Dai et al. 2019, appendix B).

    The columns are distances i − j, the farthest key of the last query first; the queries are the last of ``keys``.
    Row i must move left by ``query − 1 − i`` columns. One column of zeros before all, and the same numbers read off in
    rows of another length, do that without an index. Where a key would lie behind the last distance, a number of the
    next row stands: such cells must be masked.
    """
    *batch, query, distance = by_distance.shape
    padded = F.pad(by_distance, (1, 0)).reshape(*batch, distance + 1, query)
    return padded[..., 1:, :].reshape(by_distance.shape)[..., :keys]


class TransformerXLAttention(MultiHeadAttention):
    """Relative attention of Transformer-XL (Dai et al. 2019, §3.3): a score is the sum of four terms.

    (a) qᵀk, content; (b) qᵀW_{k,R}R_{i−j}, where this query looks; (c) uᵀk, which keys all look at; (d)
    vᵀW_{k,R}R_{i−j}, where all look. R is the sinusoid of the distance, and is not learned; u is ``content_bias``, v
    ``position_bias``. No projection has a bias. Each term, divided by √d_k, is a hook point; while none is watched,
    they are computed two by two (equation 4). Distances beyond ``clamp`` count as ``clamp``.

    Where it differs from the paper: u and v are each layer's own, as in the authors' TensorFlow runs on
    WikiText-103 (untie_r); R's dimensions stand sine beside cosine, theirs all sines first; there is no dropout on R.
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
        """That of a layer of this shape; it has no biases, whatever else in the layer has."""
        return cls(shape.model, shape.heads, dropout=shape.attention_dropout)

    def score(
        self, q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
        relative: RelativePositions | None = None,
    ) -> Float[Tensor, "batch head query key"]:
        """The sum of the four terms, divided by √d_k; the queries are the last of the keys."""
        key, root = k.shape[2], q.shape[3] ** 0.5
        u, v, r = self.content_bias[:, None], self.position_bias[:, None], self.places(key)
        if not any(getattr(self, term).open for term in TERMS):
            return ((q + u) @ k.mT + self.shift((q + v) @ r.mT, key, relative)) / root
        return (self.content(q @ k.mT / root)
                + self.content_position(self.shift(q @ r.mT, key, relative) / root)
                + self.global_content(u.expand_as(q) @ k.mT / root)
                + self.global_position(self.shift(v.expand_as(q) @ r.mT, key, relative) / root))

    def shift(self, by_distance: Float[Tensor, "batch head query distance"], keys: int,
              relative: RelativePositions | None) -> Float[Tensor, "batch head query key"]:
        """From a column for each distance to a column for each key."""
        return relative_shift(by_distance, keys)

    def distances(self, key: int) -> Int[Tensor, "distance"]:
        """How many positions back the keys can stand: key − 1 … 0."""
        return torch.arange(key - 1, -1, -1, device=self.r.weight.device)

    def places(self, key: int) -> Float[Tensor, "head distance width"]:
        """W_{k,R}R of the distances."""
        distances = self.distances(key)
        if self.clamp is not None:
            distances = distances.clamp(-self.clamp, self.clamp)
        return rearrange(self.r(self.sinusoid(distances[None])), "1 distance (head width) -> head distance width",
                         head=self.heads)


class XLNetAttention(TransformerXLAttention):
    """Transformer-XL's four terms on keys of both sides, and one for the segments (Yang et al. 2019, §2.5).

    (q + b)ᵀs: s is s₊ where query and key are of one segment and s₋ where they are of two, in each head; b is
    ``segment_bias``. Which segment that is tells nothing. A query may stand at any position (`RelativePositions`): its
    columns are then taken by an index, for no shift fits. The segments' term is the hook point ``by_segment``.
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
        """The sum of the five terms, divided by √d_k."""
        same, other = einsum(q + self.segment_bias[:, None], self.segments,
                             "batch head query width, pair head width -> pair batch head query")[..., None]
        by_segment = torch.where(relative.same_segment[:, None], same, other) / q.shape[3] ** 0.5
        return super().score(q, k, relative) + self.by_segment(by_segment)

    def shift(  # type: ignore[override]
        self, by_distance: Float[Tensor, "batch head query distance"], keys: int, relative: RelativePositions,
    ) -> Float[Tensor, "batch head query key"]:
        """From a column for each distance to a column for each key, of either side."""
        if relative.positions is None:
            return relative_shift(by_distance, keys)
        ahead = torch.arange(keys, device=by_distance.device) - relative.positions[..., None]
        columns = (ahead + keys - 1)[:, None].expand(-1, self.heads, -1, -1)
        return by_distance.gather(-1, columns)

    def distances(self, key: int) -> Int[Tensor, "distance"]:
        """How many positions back a key can stand, or, below 0, ahead: key − 1 … 1 − key."""
        return torch.arange(key - 1, -key, -1, device=self.r.weight.device)


def relative_position_bucket(distance: Int[Tensor, "*places"], buckets: int = 32,
                             farthest: int = 128) -> Int[Tensor, "*places"]:
    """T5's bucket of a key so many places back (Raffel et al. 2020, §2.1; the formula is that of the authors' code).

    Half the buckets hold one distance each: 0, 1, 2, …. The others grow with the logarithm of the distance, up to
    ``farthest``; all beyond share the last. A key that comes later counts as 0 back. An encoder, which looks both ways,
    has ``buckets // 2`` of these for each side.
    """
    near = buckets // 2
    back = distance.clamp(min=0)
    ratio = torch.log(back.clamp(min=near).double() / near) / torch.tensor(farthest / near).double().log()
    far = near + (ratio * (buckets - near)).long()
    return torch.where(back < near, back, far.clamp(max=buckets - 1))


class RelativePositionBias(nn.Embedding):
    """A number of each head for each bucket of distances: what is added to a score (T5's encoder; MPNet).

    Half the buckets are of keys before the query, half of keys behind it; which distances share one,
    `relative_position_bucket` says.
    """

    def forward(  # type: ignore[override]
        self, query: Int[Tensor, "batch query"], key: Int[Tensor, "batch key"],
    ) -> Float[Tensor, "batch head query key"]:
        """What is added, of queries and keys at these positions."""
        back = query[:, :, None] - key[:, None, :]
        farthest = int(back.abs().max())
        added = super().forward(self.bucket_of(torch.arange(-farthest, farthest + 1, device=back.device)))
        return rearrange(added[back + farthest], "batch query key head -> batch head query key")

    def bucket_of(self, back: Int[Tensor, "distance"]) -> Int[Tensor, "distance"]:
        """The bucket of a key so many places back; ahead, where that is negative."""
        side = self.num_embeddings // 2
        return relative_position_bucket(back.abs(), side) + side * (back < 0)


class CausalRelativePositionBias(RelativePositionBias):
    """The same where no query sees a key behind it: all buckets are of keys before (T5's decoder)."""

    def bucket_of(self, back: Int[Tensor, "distance"]) -> Int[Tensor, "distance"]:
        """The bucket of a key so many places back."""
        return relative_position_bucket(back, self.num_embeddings)
