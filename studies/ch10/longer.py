"""Longer runs, so that slow variants converge: three times the number of updates, with the same learning rates.
"""

from typing import Any

from plmlab.chapters.ch10 import recall_task
from plmlab.chapters.ch10.arms import ARMS, WINDOW
from plmlab.recipes import Parts, seed_statistics
from plmlab.recipes.study import Study
from studies.ch10.arms import LONGER, STUDY, Rates
from studies.ch10.baselines import sliding_window_logits

LEFT_OUT = ("with gradient",)


def other_modes(folder: str, name: str, seed: int) -> dict[str, Any]:
    """Test results of a variant without a memory with sliding ``windows``."""
    model, test_set = STUDY.trained(folder, name, updates=LONGER, seed=seed), recall_task.texts("test_set")
    told: dict[str, Any] = {}
    if ARMS[name].segment == WINDOW:
        logits = sliding_window_logits(model, WINDOW, recall_task.ids(test_set))
        told["windows"] = recall_task.evaluate(logits, test_set)._asdict()
    return told


def measure(parts: Parts, tuned: Rates, study: Study = STUDY) -> dict[str, Any]:
    """``updates``; and variant → ``lr``, the spread of its test results, ``in order`` and `other_modes`, and its
    ``history`` by seed. ``tuned``: the variants' learning rates."""
    again, folder = [name for name in tuned if name not in LEFT_OUT], str(parts.folder)
    found = study.at(parts, {(name, LONGER): tuned[name] for name in again})
    others = parts(other_modes, [(folder, name, seed) for name in again for seed in study.seeds])
    told = {}
    for name in again:
        runs = found[name, LONGER].runs
        told[name] = {"lr": tuned[name][0], **seed_statistics({
            seed: {"in order": {key: run[key] for key in ("right", "answers", "all")}} | others[folder, name, seed]
            for seed, run in runs.items()}), "history": {str(seed): run["history"] for seed, run in runs.items()}}
    return {"updates": LONGER, "arms": told}
