"""The Transformer layer: look around, then think, each with a residual and a norm (Vaswani et al. 2017, §3.1)."""

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
    """Act(xW₁ + b₁)W₂ + b₂, the same at every position (eq. 2)."""

    def __init__(self, shape: LayerShape) -> None:
        super().__init__()
        self.up = nn.Linear(shape.model, shape.inner, bias=shape.bias)
        self.down = nn.Linear(shape.inner, shape.model, bias=shape.bias)
        self.activation = ACTIVATIONS[shape.activation]
        self.inner = HookPoint()

    def forward(self, x: Float[Tensor, "batch time model"]) -> Float[Tensor, "batch time model"]:
        """The same function of each position's vector."""
        return self.down(self.inner(self.activation(self.up(x))))


class Residual(nn.Module):
    """A residual connection around a sublayer, with dropout and one norm; where the norm stands is the subclass's."""

    def __init__(self, shape: LayerShape) -> None:
        super().__init__()
        self.norm = shape.norm(shape.model, eps=shape.eps)
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, x: Float[Tensor, "batch time model"], f: Callable[[Tensor], Tensor],
                ) -> Float[Tensor, "batch time model"]:
        """The sublayer ``f`` with its residual and its norm."""
        raise NotImplementedError

    @staticmethod
    def final_norm(shape: LayerShape) -> nn.Module:
        """What norms the output of the last layer."""
        raise NotImplementedError


class PostNorm(Residual):
    """LayerNorm(x + f(x)): the original order; the norm stands on the residual path, and the last output is normed."""

    def forward(self, x: Float[Tensor, "batch time model"], f: Callable[[Tensor], Tensor],
                ) -> Float[Tensor, "batch time model"]:
        """The sublayer ``f`` with its residual and its norm."""
        return self.norm(x + self.dropout(f(x)))

    @staticmethod
    def final_norm(shape: LayerShape) -> nn.Module:
        """None is needed."""
        return nn.Identity()


class PreNorm(Residual):
    """x + f(LayerNorm(x)): the residual path runs free from end to end, and is normed there (GPT-2)."""

    def forward(self, x: Float[Tensor, "batch time model"], f: Callable[[Tensor], Tensor],
                ) -> Float[Tensor, "batch time model"]:
        """The sublayer ``f`` with its residual and its norm."""
        return x + self.dropout(f(self.norm(x)))

    @staticmethod
    def final_norm(shape: LayerShape) -> nn.Module:
        """A norm of its own."""
        return shape.norm(shape.model, eps=shape.eps)


class TransformerLayer(nn.Module):
    """Self-attention and feed-forward: the layer of the encoder, of BERT, and, under a causal mask, of GPT.

    ``residual`` and ``attention`` are the classes that it is built of; a model names its own.
    """

    def __init__(self, shape: LayerShape, residual: type[Residual] = PostNorm,
                 attention: type[MultiHeadAttention] = MultiHeadAttention) -> None:
        super().__init__()
        self.attention = attention.of(shape)
        self.feed_forward = FeedForward(shape)
        self.attention_residual = residual(shape)
        self.feed_forward_residual = residual(shape)
        self.hidden = HookPoint()

    def forward(self, x: Float[Tensor, "batch time model"], attn_mask: AttentionMask, cache: Cache | None = None,
                bias: Bias | None = None) -> Float[Tensor, "batch time model"]:
        """The next layer's vector of each position. With a ``cache``, x holds only the positions that are new."""
        x = self.attention_residual(x, lambda h: self.attention(h, attn_mask, cache=cache, bias=bias))
        return self.hidden(self.feed_forward_residual(x, self.feed_forward))


class DecoderLayer(TransformerLayer):
    """A layer that also looks across, at what the encoder made of the source."""

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
        """The next layer's vector of each target position: self-attention, attention to the encoder's ``memory`` where
        ``memory_mask`` allows, feed-forward. Of the two caches, one holds what was written before, one the memory's
        keys."""
        own, cross = cache or (None, None)
        x = self.attention_residual(x, lambda h: self.attention(h, attn_mask, cache=own, bias=bias))
        x = self.cross_attention_residual(x, lambda h: self.cross_attention(h, memory_mask, memory, cross))
        return self.hidden(self.feed_forward_residual(x, self.feed_forward))
