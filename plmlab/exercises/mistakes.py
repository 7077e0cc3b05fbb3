"""Building blocks of wrong answers used in several chapters (softmaxes and losses), and of properties of correct
ones."""

import torch
from torch import Tensor
from torch.nn import functional as F


def by_exp(scores: Tensor, dim: int = -1) -> Tensor:
    """A softmax computed literally, as exp divided by the sum of exps: NaN if exp overflows or if all exps are 0."""
    powers = scores.exp()
    return powers / powers.sum(dim, keepdim=True)


def largest_from_zero(scores: Tensor) -> Tensor:
    """The largest score of each row, [… 1], computed by a running maximum that starts at 0; it is thus 0 if all scores
    are negative."""
    return scores.amax(-1, keepdim=True).clamp(min=0)


def cut_across(logits: Tensor) -> Tensor:
    """Reshape the logits [batch time vocab] wrongly, by a view as [batch vocab time], which mixes positions and tokens;
    then transpose them back so that the last axis is the vocabulary."""
    return logits.reshape(len(logits), logits.shape[2], logits.shape[1]).transpose(1, 2)


def text_by_text(logits: Tensor, targets: Tensor) -> Tensor:
    """The mean over texts of each text's mean cross-entropy, in nats, instead of the mean over all targets."""
    return torch.stack([F.cross_entropy(*pair) for pair in zip(logits, targets, strict=True)]).mean()


def within(loss: Tensor, most: Tensor) -> bool:
    """Whether a loss lies between 0 and ``most``, with a tolerance of 0.001."""
    return bool(-1e-3 <= loss <= most + 1e-3)
