"""Training of the variants of `plmlab.chapters.ch12.blank_arms` on the same number of tokens. Each variant has its own
learning rate, and the paper's variant one for each of its two budgets. `steps` gives the number of updates for a
budget."""

from collections.abc import Sequence
from functools import cache
from math import log
from random import Random
from statistics import fmean
from typing import Any

import torch
from torch import nn

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.chapters.ch12.blank_arms import ARMS, PAPER
from plmlab.example import Example
from plmlab.recipes import Parts, rates_tried
from plmlab.recipes.study import Run, Study
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import History, fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import small_world_tokenizer

BATCH = 32
BUDGETS = (1250, 2500)
"""Updates of the paper's variant; the others have only the second budget. The gain from the first to the second shows
whether there is a plateau; after the second, a variant for which half of the texts have these blanks has been trained
on as many blanks as the paper's after the first."""
SEEDS, OTHERS = (0, 1, 2), 77
JUDGED = 8
"""Batches of other training text by which learning rates are chosen."""


def texts(name: str, seed: int) -> ExampleBatches:
    """A variant's training batches."""
    arm = ARMS[name]

    def made(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random) -> Example:
        return arm.shown(arm.make(tokens, vocab=vocab, rng=rng), None)
    return sentence_batches(world.small(), "train", small_world_tokenizer(), made, BATCH, seed)


@cache
def tokens(name: str) -> float:
    """Mean number of tokens per update of a variant over a few updates, including special tokens but not padding."""
    batches = texts(name, OTHERS)
    read = [len(example.tokens) for step in range(JUDGED) for example in batches.examples(step)
            if isinstance(example, Example)]
    return sum(read) / JUDGED


def budgets(name: str) -> tuple[int, ...]:
    """The budgets after which a variant is evaluated, in updates of the paper's variant."""
    return BUDGETS if name == PAPER else BUDGETS[-1:]


def steps(name: str, budget: int) -> int:
    """The number of updates in which a variant is trained on as many tokens as the paper's variant in ``budget``
    updates."""
    return round(budget * tokens(PAPER) / tokens(name))


def build(name: str, seed: int) -> nn.Module:
    """The network of a variant, with random weights initialized with this seed."""
    torch.manual_seed(seed)
    return ARMS[name].network()


def train(model: nn.Module, name: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train a variant for a budget, given in updates of the paper's variant, and return the history."""
    own = steps(name, updates)
    return fit(model, texts(name, seed), steps=own, lr=lr, warmup=min(100, own // 10), **options)


@torch.no_grad()
def loss(name: str, model: nn.Module) -> float:
    """The loss of a variant under its own objective on other training text, averaged over batches."""
    batches = texts(name, OTHERS)
    return fmean([float(model.eval().loss(batches(step))) for step in range(JUDGED)])  # type: ignore[operator]


def development(run: Run) -> float:
    """Negative loss of a variant under its own objective on other training text."""
    return -loss(run.arm[0], run.model)


def test(run: Run) -> dict[str, float]:
    """The same ``loss``; the claims about a variant are tested in the studies that let it fill blanks."""
    return {"loss": loss(run.arm[0], run.model)}


STUDY = Study(name="blanks", arms={(name,): (1e-3, 3e-3, 1e-2) for name in ARMS}, build=build, train=train,
              development=development, test=test, updates={(name,): budgets(name) for name in ARMS},
              nothing=-log(len(small_world_tokenizer())), seeds=SEEDS, pilots=(8, 9),
              unequal="the paper's arm is looked at half-way too")


def trained(folder: str, name: str, budget: int, seed: int) -> nn.Module:
    """Load a variant from its saved weights, in evaluation mode."""
    return STUDY.trained(folder, name, updates=budget, seed=seed)


def prepared(parts: Parts, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Train and save variants; return variant → budget → ``lr``, the ``rates`` tried with their losses, the
    ``updates``, and the ``loss`` under the variant's own objective with spread. Finished runs are not repeated."""
    found = STUDY.at(parts, STUDY.best(parts, [(name, budget) for name in names for budget in STUDY.budgets((name,))]))
    told: dict[str, dict[str, Any]] = {name: {} for name in names}
    for (name, budget), one in found.items():
        told[name][str(budget)] = one.as_record() | {
            "rates": rates_tried({rate: -score for rate, score in one.scores.items()}), "updates": steps(name, budget)}
    return told
