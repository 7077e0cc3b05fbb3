"""Does attention explain? Other weights for the same word (Jain and Wallace 2019; Wiegreffe and Pinter 2019).

At each slot of the target, the right words before it being given, the weights are exchanged: for the same weights on
other words (``shuffled``), for the same weight on all (``even``), or for all of it on the heaviest word (``one``). If a
word is said as before under weights far from its own, those were not what it was said for.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from plmlab.chapters.ch04.translation import Arm, pairs
from plmlab.example import IGNORE
from plmlab.interpret.alignments import ACROSS
from plmlab.interpret.readable import inference
from plmlab.interpret.watching import intervene
from plmlab.world.datasets.passages import Passage

Exchange = Callable[[Float[Tensor, "batch head query key"], Bool[Tensor, "batch 1 1 key"]], Tensor]


def shuffled(seed: int) -> Exchange:
    """The same weights, on the words of the source in a random order, another at each slot."""
    generator = torch.Generator().manual_seed(seed)

    def change(weights: Tensor, real: Tensor) -> Tensor:
        order = torch.rand(weights.shape, generator=generator).masked_fill(~real, 2.0).argsort(-1)
        return weights.gather(-1, order).masked_fill(~real, 0.0)
    return change


def even(weights: Tensor, real: Tensor) -> Tensor:
    """The same weight on every word."""
    return (real / real.sum(-1, keepdim=True)).to(weights).expand_as(weights)


def one(weights: Tensor, real: Tensor) -> Tensor:
    """All of it on the heaviest word."""
    return nn.functional.one_hot(weights.argmax(-1), weights.shape[-1]).to(weights)


def said_as_before(model: nn.Module, some: Sequence[Passage], exchange: Exchange, arm: Arm) -> dict[str, float]:
    """Over all slots of the target: the share whose likeliest word is the ``same`` under other weights; how far the
    weights have ``moved``, and how far the ``beliefs`` in the next word, each half the sum of absolute differences,
    from 0 to 1."""
    batch = pairs(some, arm)
    real = batch.source.looked_at[:, None, None]
    moved = []

    def change(weights: Tensor) -> Tensor:
        changed = exchange(weights, real)
        moved.append((changed - weights).abs().sum(-1).mean(1) / 2)
        return changed

    with inference(model):
        before = model(batch).softmax(-1)
        with intervene(model, {ACROSS: change}):
            after = model(batch).softmax(-1)
    asked = batch.targets != IGNORE
    told: dict[str, Any] = {
        "same": (before.argmax(-1) == after.argmax(-1))[asked].float().mean(),
        "moved": torch.cat(moved, 1)[asked].mean(), "beliefs": ((after - before).abs().sum(-1) / 2)[asked].mean()}
    return {name: float(value) for name, value in told.items()}
