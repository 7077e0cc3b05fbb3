"""The loss of arms that read the source in other orders, by thirds of the Chinese, and the lag of their partners.

What is asked of it is told in the chapter's `reversal`.
"""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import torch

from plmlab.chapters.ch04.arms import ARMS, DELAY, SEEDS, UPDATES
from plmlab.chapters.ch04.reversal import WAYS
from plmlab.chapters.ch04.translation import AIMS, Arm, pairs, test_set
from plmlab.example import IGNORE
from plmlab.recipes import Parts, seed_statistics
from plmlab.world.datasets.passages import Passage
from studies.ch04.trainings import STUDY

COUNT = 60


def lags(some: Sequence[Passage], arm: Arm) -> dict[str, float]:
    """Steps of the state from a source word to the position that says its partner: the ``mean`` over all partners, and
    the mean over passages of the ``shortest`` one."""
    steps = []
    for passage in some:
        read = arm.reads(passage)
        bridge = len(read.english) + arm.delay + 1
        steps.append([bridge - other + one for one, other in read.partners])
    return {"mean": fmean(lag for row in steps for lag in row), "shortest": fmean(min(row) for row in steps if row)}


@torch.no_grad()
def by_thirds(folder: str, name: str, seed: int) -> dict[str, dict[str, float]]:
    """Length → the loss in nats a token, in the ``whole`` and in the ``first``, ``middle`` and ``last`` third of the
    Chinese, [END] being in the last."""
    model, arm, told = STUDY.trained(folder, name, updates=UPDATES, seed=seed), ARMS[name], {}
    for aim in AIMS:
        batch = pairs(test_set(aim, seed, COUNT), arm)
        logprobs = model(batch).log_softmax(-1)
        asked = batch.targets != IGNORE
        lost = -logprobs.gather(-1, batch.targets.clamp(min=0)[..., None])[..., 0]
        place = asked.cumsum(-1) - 1
        third = 3 * place // asked.sum(-1, keepdim=True)
        told[str(aim)] = {"whole": float(lost[asked].mean())} | {
            part: float(lost[asked & (third == number)].mean())
            for number, part in enumerate(("first", "middle", "last"))}
    return told


def measure(parts: Parts) -> dict[str, Any]:
    """``loss``: arm → length → part → the loss with its spread; ``lags``: arm → length → `lags` of the first seed's
    exam; ``delay``: the positions of nothing."""
    folder = str(parts.folder)
    runs = parts(by_thirds, [(folder, name, seed) for name in WAYS for seed in SEEDS])
    return {"delay": DELAY,
            "loss": {name: seed_statistics({seed: runs[folder, name, seed] for seed in SEEDS}) for name in WAYS},
            "lags": {name: {str(aim): lags(test_set(aim, SEEDS[0], COUNT), ARMS[name]) for aim in AIMS}
                     for name in WAYS}}
