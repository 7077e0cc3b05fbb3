"""The time lags that each recurrent cell learns to bridge, on each long-memory task at several lengths.

This is not a `Study`, because a cell that learns nothing at any learning rate is a result here, not an error.
"""

from typing import Any

import torch

from plmlab.chapters.ch01.lags import BATCH, EVERY, UPDATES, build, learn
from plmlab.chapters.ch01.last_state_model import LastStateModel
from plmlab.chapters.ch01.perturbations import perturbation_size, steps_until_below
from plmlab.chapters.ch01.tasks import TASKS
from plmlab.recipes import Parts, rates_tried, seed_summary, tune_learning_rates

SEEDS, PILOTS = (0, 1, 2), (9, 10)
LENGTHS = {"adding": (50, 200), "first symbol": (10, 100, 1000)}
CELLS = {"adding": ("RNN", "IRNN", "LSTM", "LSTM, chrono", "GRU"),
         "first symbol": ("RNN", "LSTM, chrono", "LSTM, forget bias 8")}
RATES = (1e-3, 3e-3, 1e-2)


def lr_score(task: str, cell: str, steps: int, lr: float, seed: int) -> float:
    """Score of a learning rate: 1 if the task is solved, otherwise the negative lowest error, from −1 to 0.

    The error is rounded to quarters of the error of a constant prediction, because finer differences between runs at
    chance level are noise. The number of updates is ignored, because the fastest learning rate is rarely the most
    reliable one.
    """
    _, errors = learn(task, cell, steps, lr, seed)
    if min(errors) <= TASKS[task].solved:
        return 1.0
    return -round(4 * min(1.0, min(errors) / TASKS[task].constant)) / 4


def run_result(task: str, cell: str, steps: int, lr: float, seed: int) -> dict[str, Any]:
    """Train one network and return its results.

    Returns the ``errors`` before training and after every 50 updates, the ``lowest`` error, and the number of
    ``updates``; and the number of steps after which less than 1 % of a perturbation is left, ``before`` and ``after``
    training (the length of the task if more is left at the end).
    """
    fresh = build(task, cell, steps, seed)
    network, errors = learn(task, cell, steps, lr, seed)
    texts = TASKS[task].draw(16, steps, torch.Generator().manual_seed(10_001))[0].double()

    def horizon(model: LastStateModel) -> int:
        left = steps_until_below(perturbation_size(model.recurrent.double(), texts, torch.Generator().manual_seed(0)))
        return steps if left is None else left
    return {"errors": errors, "lowest": min(errors), "updates": (len(errors) - 1) * EVERY,
            "before": horizon(fresh), "after": horizon(network)}


def measure(parts: Parts) -> dict[str, Any]:
    """Tune, train and record all networks.

    Returns task → ``constant``, ``solved``, the maximum number of ``updates``, and ``lengths``: length → cell → ``lr``,
    the ``rates`` tried, the number of seeds that ``solved`` the task, the ``lowest`` error, ``updates``, ``before`` and
    ``after`` with their spread over the seeds, and the error ``curves``.
    """
    arms = [(task, cell, steps) for task, lengths in LENGTHS.items() for steps in lengths for cell in CELLS[task]]
    best = tune_learning_rates(parts, lr_score, PILOTS, dict.fromkeys(arms, RATES))
    runs = parts(run_result, [(*arm, best[arm][0], seed) for arm in arms for seed in SEEDS])
    results: dict[str, Any] = {
        task: {"constant": TASKS[task].constant, "solved": TASKS[task].solved, "updates": UPDATES[task],
               "lengths": {str(steps): {} for steps in lengths}} for task, lengths in LENGTHS.items()}
    for (task, cell, steps), (lr, scores) in best.items():
        by_seed = {seed: runs[task, cell, steps, lr, seed] for seed in SEEDS}
        results[task]["lengths"][str(steps)][cell] = {
            "lr": lr, "rates": rates_tried(scores),
            "solved": sum(run["lowest"] <= TASKS[task].solved for run in by_seed.values()),
            **{what: seed_summary({seed: run[what] for seed, run in by_seed.items()})
               for what in ("lowest", "updates", "before", "after")},
            "curves": [run["errors"] for run in by_seed.values()]}
    return {"every": EVERY, "batch": BATCH, "tasks": results}
