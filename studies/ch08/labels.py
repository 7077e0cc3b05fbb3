"""The benefit of pretraining, by number of labels and number of updates (§5.3, §4), with a separate learning rate for
each variant.

The learning rate of a variant and task is chosen with all labels; the runs on fewer labels use the same rate.
"""

from typing import Any

from plmlab.chapters.ch08.labels import PATIENCE, STEPS, run_result
from plmlab.recipes import Parts, none_if_diverged, rates_tried, seed_summary, tune_learning_rates
from plmlab.transfer import EVERY, MOST, TASKS

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
TASKS_OF = {"frozen, all layers + BiLSTM": ("names", "an answer")}
"""Variant → its tasks, if not all of them: a BiLSTM's outputs are used per position (the paper has it for NER only)."""


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
