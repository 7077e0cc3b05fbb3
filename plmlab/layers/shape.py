"""Hyperparameters of a Transformer layer."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn


@dataclass(frozen=True)
class LayerShape:
    """Hyperparameters of a layer. ``inner`` is the feed-forward width, d_ff; ``width`` is the width of a head, d_k
    (default: model / heads); ``norm(model, eps=eps)`` builds a normalization layer; ``bias=False`` removes all linear
    biases."""

    model: int
    heads: int
    inner: int
    activation: str = "relu"
    dropout: float = 0.1
    attention_dropout: float = 0.1
    eps: float = 1e-5
    norm: Callable[..., nn.Module] = nn.LayerNorm
    bias: bool = True
    width: int | None = None
