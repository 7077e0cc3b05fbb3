"""The optimizers (优化器) of `fit`."""

from collections.abc import Callable

import torch
from torch import nn

from plmlab.train.settings import Optimizer, Settings


def trainable(model: nn.Module) -> list[nn.Parameter]:
    """The parameters that require a gradient. Raises ValueError if there is none."""
    found = [p for p in model.parameters() if p.requires_grad]
    if not found:
        raise ValueError(f"this {type(model).__name__} has nothing to train: "
                         "all parameters have requires_grad=False")
    return found


def adamw(model: nn.Module, settings: Settings) -> torch.optim.Optimizer:
    """AdamW (Loshchilov & Hutter 2019) with weight decay on matrices and embeddings only.

    Biases and norm parameters (those with one axis) are not decayed, as in BERT and GPT.
    """
    parameters = trainable(model)
    groups = [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": settings.weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    return torch.optim.AdamW(groups, lr=settings.lr, betas=settings.betas, fused=True)


def adafactor(model: nn.Module, settings: Settings) -> torch.optim.Optimizer:
    """Adafactor (Shazeer & Stern 2018), with which T5 was trained.

    It stores row and column means of the squared gradients. The update of each tensor is scaled by the root mean square
    of its values, so that T5's embeddings, which are initialized with a standard deviation of 1, change as fast in
    proportion as its projections, which are initialized with 1/√width or less. The learning rate is capped at 1/√t
    after t updates; with ``lr=0.01``, ``decay="none"`` and no warm-up, this is T5's schedule in pretraining. There is
    neither momentum nor weight decay.
    """
    return torch.optim.Adafactor(trainable(model), lr=settings.lr)


OPTIMIZERS: dict[Optimizer, Callable[[nn.Module, Settings], torch.optim.Optimizer]] = {
    "adamw": adamw, "adafactor": adafactor}
