"""Excess loss by word category of language models of equal size, three of them recurrent, after the same number of
training tokens."""

from functools import cache
from math import log
from typing import Any

import torch

from plmlab import world
from plmlab.chapters.ch01.language import BATCH, NETWORKS, bayes_optimal, build, train
from plmlab.example import Batch
from plmlab.objectives import causal
from plmlab.recipes import Parts
from plmlab.recipes.study import Run, Study
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.excess_loss import category_means, kl_by_category, test_set
from plmlab.world.datasets.tokenizer import small_world_tokenizer


@cache
def development_batch() -> Batch:
    """Development set of 500 sentences for choosing learning rates; the test set uses another seed."""
    batch = sentence_batches(world.small(), "test", small_world_tokenizer(), causal, batch=500, seed=4)(0)
    assert isinstance(batch, Batch)
    return batch


@torch.no_grad()
def development(run: Run) -> float:
    """Negative loss on the development set, in nats per token."""
    return -float(run.model.loss(development_batch()))


def excess_loss(run: Run) -> dict[str, dict[str, float]]:
    """``excess loss``: word category (and "all") → loss on the test set above that of the Bayes-optimal predictor, in
    nats."""
    return {"excess loss": category_means(kl_by_category(run.model.eval(), bayes_optimal(), test_set(world.small())))}


STUDY = Study(name="language", arms={(network,): (3e-3, 1e-2, 3e-2) for network in NETWORKS}, build=build, train=train,
              development=development, test=excess_loss, updates=(150, 600), nothing=-log(len(small_world_tokenizer())))


def measure(parts: Parts, study: Study = STUDY) -> dict[str, Any]:
    """``floor``, ``batch``; and ``models``: network → ``parameters`` and ``updates``: number of updates → ``lr``, the
    ``rates`` tried, and ``excess loss``: word category → nats above the Bayes-optimal predictor, with spread."""
    results: dict[str, Any] = {
        network: {"parameters": sum(weights.numel() for weights in build(network, 0).parameters()), "updates": {}}
        for network in NETWORKS}
    for (network, updates), outcome in study.measure(parts).items():
        results[network]["updates"][str(updates)] = outcome.as_record()
    return {"floor": world.small().entropy("test").token, "batch": BATCH, "models": results}
