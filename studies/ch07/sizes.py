"""The loss of three sizes at equal tokens (Radford et al. 2019, figure 4, in miniature), on the full world.

The full world has some 2,900 facts, and its floor is known: how much of the way to it is a matter of size?
"""

from functools import cache
from math import log
from typing import Any

import torch

from plmlab import world
from plmlab.example import Batch
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.objectives import causal
from plmlab.recipes import Parts
from plmlab.recipes.study import Run, Study
from plmlab.text import Tokenizer
from plmlab.train import History, fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import build_world_tokenizer

SIZES = {"1 layer of 32": (1, 32), "2 layers of 64": (2, 64), "3 layers of 128": (3, 128)}
"""Layers and width of each."""
UPDATES, BATCH = 500, 48


@cache
def tokenizer() -> Tokenizer:
    """The tokenizer of the full world: one token for each of its English words."""
    return build_world_tokenizer(world.full(), ["english"], ["sentences"])


@cache
def new(seed: int) -> Batch:
    """The batch of 500 sentences of the plain test; seed 3 is the exam, seed 4 chooses the rates."""
    batch = sentence_batches(world.full(), "test", tokenizer(), causal, batch=500, seed=seed)(0)
    assert isinstance(batch, Batch)
    return batch


def build(size: str, seed: int) -> GPT2:
    """A GPT-2 of one of the sizes, with random weights of this seed."""
    layers, width = SIZES[size]
    torch.manual_seed(seed)
    return GPT2(GPTConfig(len(tokenizer()), time=64, layers=layers, model=width, heads=4, dropout=0.0))


def train(model: GPT2, size: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train a GPT-2 for so many updates, on the same sentences whatever its size; the history of the run."""
    text = sentence_batches(world.full(), "train", tokenizer(), causal, batch=BATCH, seed=seed)
    return fit(model, text, steps=updates, lr=lr, warmup=50, **options)


@torch.no_grad()
def development(run: Run) -> float:
    """Minus the loss on other new sentences, in nats a token."""
    return -float(run.model.loss(new(4)))


@torch.no_grad()
def test(run: Run) -> dict[str, float]:
    """The ``loss`` on the exam, in nats a token."""
    return {"loss": float(run.model.loss(new(3)))}


STUDY = Study(name="sizes", arms={(size,): (1e-3, 3e-3, 1e-2) for size in SIZES}, build=build, train=train,
              development=development, test=test, updates=(UPDATES,), nothing=-log(len(tokenizer())))


def measure(parts: Parts, study: Study = STUDY) -> dict[str, Any]:
    """``floor``, ``updates``, ``batch``; and size → ``parameters``, ``lr``, ``loss`` in nats a token with spread."""
    told = {size: {"parameters": sum(weight.numel() for weight in build(size, 0).parameters()), **found.told()}
            for (size, _), found in study.measure(parts).items()}
    return {"floor": world.full().entropy("test").token, "updates": UPDATES, "batch": BATCH, "sizes": told}
