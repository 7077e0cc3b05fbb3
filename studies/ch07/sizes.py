"""Loss of three model sizes after the same number of tokens of the full world (Radford et al. 2019, figure 4, in
miniature).

The full world has about 2,900 facts, and its floor (the entropy lower bound) is known. How does the gap to the floor
depend on model size?
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
"""Name → number of layers and width."""
UPDATES, BATCH = 500, 48


@cache
def tokenizer() -> Tokenizer:
    """Tokenizer with one token per English word of the full world (cached)."""
    return build_world_tokenizer(world.full(), ["english"], ["sentences"])


@cache
def new(seed: int) -> Batch:
    """Batch of 500 sentences of the test split; seed 3 is the test set, seed 4 the development set (cached)."""
    batch = sentence_batches(world.full(), "test", tokenizer(), causal, batch=500, seed=seed)(0)
    assert isinstance(batch, Batch)
    return batch


def build(size: str, seed: int) -> GPT2:
    """Return an untrained GPT-2 of one of the sizes, initialized with ``seed``."""
    layers, width = SIZES[size]
    torch.manual_seed(seed)
    return GPT2(GPTConfig(len(tokenizer()), time=64, layers=layers, model=width, heads=4, dropout=0.0))


def train(model: GPT2, size: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train a GPT-2 for ``updates`` steps and return the run's history; the data depend only on ``seed``."""
    text = sentence_batches(world.full(), "train", tokenizer(), causal, batch=BATCH, seed=seed)
    return fit(model, text, steps=updates, lr=lr, warmup=50, **options)


@torch.no_grad()
def development(run: Run) -> float:
    """Negative loss on the development set, in nats per token."""
    return -float(run.model.loss(new(4)))


@torch.no_grad()
def test(run: Run) -> dict[str, float]:
    """Test ``loss`` in nats per token."""
    return {"loss": float(run.model.loss(new(3)))}


STUDY = Study(name="sizes", arms={(size,): (1e-3, 3e-3, 1e-2) for size in SIZES}, build=build, train=train,
              development=development, test=test, updates=(UPDATES,), nothing=-log(len(tokenizer())))


def measure(parts: Parts, study: Study = STUDY) -> dict[str, Any]:
    """``floor``, ``updates``, ``batch``; and size → ``parameters``, ``lr``, ``loss`` in nats per token with spread."""
    results = {size: {"parameters": sum(weight.numel() for weight in build(size, 0).parameters()),
                      **outcome.as_record()}
               for (size, _), outcome in study.measure(parts).items()}
    return {"floor": world.full().entropy("test").token, "updates": UPDATES, "batch": BATCH, "sizes": results}
