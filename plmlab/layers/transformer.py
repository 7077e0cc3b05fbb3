"""The Transformer layer: attention and feed-forward network, each with a residual connection and a norm (Vaswani et al.
2017, §3.1)."""

from collections.abc import Callable
from functools import partial

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.layers.attention import Bias, Cache, MultiHeadAttention
from plmlab.layers.hooks import HookPoint
from plmlab.layers.shape import LayerShape
from plmlab.visibility import AttentionMask

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
}


class FeedForward(nn.Module):
    """Position-wise feed-forward network, Act(xW₁ + b₁)W₂ + b₂ (eq. 2)."""

    def __init__(self, shape: LayerShape) -> None:
        super().__init__()
        self.up = nn.Linear(shape.model, shape.inner, bias=shape.bias)
        self.down = nn.Linear(shape.inner, shape.model, bias=shape.bias)
        self.activation = ACTIVATIONS[shape.activation]
        self.inner = HookPoint()

    def forward(self, x: Float[Tensor, "batch time model"]) -> Float[Tensor, "batch time model"]:
        """Apply the network to every position independently."""
        return self.down(self.inner(self.activation(self.up(x))))  # model → inner → model


class GatedFeedForward(FeedForward):
    """Gated feed-forward network, (Act(xW₁) ⊙ xV)W₂; with GELU, GEGLU (Shazeer 2020; T5 v1.1)."""

    def __init__(self, shape: LayerShape) -> None:
        super().__init__(shape)
        self.gate = nn.Linear(shape.model, shape.inner, bias=shape.bias)

    def forward(self, x: Float[Tensor, "batch time model"]) -> Float[Tensor, "batch time model"]:
        """Apply the network to every position independently."""
        return self.down(self.inner(self.activation(self.gate(x)) * self.up(x)))  # model → inner → model


class Residual(nn.Module):
    """Base class: residual connection around a sublayer, with dropout and one norm. Subclasses define where the norm is
    applied."""

    def __init__(self, shape: LayerShape) -> None:
        super().__init__()
        self.norm = shape.norm(shape.model, eps=shape.eps)
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, x: Float[Tensor, "batch time model"], f: Callable[[Tensor], Tensor],
                ) -> Float[Tensor, "batch time model"]:
        """Apply the sublayer ``f`` with residual connection and norm."""
        raise NotImplementedError

    @staticmethod
    def final_norm(shape: LayerShape) -> nn.Module:
        """Normalization applied to the last layer's output."""
        raise NotImplementedError


class PostNorm(Residual):
    """Post-norm, LayerNorm(x + f(x)), as in the original Transformer: every sublayer output is normalized."""

    def forward(self, x: Float[Tensor, "batch time model"], f: Callable[[Tensor], Tensor],
                ) -> Float[Tensor, "batch time model"]:
        """Apply the sublayer ``f`` with residual connection and norm."""
        return self.norm(x + self.dropout(f(x)))

    @staticmethod
    def final_norm(shape: LayerShape) -> nn.Module:
        """The identity, because the last output is already normalized."""
        return nn.Identity()


class PreNorm(Residual):
    """Pre-norm, x + f(LayerNorm(x)): the residual stream is normalized only after the last layer (GPT-2)."""

    def forward(self, x: Float[Tensor, "batch time model"], f: Callable[[Tensor], Tensor],
                ) -> Float[Tensor, "batch time model"]:
        """Apply the sublayer ``f`` with residual connection and norm."""
        return x + self.dropout(f(self.norm(x)))

    @staticmethod
    def final_norm(shape: LayerShape) -> nn.Module:
        """A norm applied after the last layer."""
        return shape.norm(shape.model, eps=shape.eps)


class TransformerLayer(nn.Module):
    """Self-attention and feed-forward network: the layer of the encoder, of BERT and, with a causal mask, of GPT.

    ``residual`` and ``attention`` are the classes of its parts; subclasses may replace that of the feed-forward
    network.
    """

    feed_forward_class: type[FeedForward] = FeedForward

    def __init__(self, shape: LayerShape, residual: type[Residual] = PostNorm,
                 attention: type[MultiHeadAttention] = MultiHeadAttention) -> None:
        super().__init__()
        self.attention = attention.of(shape)
        self.feed_forward = self.feed_forward_class(shape)
        self.attention_residual = residual(shape)
        self.feed_forward_residual = residual(shape)
        self.hidden = HookPoint()

    def forward(self, x: Float[Tensor, "batch time model"], attn_mask: AttentionMask, cache: Cache | None = None,
                bias: Bias | None = None) -> Float[Tensor, "batch time model"]:
        """Compute the layer's hidden states. With a ``cache``, ``x`` holds only the new positions."""
        x = self.attention_residual(x, lambda h: self.attention(h, attn_mask, cache=cache, bias=bias))
        return self.hidden(self.feed_forward_residual(x, self.feed_forward))


class DecoderLayer(TransformerLayer):
    """Decoder layer: self-attention, cross-attention to the encoder's output, and a feed-forward network."""

    cross_attention_class: type[MultiHeadAttention] = MultiHeadAttention

    def __init__(self, shape: LayerShape, residual: type[Residual] = PostNorm,
                 attention: type[MultiHeadAttention] = MultiHeadAttention) -> None:
        super().__init__(shape, residual, attention)
        self.cross_attention = self.cross_attention_class.of(shape)
        self.cross_attention_residual = residual(shape)

    def forward(  # type: ignore[override]
        self, x: Float[Tensor, "batch time model"], attn_mask: AttentionMask,
        memory: Float[Tensor, "batch source model"], memory_mask: AttentionMask,
        cache: tuple[Cache, Cache] | None = None, bias: Bias | None = None,
    ) -> Float[Tensor, "batch time model"]:
        """Compute the layer's hidden states; ``memory_mask`` restricts cross-attention to ``memory``.

        ``cache`` is a pair: one cache for the previous target positions and one for the keys and values of the
        memory.
        """
        own, cross = cache or (None, None)
        x = self.attention_residual(x, lambda h: self.attention(h, attn_mask, cache=own, bias=bias))
        x = self.cross_attention_residual(x, lambda h: self.cross_attention(h, memory_mask, memory, cross))
        return self.hidden(self.feed_forward_residual(x, self.feed_forward))
