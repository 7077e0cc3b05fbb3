"""Summaries of fine-tuning runs, and the choice of their learning rates, for the studies of chapter 13."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from plmlab.recipes import Parts, rates_tried, tune_learning_rates
from plmlab.recipes.statistics import seed_summary

SEEDS, PILOTS, RATES = (0, 1, 2), (9,), (3e-4, 1e-3, 3e-3)
"""Seeds of the runs, seeds of the pilot runs that choose the learning rate of fine-tuning, and its initial grid."""


def fine_tuned(parts: Parts, lr_score: Callable[..., float | None], run_score: Callable[..., float],
               variants: Sequence[str], groups: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Fine-tune every variant on every task, each at its own learning rate.

    ``lr_score`` and ``run_score`` are called with (folder, variant, task, rate, seed); ``groups``: name of a group of
    tasks → its tasks. Returns ``tasks``: task → variant → ``lr``, ``rates`` and ``score``, with spread; and ``means``:
    group → variant → the mean score of its tasks, with spread.
    """
    folder, tasks = str(parts.folder), [task for group in groups.values() for task in group]
    arms = [(folder, variant, task) for variant in variants for task in tasks]
    best = tune_learning_rates(parts, lr_score, PILOTS, dict.fromkeys(arms, RATES))
    runs = parts(run_score, [(*arm, best[arm][0], seed) for arm in arms for seed in SEEDS])

    def scores(variant: str, task: str) -> dict[int, float]:
        arm = folder, variant, task
        return {seed: runs[*arm, best[arm][0], seed] for seed in SEEDS}

    def record(variant: str, task: str) -> dict[str, Any]:
        lr, tried = best[folder, variant, task]
        return {"lr": lr, "rates": rates_tried(tried), "score": seed_summary(scores(variant, task))}

    return {"tasks": {task: {variant: record(variant, task) for variant in variants} for task in tasks},
            "means": {name: {variant: seed_summary({seed: fmean(scores(variant, task)[seed] for task in group)
                                                    for seed in SEEDS}) for variant in variants}
                      for name, group in groups.items()}}
