"""What language models of one size cost above the floor after equal tokens, three of them recurrent, and where."""

from functools import cache
from math import log
from typing import Any

import torch

from plmlab import world
from plmlab.chapters.ch01.language import BATCH, NETWORKS, best_reader, build, train
from plmlab.example import Batch
from plmlab.objectives import causal
from plmlab.recipes import Parts
from plmlab.recipes.study import Run, Study
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.gaps import category_means, gaps, test_set
from plmlab.world.datasets.tokenizer import small_world_tokenizer


@cache
def to_choose() -> Batch:
    """500 sentences that the rates are chosen with; the exam's are of another seed."""
    batch = sentence_batches(world.small(), "test", small_world_tokenizer(), causal, batch=500, seed=4)(0)
    assert isinstance(batch, Batch)
    return batch


@torch.no_grad()
def development(run: Run) -> float:
    """Minus the loss on other sentences of the test, in nats a token."""
    return -float(run.model.loss(to_choose()))


def falls_short(run: Run) -> dict[str, dict[str, float]]:
    """``gaps``: kind of word → what it costs above the best reader on the exam, in nats; and "all"."""
    return {"gaps": category_means(gaps(run.model.eval(), best_reader(), test_set(world.small())))}


STUDY = Study(name="language", arms={(network,): (3e-3, 1e-2, 3e-2) for network in NETWORKS}, build=build, train=train,
              development=development, test=falls_short, updates=(150, 600), nothing=-log(len(small_world_tokenizer())))


def measure(parts: Parts, study: Study = STUDY) -> dict[str, Any]:
    """``floor``, ``batch``; and ``models``: network → ``parameters`` and ``updates``: number of updates → ``lr``, the
    ``rates`` tried, and ``gaps``: kind of word → nats above the best reader, with spread."""
    told: dict[str, Any] = {
        network: {"parameters": sum(weights.numel() for weights in build(network, 0).parameters()), "updates": {}}
        for network in NETWORKS}
    for (network, updates), found in study.measure(parts).items():
        told[network]["updates"][str(updates)] = found.told()
    return {"floor": world.small().entropy("test").token, "batch": BATCH, "models": told}
