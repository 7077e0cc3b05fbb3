"""The loss of models with a reordered source, by thirds of the Chinese, and the time lag of aligned words.

The rule is in the `reversal` module of the chapter.
"""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import torch

from plmlab.chapters.ch04.arms import ARMS, DELAY, SEEDS, UPDATES
from plmlab.chapters.ch04.reversal import SOURCE_ORDERS
from plmlab.chapters.ch04.translation import AIMS, Variant, pairs, test_set
from plmlab.example import IGNORE
from plmlab.recipes import Parts, seed_statistics
from plmlab.world.datasets.passages import Passage
from studies.ch04.trainings import STUDY

COUNT = 60


def lags(some: Sequence[Passage], arm: Variant) -> dict[str, float]:
    """Time lag in steps from a source word to the step that predicts its translation: the ``mean`` over all aligned
    words, and the mean over passages of the ``shortest`` lag."""
    steps = []
    for passage in some:
        ordered = arm.reads(passage)
        bridge = len(ordered.english) + arm.delay + 1
        steps.append([bridge - source + target for target, source in ordered.partners])
    return {"mean": fmean(lag for row in steps for lag in row), "shortest": fmean(min(row) for row in steps if row)}


@torch.no_grad()
def by_thirds(folder: str, name: str, seed: int) -> dict[str, dict[str, float]]:
    """Length → loss in nats per token on the ``whole`` Chinese and on its ``first``, ``middle`` and ``last`` third;
    [END] belongs to the last third."""
    model, arm, figures = STUDY.trained(folder, name, updates=UPDATES, seed=seed), ARMS[name], {}
    for aim in AIMS:
        batch = pairs(test_set(aim, seed, COUNT), arm)
        logprobs = model(batch).log_softmax(-1)
        is_target = batch.targets != IGNORE
        losses = -logprobs.gather(-1, batch.targets.clamp(min=0)[..., None])[..., 0]
        index = is_target.cumsum(-1) - 1
        third = 3 * index // is_target.sum(-1, keepdim=True)
        figures[str(aim)] = {"whole": float(losses[is_target].mean())} | {
            part: float(losses[is_target & (third == number)].mean())
            for number, part in enumerate(("first", "middle", "last"))}
    return figures


def measure(parts: Parts) -> dict[str, Any]:
    """``loss``: configuration → length → part → loss with its spread; ``lags``: configuration → length → `lags` on the
    first seed's test set; ``delay``: the number of padding tokens."""
    folder = str(parts.folder)
    runs = parts(by_thirds, [(folder, name, seed) for name in SOURCE_ORDERS for seed in SEEDS])
    return {"delay": DELAY,
            "loss": {name: seed_statistics({seed: runs[folder, name, seed] for seed in SEEDS})
                     for name in SOURCE_ORDERS},
            "lags": {name: {str(aim): lags(test_set(aim, SEEDS[0], COUNT), ARMS[name]) for aim in AIMS}
                     for name in SOURCE_ORDERS}}
