"""Runs of the downstream tasks: all configurations, each with nine sets of labels, evaluated by the rules of
`plmlab.chapters.ch05.tasks`.

The learning rate of a configuration is chosen with ``FEW`` labels, and again with many. For other label counts the rate
for few labels is used; therefore this is not a `Study`.
"""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from plmlab.chapters.ch05 import tasks
from plmlab.chapters.ch05.invented import WAYS
from plmlab.chapters.ch05.tasks import ARMS, COUNTS, CURVES, EVERY, FEW, PATIENCE, PILOTS, SEEDS, STEPS
from plmlab.recipes import Parts, none_if_diverged, rates_tried, seed_summary, tune_learning_rates
from studies.ch05.counting import without_a_network
from studies.ch05.readers import reader

RATES = (1e-3, 3e-3, 1e-2)
RUNS = range(3 * len(SEEDS))
"""Each run has its own labels, and the pretrained model with seed run % 3."""
MANY = 10
"""With this many times more labels, learning rates are tuned separately."""


def run_result(folder: str, name: str, arm: str, count: int, lr: float, run: int) -> dict[str, Any]:
    """`tasks.run_result` for one of the ``RUNS`` or for a pilot run."""
    return tasks.run_result(folder, name, arm, count, lr, run, reader)


@none_if_diverged
def lr_score(folder: str, name: str, arm: str, count: int, lr: float, run: int) -> float:
    """Score of a learning rate: the best development score."""
    return float(run_result(folder, name, arm, count, lr, run)["development"])


def asked_for() -> list[tuple[str, str, int]]:
    """(task, configuration, label count) of all runs."""
    return [(name, arm, count) for name in COUNTS for arm in ARMS for count in COUNTS[name]
            if arm in CURVES or count == FEW[name]]


def piloted(name: str, arm: str, count: int) -> tuple[str, str, int]:
    """The (task, configuration, label count) whose learning rate a run uses."""
    return name, arm, count if count >= MANY * FEW[name] else FEW[name]


def by_model(values: Sequence[int | float]) -> dict[str, Any]:
    """Spread over the three models, given one value for each of the ``RUNS``; the value of a model is the mean over its
    runs."""
    return seed_summary({seed: fmean(values[seed::len(SEEDS)]) for seed in SEEDS})


def measure(parts: Parts) -> dict[str, Any]:
    """``tasks``: task → configuration → label count → ``lr``, the ``rates`` tried, ``score``, ``updates``,
    ``development`` with spread, whether all runs ``ended`` by early stopping, and per run the ``best`` development
    score, the ``curve`` and the layer weights (``shares``); for names also ``invented``; ``rules``: task → label count
    → score with spread; ``every``: updates between the points of a curve."""
    folder, cells = str(parts.folder), asked_for()
    best = tune_learning_rates(parts, lr_score, PILOTS, {(folder, *piloted(*cell)): RATES for cell in cells})
    chosen = {cell: best[folder, *piloted(*cell)] for cell in cells}
    outcomes = parts(run_result, [(folder, *cell, chosen[cell][0], run) for cell in cells for run in RUNS])
    counted = parts(without_a_network, [
        (name, count, run) for name in COUNTS for count in COUNTS[name] for run in RUNS])
    results: dict[str, Any] = {name: {arm: {} for arm in ARMS} for name in COUNTS}
    for name, arm, count in cells:
        lr, scores = chosen[name, arm, count]
        runs = [outcomes[folder, name, arm, count, lr, run] for run in RUNS]
        results[name][arm][str(count)] = {
            "lr": lr, "rates": rates_tried(scores),
            **{what: by_model([run[what] for run in runs]) for what in ("score", "updates", "development")},
            "ended": all(run["ended"] for run in runs), "best": [run["development"] for run in runs],
            "curves": [run["curve"] for run in runs], "shares": [run["shares"] for run in runs],
            "invented": {way: by_model([run["invented"][way] for run in runs])
                         for way in ("as it is", *WAYS) if name == "names"}}
    rules = {name: {str(count): by_model([counted[name, count, run] for run in RUNS]) for count in COUNTS[name]}
             for name in COUNTS}
    return {"every": EVERY, "steps": STEPS, "patience": PATIENCE, "tasks": results, "rules": rules}
