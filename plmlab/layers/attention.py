"""Attention (注意力): every query attends to its visible keys and takes a weighted mean of their values."""

from contextlib import nullcontext
from dataclasses import dataclass
from math import sqrt
from typing import Self

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from plmlab.layers.hooks import HookPoint
from plmlab.layers.shape import LayerShape
from plmlab.visibility import AttentionMask


def scaled_dot_product(
    q: Float[Tensor, "*batch query width"], k: Float[Tensor, "*batch key width"],
) -> Float[Tensor, "*batch query key"]:
    """Scaled dot-product scores, qᵀk/√d_k (Vaswani et al. 2017, eq. 1)."""
    return q @ k.transpose(-2, -1) / sqrt(q.shape[-1])


def masked_softmax(
    scores: Float[Tensor, "*batch query key"], attn_mask: Bool[Tensor, "*#batch query key"] | None,
) -> Float[Tensor, "*batch query key"]:
    """Softmax over the keys that a query can attend to; a query that can attend to no key gets all zeros."""
    if attn_mask is None:
        return scores.softmax(-1)
    masked = scores.masked_fill(~attn_mask, float("-inf"))
    return masked.softmax(-1).masked_fill(~attn_mask.any(-1, keepdim=True), 0.0)


@dataclass
class Cache:
    """Key–value cache: the keys and values of earlier positions, so that they are not recomputed."""

    k: Float[Tensor, "batch head time width"] | None = None
    v: Float[Tensor, "batch head time width"] | None = None

    @property
    def time(self) -> int:
        """Number of cached positions."""
        return 0 if self.k is None else self.k.shape[2]

    def extend(self, k: Float[Tensor, "batch head new width"], v: Float[Tensor, "batch head new width"],
               ) -> tuple[Float[Tensor, "batch head time width"], Float[Tensor, "batch head time width"]]:
        """Append new keys and values. Returns all keys and values."""
        self.k = k if self.k is None else torch.cat([self.k, k], dim=2)
        self.v = v if self.v is None else torch.cat([self.v, v], dim=2)
        return self.k, self.v

    def forget(self, last: int) -> None:
        """Drop the ``last`` most recent positions."""
        if self.k is not None and self.v is not None:
            self.k, self.v = self.k[:, :, :-last], self.v[:, :, :-last]

    def select(self, rows: Tensor) -> None:
        """Keep only the given batch rows, in the given order (beam search drops some rows and duplicates others)."""
        if self.k is not None and self.v is not None:
            self.k, self.v = self.k[rows], self.v[rows]


Bias = Float[Tensor, "#batch #head query key"]
"""A bias added to the attention scores."""


@dataclass(frozen=True)
class RelativePositions:
    """Relative positions and segments of queries and keys, for attention scores that depend on them (`XLNetAttention`).

    Attributes:
        same_segment: True where query and key belong to the same segment.
        positions: index of each query among the keys; None if the queries are the last keys, in order.
    """

    same_segment: Bool[Tensor, "batch query key"]
    positions: Int[Tensor, "batch query"] | None = None


class MultiHeadAttention(nn.Module):
    """Multi-head attention (Vaswani et al. 2017, §3.2.2): self-attention, or cross-attention to a ``memory``.

    Uses PyTorch's fused kernel unless ``scores`` or ``weights`` are being recorded; both paths give the same output. A
    subclass that overrides ``score`` never uses the fused kernel. ``relative`` is passed to ``score``; the default
    ``score`` ignores it. ``bias`` is added to every score. ``width`` is the width of a head, d_k (default: model /
    heads).
    """

    scale: float | None = None
    """Factor applied to qᵀk; None means 1/√d_k."""

    def __init__(self, model: int, heads: int, *, dropout: float = 0.0, bias: bool = True, width: int | None = None,
                 ) -> None:
        super().__init__()
        if width is None and model % heads:
            raise ValueError(f"the model width ({model}) must be divisible by the number of heads ({heads})")
        self.heads, self.dropout = heads, dropout
        inner = heads * (width or model // heads)
        self.q = nn.Linear(model, inner, bias=bias)
        self.k = nn.Linear(model, inner, bias=bias)
        self.v = nn.Linear(model, inner, bias=bias)
        self.out = nn.Linear(inner, model, bias=bias)
        self.queries, self.keys, self.values = HookPoint(), HookPoint(), HookPoint()
        self.scores, self.weights, self.mixed = HookPoint(), HookPoint(), HookPoint()

    @classmethod
    def of(cls, shape: LayerShape) -> Self:
        """Build the attention module of a layer with this shape."""
        return cls(shape.model, shape.heads, dropout=shape.attention_dropout, bias=shape.bias, width=shape.width)

    def forward(
        self, x: Float[Tensor, "batch query model"], attn_mask: AttentionMask,
        memory: Float[Tensor, "batch key model"] | None = None, cache: Cache | None = None,
        bias: Bias | None = None, relative: RelativePositions | None = None,
    ) -> Float[Tensor, "batch query model"]:
        """Attend from ``x`` to itself or to ``memory``; with a ``cache``, ``x`` continues the cached positions."""
        q = self.queries(self._split(self.q(x)))  # [batch head query width]
        if memory is None:
            k, v = self._split(self.k(x)), self._split(self.v(x))  # [batch head key width]
            if cache is not None:
                k, v = cache.extend(k, v)
        elif cache is not None and cache.k is not None and cache.v is not None:
            k, v = cache.k, cache.v
        else:
            k, v = self._split(self.k(memory)), self._split(self.v(memory))
            if cache is not None:
                cache.extend(k, v)
        # [batch head query width]
        mixed = self.mixed(self.attend(q, self.keys(k), self.values(v), attn_mask, bias, relative))
        return self.out(rearrange(mixed, "batch head query width -> batch query (head width)"))

    def score(
        self, q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
        relative: RelativePositions | None = None,
    ) -> Float[Tensor, "batch head query key"]:
        """Score each query against each key."""
        return scaled_dot_product(q, k) if self.scale is None else q @ k.mT * self.scale

    def attend(
        self, q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
        v: Float[Tensor, "batch head key width"], attn_mask: AttentionMask,
        bias: Bias | None = None, relative: RelativePositions | None = None,
    ) -> Float[Tensor, "batch head query width"]:
        """softmax(QKᵀ/√d_k + bias + mask) V, in all heads in parallel (eq. 1)."""
        if self.scores.open or self.weights.open or type(self).score is not MultiHeadAttention.score:
            return self.weigh(q, k, attn_mask, bias, relative) @ v
        return fused_attention(q, k, v, attn_mask, self.dropout if self.training else 0.0, bias, self.scale)

    def weigh(
        self, q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
        attn_mask: AttentionMask, bias: Bias | None = None, relative: RelativePositions | None = None,
    ) -> Float[Tensor, "batch head query key"]:
        """Compute the attention weights explicitly: softmax(QKᵀ/√d_k + bias + mask)."""
        scores = self.score(q, k, relative)  # [batch head query key]
        scores = self.scores(scores if bias is None else scores + bias)
        mask = attn_mask.dense(q.shape[2], k.shape[2])
        weights = self.weights(masked_softmax(scores, None if mask is None else mask.to(q.device)))
        return F.dropout(weights, self.dropout, self.training)

    def _split(self, x: Float[Tensor, "batch time model"]) -> Float[Tensor, "batch head time width"]:
        return rearrange(x, "batch time (head width) -> batch head time width", head=self.heads)


class UnscaledAttention(MultiHeadAttention):
    """Attention with unscaled scores qᵀk, not divided by √d_k (T5, which initializes its weights smaller instead)."""

    scale = 1.0
    formula = "q·k"
    """How a score is computed, for the labs."""


def fused_attention(
    q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
    v: Float[Tensor, "batch head key width"], attn_mask: AttentionMask, dropout: float, bias: Bias | None = None,
    scale: float | None = None,
) -> Float[Tensor, "batch head query width"]:
    """Attention with PyTorch's fused kernel, which never materializes the weights; builds a dense mask only if
    needed."""
    query, key = q.shape[2], k.shape[2]
    if attn_mask.only_causal and query == key and bias is None:
        return F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=query > 1, scale=scale)
    mask = None if attn_mask.only_causal and query == 1 else attn_mask.dense(query, key)
    if mask is not None:
        mask = mask.to(q.device)
    if bias is None:
        return masked_kernel(q, k, v, mask, dropout, scale)
    return masked_kernel(q, k, v, bias if mask is None else bias.masked_fill(~mask, float("-inf")), dropout, scale)


WITHOUT_CUDNN = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


def masked_kernel(
    q: Float[Tensor, "batch head query width"], k: Float[Tensor, "batch head key width"],
    v: Float[Tensor, "batch head key width"],
    mask: Bool[Tensor, "#batch #head query key"] | Float[Tensor, "#batch #head query key"] | None, dropout: float,
    scale: float | None = None,
) -> Float[Tensor, "batch head query width"]:
    """Call PyTorch's fused kernel with a Boolean or an additive mask, excluding the cuDNN backend.

    cuDNN, the first choice on an H100 or H200 since torch 2.11, gives non-finite gradients if a query can attend to no
    key and the number of keys is a multiple of 128 plus 64 (PyTorch issue 196678).
    """
    with sdpa_kernel(WITHOUT_CUDNN) if q.is_cuda and mask is not None else nullcontext():
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout, scale=scale)
