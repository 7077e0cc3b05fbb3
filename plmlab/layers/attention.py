"""Attention (注意力): every query looks at the keys it may see, and takes a weighted mean of their values."""

from contextlib import nullcontext
from dataclasses import dataclass
from math import sqrt
from typing import Any

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from plmlab.layers.hooks import HookPoint
from plmlab.visibility import AttentionMask


def scaled_dot_product(
    q: Float[Tensor, "*batch query width"], k: Float[Tensor, "*batch key width"],
) -> Float[Tensor, "*batch query key"]:
    """How well each query matches each key: qᵀk/√d_k (Vaswani et al. 2017, eq. 1)."""
    return q @ k.transpose(-2, -1) / sqrt(q.shape[-1])


def masked_softmax(
    scores: Float[Tensor, "*batch query key"], may_look: Bool[Tensor, "*#batch query key"] | None,
) -> Float[Tensor, "*batch query key"]:
    """The softmax over the keys that a query may look at; a query that may look nowhere gets zeros."""
    if may_look is None:
        return scores.softmax(-1)
    hidden = scores.masked_fill(~may_look, float("-inf"))
    return hidden.softmax(-1).masked_fill(~may_look.any(-1, keepdim=True), 0.0)


@dataclass
class Cache:
    """The keys and values of what was read before, so that it need not be read again."""

    k: Float[Tensor, "batch head time width"] | None = None
    v: Float[Tensor, "batch head time width"] | None = None

    @property
    def time(self) -> int:
        """How many slots are remembered."""
        return 0 if self.k is None else self.k.shape[2]

    def extend(self, k: Float[Tensor, "batch head new width"], v: Float[Tensor, "batch head new width"],
               ) -> tuple[Float[Tensor, "batch head time width"], Float[Tensor, "batch head time width"]]:
        """Remember new keys and values; returns all."""
        self.k = k if self.k is None else torch.cat([self.k, k], dim=2)
        self.v = v if self.v is None else torch.cat([self.v, v], dim=2)
        return self.k, self.v

    def forget(self, last: int) -> None:
        """Remember the last so many slots no longer."""
        if self.k is not None and self.v is not None:
            self.k, self.v = self.k[:, :, :-last], self.v[:, :, :-last]

    def select(self, rows: Tensor) -> None:
        """Keep these rows of the batch, in this order (a beam search drops some and doubles others)."""
        if self.k is not None and self.v is not None:
            self.k, self.v = self.k[rows], self.v[rows]


class MultiHeadAttention(nn.Module):
    """Multi-head attention (Vaswani et al. 2017, §3.2.2), from x to itself or across to a ``memory``.

    Fused, unless its ``scores`` or ``weights`` are watched; both ways agree. A variant with a ``score`` of its
    own is never fused; ``relation`` is what such a score knows of queries and keys besides their vectors, such as how
    they stand to one another, and means nothing to any other.
    """

    def __init__(self, model: int, heads: int, *, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        if model % heads:
            raise ValueError(f"a width of {model} cannot be split into {heads} heads of equal width")
        self.heads, self.dropout = heads, dropout
        self.q = nn.Linear(model, model, bias=bias)
        self.k = nn.Linear(model, model, bias=bias)
        self.v = nn.Linear(model, model, bias=bias)
        self.out = nn.Linear(model, model, bias=bias)
        self.queries, self.keys, self.values = HookPoint(), HookPoint(), HookPoint()
        self.scores, self.weights, self.mixed = HookPoint(), HookPoint(), HookPoint()

    def forward(
        self, x: Float[Tensor, "batch query model"], may_look: AttentionMask,
        memory: Float[Tensor, "batch key model"] | None = None, cache: Cache | None = None, relation: Any = None,
    ) -> Float[Tensor, "batch query model"]:
        """One step of looking; with a ``cache``, x is what comes after all that it remembers."""
        q = self.queries(self._split(self.q(x)))
        if memory is None:
            k, v = self._split(self.k(x)), self._split(self.v(x))
            if cache is not None:
                k, v = cache.extend(k, v)
        elif cache is not None and cache.k is not None and cache.v is not None:
            k, v = cache.k, cache.v
        else:
            k, v = self._split(self.k(memory)), self._split(self.v(memory))
            if cache is not None:
                cache.extend(k, v)
        mixed = self.mixed(self.attend(q, self.keys(k), self.values(v), may_look, relation))
        return self.out(rearrange(mixed, "batch head query width -> batch query (head width)"))

    def score(
        self, q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
        relation: Any = None,
    ) -> Float[Tensor, "batch head query key"]:
        """How well each query matches each key."""
        return scaled_dot_product(q, k)

    def attend(
        self, q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
        v: Float[Tensor, "batch head key width"], may_look: AttentionMask, relation: Any = None,
    ) -> Float[Tensor, "batch head query width"]:
        """softmax(QKᵀ/√d_k + mask) V, in every head at once (eq. 1)."""
        if self.scores.open or self.weights.open or type(self).score is not MultiHeadAttention.score:
            return self.weigh(q, k, may_look, relation) @ v
        return fused_attention(q, k, v, may_look, self.dropout if self.training else 0.0)

    def weigh(
        self, q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
        may_look: AttentionMask, relation: Any = None,
    ) -> Float[Tensor, "batch head query key"]:
        """The weights, written down: softmax(QKᵀ/√d_k + mask)."""
        scores = self.scores(self.score(q, k, relation))
        mask = may_look.dense(q.shape[2], k.shape[2])
        weights = self.weights(masked_softmax(scores, None if mask is None else mask.to(q.device)))
        return F.dropout(weights, self.dropout, self.training)

    def _split(self, x: Float[Tensor, "batch time model"]) -> Float[Tensor, "batch head time width"]:
        return rearrange(x, "batch time (head width) -> batch head time width", head=self.heads)


def fused_attention(
    q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
    v: Float[Tensor, "batch head key width"], may_look: AttentionMask, dropout: float,
) -> Float[Tensor, "batch head query width"]:
    """PyTorch's own kernel, which never writes the weights down; a mask is built only where one is needed."""
    query, key = q.shape[2], k.shape[2]
    if may_look.only_causal and query == key:
        return F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=query > 1)
    mask = None if may_look.only_causal and query == 1 else may_look.dense(query, key)
    if mask is not None:
        mask = mask.to(q.device)
    return masked_kernel(q, k, v, mask, dropout)


WITHOUT_CUDNN = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


def masked_kernel(
    q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
    v: Float[Tensor, "batch head key width"],
    mask: Bool[Tensor, "#batch #head query key"] | Float[Tensor, "#batch #head query key"] | None, dropout: float,
) -> Float[Tensor, "batch head query width"]:
    """PyTorch's own kernel with a mask, or with numbers to add to the scores; but not cuDNN's.

    That one, the first choice on an H100 or H200 from torch 2.11 on, gives gradients that are not finite where a query
    sees nothing and the number of keys is 64 more than a multiple of 128 (PyTorch's issue 196678).
    """
    with sdpa_kernel(WITHOUT_CUDNN) if q.is_cuda and mask is not None else nullcontext():
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)
