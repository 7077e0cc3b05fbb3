"""The benefit of pretraining, by number of labels and number of updates: training from scratch, feature-based (frozen)
and fine-tuned (§5.3, §4).

Every variant is trained with early stopping on development rows, and the weights with the best development score are
evaluated on the test set. The learning rate of a variant and task is chosen with all labels; the runs on fewer labels
use the same rate.
"""

from functools import cache
from typing import Any

import torch

from plmlab.checkpoints import load
from plmlab.models.bert import BERT, BERTPretraining
from plmlab.recipes import Parts, none_if_diverged, rates_tried, seed_summary, tune_learning_rates
from plmlab.transfer import EVERY, MOST, TASKS, fine_tune, score
from studies.ch08.encoders import AllLayers, AllLayersBiLSTM, Encoder

CHECKPOINT = "bert-world"
STEPS, PATIENCE = 1500, 8
"""Maximum number of updates, and early-stopping patience in evaluations."""
ENCODERS: dict[str, type[Encoder]] = {
    "frozen, all layers": AllLayers, "frozen, all layers + BiLSTM": AllLayersBiLSTM,
}
SEEDS, PILOTS = (0, 1, 2), (9, 10)
LABELS = (64, 256, MOST)
RATES = {
    "from scratch": (3e-4, 1e-3, 3e-3), "frozen, last layer": (1e-2, 3e-2, 1e-1),
    "frozen, all layers": (1e-2, 3e-2, 1e-1), "frozen, all layers + BiLSTM": (1e-3, 3e-3, 1e-2),
    "fine-tuned": (3e-4, 1e-3, 3e-3),
}
"""Variant → its initial grid of learning rates."""
CURVES = ("from scratch", "frozen, last layer", "fine-tuned")
"""Variants that are run with every number of labels; the others only with all labels."""
TASKS_OF = {"frozen, all layers + BiLSTM": ("NER", "extractive QA")}
"""Variant → its tasks, if not all of them: a BiLSTM's outputs are used per position (the paper has it for NER only)."""


@cache
def pretrained() -> BERTPretraining:
    """The bundled pretrained BERT, with its two pretraining heads."""
    model, _ = load(CHECKPOINT)
    return model


def start(arm: str, seed: int) -> BERT:
    """The initial model of a configuration: for "from scratch", a BERT with random weights, otherwise an encoder with
    the weights of the checkpoint."""
    whole = pretrained()
    torch.manual_seed(seed)
    if arm == "from scratch":
        return BERT(whole.config)
    return ENCODERS[arm].with_weights_from(whole.encoder) if arm in ENCODERS else whole.encoder


def run_result(arm: str, task: str, labels: int, lr: float, seed: int) -> dict[str, Any]:
    """Result of one run: the test ``score``, the number of updates of the best weights, and the ``curve`` of
    development scores."""
    model, history = fine_tune(start(arm, seed), task, labels, seed, lr=lr, steps=STEPS, patience=PATIENCE,
                               features=arm.startswith("frozen"), show=False)
    best = history.best
    assert best is not None
    return {"score": score(model, task), "development": best[1], "updates": best[0], "made": len(history.losses),
            "curve": [value for _, value in history.scores]}


@none_if_diverged
def lr_score(arm: str, task: str, lr: float, seed: int) -> float:
    """The best development score with a learning rate and all labels."""
    return float(run_result(arm, task, MOST, lr, seed)["development"])


def measure(parts: Parts) -> dict[str, Any]:
    """Task → variant → ``lr``, the ``rates`` tried, and number of labels → ``score`` and ``updates`` with spread, and
    the ``curves`` of every seed, with one point every ``every`` updates."""
    arms = [(arm, task) for task in TASKS for arm in RATES if task in TASKS_OF.get(arm, TASKS)]
    best = tune_learning_rates(parts, lr_score, PILOTS, {one: RATES[one[0]] for one in arms})
    asked = {one: LABELS if one[0] in CURVES else LABELS[-1:] for one in arms}
    runs = parts(run_result, [(*one, labels, best[one][0], seed)
                              for one in arms for labels in asked[one] for seed in SEEDS])
    told: dict[str, Any] = {task: {} for task in TASKS}
    for (arm, task), (lr, scores) in best.items():
        told[task][arm] = {"lr": lr, "rates": rates_tried(scores), "labels": {
            labels: _spreads([runs[arm, task, labels, lr, seed] for seed in SEEDS]) for labels in asked[arm, task]}}
    return {"every": EVERY, "steps": STEPS, "patience": PATIENCE, "labels": list(LABELS), "tasks": told}


def _spreads(runs: list[dict[str, Any]]) -> dict[str, Any]:
    by_seed = dict(zip(SEEDS, runs, strict=True))
    return {**{name: seed_summary({seed: run[name] for seed, run in by_seed.items()}) for name in ("score", "updates")},
            "curves": [run["curve"] for run in runs]}
