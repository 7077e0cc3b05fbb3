"""What pretraining is worth by the number of labels and of updates: from scratch, frozen and fine-tuned (§5.3, §4).

All arms are trained until their score on development rows rises no more; the weights with the best one go to the exam.
"""

from functools import cache
from typing import Any

import torch

from plmlab.chapters.ch08.encoders import AllLayers, AllLayersBiLSTM, Encoder
from plmlab.checkpoints import load
from plmlab.models.bert import BERT, BERTPretraining
from plmlab.recipes import Parts, best_rates, spread
from plmlab.train import Diverged
from plmlab.transfer import EVERY, MOST, TASKS, score, tune

CHECKPOINT = "bert-world"
SEEDS, PILOTS = (0, 1, 2), (9, 10)
LABELS = (64, 256, MOST)
STEPS, PATIENCE = 1500, 8
"""Updates at most, and how many measurements without a better one end a run."""
RATES = {
    "from scratch": (3e-4, 1e-3, 3e-3), "frozen, last layer": (1e-2, 3e-2, 1e-1),
    "frozen, all layers": (1e-2, 3e-2, 1e-1), "frozen, all layers + BiLSTM": (1e-3, 3e-3, 1e-2),
    "fine-tuned": (3e-4, 1e-3, 3e-3),
}
"""Arm → the learning rates to begin with."""
ENCODERS: dict[str, type[Encoder]] = {
    "frozen, all layers": AllLayers, "frozen, all layers + BiLSTM": AllLayersBiLSTM,
}
CURVES = ("from scratch", "frozen, last layer", "fine-tuned")
"""The arms that are measured at every number of labels; the others have all labels."""
TASKS_OF = {"frozen, all layers + BiLSTM": ("names", "an answer")}
"""Arm → its tasks, where it hasn't all: a BiLSTM's vectors are read slot by slot (the paper has it for names alone)."""


@cache
def pretrained() -> BERTPretraining:
    """The course's own pretrained BERT, with its two heads."""
    model, _ = load(CHECKPOINT)
    return model


def start(arm: str, seed: int) -> BERT:
    """What an arm tunes: a BERT with random weights where it is "from scratch", else one on the checkpoint's."""
    whole = pretrained()
    torch.manual_seed(seed)
    if arm == "from scratch":
        return BERT(whole.config)
    return ENCODERS[arm].over(whole.bert) if arm in ENCODERS else whole.bert


def reached(arm: str, task: str, labels: int, lr: float, seed: int) -> dict[str, Any]:
    """A run: its score in the exam, the updates of its best weights, and its ``curve`` of development scores."""
    model, history = tune(start(arm, seed), task, labels, seed, lr=lr, steps=STEPS, patience=PATIENCE,
                          features=arm.startswith("frozen"), show=False)
    best = history.best
    assert best is not None
    return {"score": score(model, task), "development": best[1], "updates": best[0], "made": len(history.losses),
            "curve": [value for _, value in history.scores]}


def rate_score(arm: str, task: str, lr: float, seed: int) -> float:
    """The best development score with a learning rate and all labels; 0 where the run diverges."""
    try:
        return float(reached(arm, task, MOST, lr, seed)["development"])
    except Diverged:
        return 0.0


def measure(parts: Parts) -> dict[str, Any]:
    """Task → arm → ``lr``, the ``rates`` tried, and labels → ``score`` and ``updates`` with spread, and the seeds'
    ``curves``, a point every ``every`` updates."""
    arms = [(arm, task) for task in TASKS for arm in RATES if task in TASKS_OF.get(arm, TASKS)]
    best = best_rates(parts, rate_score, PILOTS, {one: RATES[one[0]] for one in arms})
    asked = {one: LABELS if one[0] in CURVES else LABELS[-1:] for one in arms}
    runs = parts(reached, [(*one, labels, best[one][0], seed)
                           for one in arms for labels in asked[one] for seed in SEEDS])
    told: dict[str, Any] = {task: {} for task in TASKS}
    for (arm, task), (lr, scores) in best.items():
        told[task][arm] = {"lr": lr, "rates": list(scores.items()), "labels": {
            labels: _spreads([runs[arm, task, labels, lr, seed] for seed in SEEDS]) for labels in asked[arm, task]}}
    return {"every": EVERY, "steps": STEPS, "patience": PATIENCE, "labels": list(LABELS), "tasks": told}


def _spreads(runs: list[dict[str, Any]]) -> dict[str, Any]:
    by_seed = dict(zip(SEEDS, runs, strict=True))
    return {**{name: spread({seed: run[name] for seed, run in by_seed.items()}) for name in ("score", "updates")},
            "curves": [run["curve"] for run in runs]}
