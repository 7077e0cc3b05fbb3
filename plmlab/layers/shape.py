"""The shape of a Transformer's layer."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn


@dataclass(frozen=True)
class LayerShape:
    """What two layers of one kind may differ in. ``inner`` is the feed-forward width, d_ff; ``width`` that of a head,
    d_k, model / heads if None; ``norm(model, eps=eps)`` makes a norm; without ``bias``, no linear layer has one."""

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
