"""The models that chapter 10 compares: with a memory and without, relative positions and absolute ones.

All read the same texts in the same order, with two layers of 64. An arm is a class, the length of its segments and that
of its memory; where there is no memory, segments are chunks that know nothing of each other. A window is as long as
what the last position of a segment sees together with its memory.
"""

from functools import partial
from typing import Any, NamedTuple

import torch

from plmlab.chapters.ch10 import recalling
from plmlab.chapters.ch10.readers import (
    AbsoluteTransformerXL,
    CountingTransformerXL,
    TaughtTransformerXL,
    UnplacedTransformerXL,
)
from plmlab.models.transformer_xl import TransformerXL, TransformerXLConfig
from plmlab.train import History, fit

SEGMENT, MEMORY, WINDOW = 16, 64, 80
LAYERS, WIDTH, HEADS = 2, 64, 4
TEXTS = 16
"""Of an update."""
SEEDS = (0, 1, 2)


class Arm(NamedTuple):
    """What is trained."""

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
    "counting": Arm(CountingTransformerXL, SEGMENT, MEMORY),
    "no positions": Arm(UnplacedTransformerXL, SEGMENT, MEMORY),
    "taught": Arm(TaughtTransformerXL, SEGMENT, MEMORY),
}


def new(name: str, seed: int) -> TransformerXL:
    """An arm with random weights of this seed."""
    arm = ARMS[name]
    torch.manual_seed(seed)
    return arm.model(TransformerXLConfig(len(recalling.tokenizer()), arm.segment, arm.memory, LAYERS, WIDTH, HEADS,
                                         4 * WIDTH, dropout=0.0))


def train(model: TransformerXL, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train an arm's model for so many updates, on the same texts whichever it is; the run's history."""
    return fit(model, partial(recalling.drawn, recalling.read(), seed, count=TEXTS), steps=updates, lr=lr, warmup=50,
               **options)


def learn(name: str, updates: int, lr: float, seed: int, **options: Any) -> tuple[TransformerXL, History]:
    """An arm after so many updates, and the run's history."""
    model = new(name, seed)
    return model, train(model, updates, lr, seed, **options)


def said(model: TransformerXL, part: str, count: int | None = None) -> recalling.Said:
    """What a model makes of (some of) the texts of a part, read as it was trained to."""
    some = recalling.texts(part)[:count]
    return recalling.said(recalling.in_order(model, recalling.ids(some)), some)
