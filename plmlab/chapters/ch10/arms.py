"""The models that chapter 10 compares: with a memory and without, relative positions and absolute ones.

All read the same texts in the same order, with two layers of 64. An arm is a class, the length of its segments and that
of its memory; where there is no memory, segments are chunks that know nothing of each other. A window is as long as
what the last slot of a segment sees together with its memory.

Written before the runs, after pilots with other seeds: rates are judged by the price of an answer in other texts, on
two seeds, and arms in ``LIKE`` take another's. A memory learns to answer within 400 to 800 updates, and suddenly; all
have 1,200, and what they pay for an answer is followed, to see who has come to rest.
"""

from functools import partial
from pathlib import Path
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
from plmlab.recipes import none_if_diverged
from plmlab.recipes.kept import keep, with_kept
from plmlab.train import History, fit

SEGMENT, MEMORY, WINDOW = 16, 64, 80
LAYERS, WIDTH, HEADS = 2, 64, 4
TEXTS, UPDATES, LONGER, LIVE = 16, 1200, 3600, 400
"""Texts of an update; updates of all arms, of longer runs, and of the run that the notebook repeats."""
SEEDS, PILOTS = (0, 1, 2), (8, 9)
WATCHED, EVERY = 60, 100
"""On so many texts the price of an answer is followed in training, and after how many updates it is taken."""
RATES = (3e-3, 5e-3, 1e-2)


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
LIKE = {"none": "memory", "window": "memory", "taught": "memory", "absolute, none": "absolute",
        "counting": "absolute", "no positions": "absolute"}
"""The arms that take the rate of another."""


def new(name: str, seed: int) -> TransformerXL:
    """An arm with random weights of this seed."""
    arm = ARMS[name]
    torch.manual_seed(seed)
    return arm.model(TransformerXLConfig(len(recalling.spelling()), arm.segment, arm.memory, LAYERS, WIDTH, HEADS,
                                         4 * WIDTH, dropout=0.0))


def learn(name: str, updates: int, lr: float, seed: int, **options: Any) -> tuple[TransformerXL, History]:
    """An arm after so many updates, and the run's history."""
    model, read = new(name, seed), recalling.read()
    return model, fit(model, partial(recalling.drawn, read, seed, count=TEXTS), steps=updates, lr=lr, warmup=50,
                      **options)


@none_if_diverged
def rate_score(name: str, updates: int, lr: float, seed: int) -> float:
    """How good a rate is: minus the price of an answer in the texts to choose by."""
    model, _ = learn(name, updates, lr, seed, show=False)
    return -said(model, "development").answers


def said(model: TransformerXL, part: str, count: int | None = None) -> recalling.Said:
    """What a model makes of (some of) the texts of a part, read as it was trained to."""
    some = recalling.texts(part)[:count]
    return recalling.said(recalling.in_order(model, recalling.ids(some)), some)


def kept(folder: str, name: str, updates: int, seed: int) -> Path:
    """Where an arm's weights lie."""
    return Path(folder) / f"{name} {updates} {seed}.safetensors"


def followed(name: str, updates: int, lr: float, seed: int) -> tuple[TransformerXL, History]:
    """An arm after so many updates, and the run's history; its ``scores`` are minus the price of an answer, in nats,
    after every `EVERY` updates."""
    return learn(name, updates, lr, seed, show=False, evaluate_every=EVERY,
                 score=lambda model: -said(model, "development", WATCHED).answers)


def train(folder: str, name: str, updates: int, lr: float, seed: int) -> dict[str, Any]:
    """Train an arm and keep it; what it says in the exam, its ``history`` (number of updates, minus the price of an
    answer) and the ``seconds`` of an update."""
    model, history = followed(name, updates, lr, seed)
    keep(model, kept(folder, name, updates, seed))
    return said(model, "exam")._asdict() | {
        "history": history.scores, "seconds": (history.seconds - history.overhead) / updates}


def trained(folder: str, name: str, updates: int, seed: int) -> TransformerXL:
    """An arm that was kept."""
    return with_kept(new(name, seed), kept(folder, name, updates, seed))
