"""What the chapters' wrong answers share: losses and weights, and what holds of any right one."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

Mistakes = Mapping[str, Callable[..., Any]]
"""What is wrong, in words → a function that does just that."""
Properties = Mapping[str, Callable[..., bool]]
"""What is wrong, in words → whether it is *not* so, of (output, \\*arguments)."""


def of_words(logits: Tensor, targets: Tensor, **how: Any) -> Tensor:
    """The mean cross-entropy of all targets [batch time], in nats, or whatever else the options ``how`` make of it."""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), **how)


def text_by_text(logits: Tensor, targets: Tensor) -> Tensor:
    """The mean over texts of each text's mean cross-entropy, in nats: not the mean over all targets."""
    return torch.stack([F.cross_entropy(*pair) for pair in zip(logits, targets, strict=True)]).mean()


def spread(losses: Tensor) -> Tensor:
    """How far the losses reach: the largest minus the smallest."""
    return losses.max() - losses.min()


def within(loss: Tensor, most: Tensor) -> bool:
    """Whether a loss lies between 0 and ``most``, within a thousandth."""
    return bool(-1e-3 <= loss <= most + 1e-3)


def whole(kept: Tensor) -> Tensor:
    """The numbers that were kept, scaled to add up to 1."""
    return kept / kept.sum()
