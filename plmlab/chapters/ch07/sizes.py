"""The loss of three sizes at equal tokens (Radford et al. 2019, figure 4, in miniature), on the full world.

The full world has some 2,900 facts, and its floor is known: how much of the way to it is a matter of size?
"""

from functools import cache
from typing import Any

import torch

from plmlab import world
from plmlab.example import Batch
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.objectives import causal
from plmlab.text import Tokenizer
from plmlab.train import Diverged, History, fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import world_tokenizer

SIZES = {"1 layer of 32": (1, 32), "2 layers of 64": (2, 64), "3 layers of 128": (3, 128)}
"""Layers and width of each."""
STEPS, BATCH = 500, 48


@cache
def spelling() -> Tokenizer:
    """The tokenizer of the full world: one token for each of its English words."""
    return world_tokenizer(world.full(), ["english"], ["sentences"])


@cache
def new(seed: int) -> Batch:
    """The batch of 500 sentences of the plain test; seed 3 is the exam, seed 4 chooses the rates."""
    batch = sentence_batches(world.full(), "test", spelling(), causal, batch=500, seed=seed)(0)
    assert isinstance(batch, Batch)
    return batch


def build(size: str, seed: int) -> GPT2:
    """A GPT-2 of one of the sizes, with random weights of this seed."""
    layers, width = SIZES[size]
    torch.manual_seed(seed)
    return GPT2(GPTConfig(len(spelling()), time=64, layers=layers, model=width, heads=4, dropout=0.0))


def train(size: str, lr: float, seed: int, **options: Any) -> tuple[GPT2, History]:
    """A GPT-2 of this size after ``STEPS`` updates, the same sentences for all sizes; and the history of the run."""
    gpt = build(size, seed)
    text = sentence_batches(world.full(), "train", spelling(), causal, batch=BATCH, seed=seed)
    return gpt, fit(gpt, text, steps=STEPS, lr=lr, warmup=50, **options)


def loss(size: str, lr: float, seed: int, sentences: int = 3) -> float:
    """The loss on the exam, or on the `new` sentences of another seed, in nats a token."""
    gpt, _ = train(size, lr, seed, show=False)
    with torch.no_grad():
        return float(gpt.loss(new(sentences)))


def rate_score(size: str, lr: float, seed: int) -> float:
    """How good a learning rate is: minus the loss on other new sentences, in nats a token."""
    try:
        return -loss(size, lr, seed, sentences=4)
    except Diverged:
        return -1e9
