"""The models compared in chapter 10: with and without a memory, and with relative and absolute positions.

All models are trained on the same texts in the same order and have two layers of width 64. A variant is a class, a
segment length and a memory length; without a memory, segments are independent chunks. A sliding window is as long as
the context of the last position of a segment, including the memory.
"""

from functools import partial
from typing import Any, NamedTuple

import torch

from plmlab.chapters.ch10 import recall_task
from plmlab.chapters.ch10.variants import (
    AbsoluteTransformerXL,
    ContinuedPositionTransformerXL,
    NoPositionTransformerXL,
    TransformerXLWithGradient,
)
from plmlab.models.transformer_xl import TransformerXL, TransformerXLConfig
from plmlab.train import History, fit

SEGMENT, MEMORY, WINDOW = 16, 64, 80
LAYERS, WIDTH, HEADS = 2, 64, 4
TEXTS = 16
"""Texts per update."""
SEEDS = (0, 1, 2)


class Arm(NamedTuple):
    """A variant: the model class, its segment length and its memory length."""

    model: type[TransformerXL]
    segment: int
    memory: int


ARMS = {
    "memory": Arm(TransformerXL, SEGMENT, MEMORY),
    "none": Arm(TransformerXL, SEGMENT, 0),
    "window": Arm(TransformerXL, WINDOW, 0),
    "absolute window": Arm(AbsoluteTransformerXL, WINDOW, 0),
    "absolute": Arm(AbsoluteTransformerXL, SEGMENT, MEMORY),
    "absolute, none": Arm(AbsoluteTransformerXL, SEGMENT, 0),
    "continued": Arm(ContinuedPositionTransformerXL, SEGMENT, MEMORY),
    "no positions": Arm(NoPositionTransformerXL, SEGMENT, MEMORY),
    "with gradient": Arm(TransformerXLWithGradient, SEGMENT, MEMORY),
}


def new(name: str, seed: int) -> TransformerXL:
    """The model of a variant, with random weights initialized with this seed."""
    arm = ARMS[name]
    torch.manual_seed(seed)
    return arm.model(TransformerXLConfig(len(recall_task.tokenizer()), arm.segment, arm.memory, LAYERS, WIDTH, HEADS,
                                         4 * WIDTH, dropout=0.0))


def train(model: TransformerXL, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train the model of a variant for the given number of updates and return the history; every variant gets the same
    texts.
    """
    batches = partial(recall_task.training_batch, recall_task.train_ids(), seed, count=TEXTS)
    return fit(model, batches, steps=updates, lr=lr, warmup=50, **options)


def train_variant(name: str, updates: int, lr: float, seed: int, **options: Any) -> tuple[TransformerXL, History]:
    """Train a variant for the given number of updates; return the model and its training history."""
    model = new(name, seed)
    return model, train(model, updates, lr, seed, **options)


def evaluate(model: TransformerXL, part: str, count: int | None = None) -> recall_task.Evaluation:
    """Evaluate a model on (the first ``count``) texts of a part, split into segments as in training."""
    rows = recall_task.texts(part)[:count]
    return recall_task.evaluate(recall_task.segment_logits(model, recall_task.ids(rows)), rows)
