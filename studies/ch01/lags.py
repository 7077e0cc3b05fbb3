"""How long a lag each cell bridges, on each task, at several lengths.

A cell that learns nothing at any rate is a result here, and no error; so this is no `Study`.
"""

from typing import Any

import torch

from plmlab.chapters.ch01.lags import BATCH, EVERY, UPDATES, build, learn
from plmlab.chapters.ch01.long_memories import FromLastState
from plmlab.chapters.ch01.pushes import reach, steps_until
from plmlab.chapters.ch01.tasks import TASKS
from plmlab.recipes import Parts, rates_tried, seed_summary, tune_learning_rates

SEEDS, PILOTS = (0, 1, 2), (9, 10)
LENGTHS = {"adding": (50, 200), "first sign": (10, 100, 1000)}
CELLS = {"adding": ("RNN", "IRNN", "LSTM", "LSTM, chrono", "GRU"),
         "first sign": ("RNN", "LSTM, chrono", "LSTM, forget bias 8")}
RATES = (1e-3, 3e-3, 1e-2)


def rate_score(task: str, cell: str, steps: int, lr: float, seed: int) -> float:
    """How good a learning rate is: 1 where the task is solved, else from −1 to 0, how low the error got, in quarters of
    that of a constant answer. How soon it is solved does not count, for the fastest rate is seldom the safest; and
    finer differences between runs that only guess are chance."""
    _, errors = learn(task, cell, steps, lr, seed)
    if min(errors) <= TASKS[task].solved:
        return 1.0
    return -round(4 * min(1.0, min(errors) / TASKS[task].constant)) / 4


def reached(task: str, cell: str, steps: int, lr: float, seed: int) -> dict[str, Any]:
    """A run: its ``errors``, before training and after every 50 updates, how many ``updates`` it took, and after how
    many steps of the task less than a hundredth of a push is left, ``before`` training and ``after`` (the number of
    steps where more is left at the end)."""
    fresh = build(task, cell, steps, seed)
    network, errors = learn(task, cell, steps, lr, seed)
    texts = TASKS[task].draw(16, steps, torch.Generator().manual_seed(10_001))[0].double()

    def horizon(one: FromLastState) -> int:
        left = steps_until(reach(one.recurrent.double(), texts, torch.Generator().manual_seed(0)))
        return steps if left is None else left
    return {"errors": errors, "lowest": min(errors), "updates": (len(errors) - 1) * EVERY,
            "before": horizon(fresh), "after": horizon(network)}


def measure(parts: Parts) -> dict[str, Any]:
    """Task → ``constant``, ``solved``, ``updates`` allowed, and ``lengths``: length → cell → ``lr``, the ``rates``
    tried, how many seeds ``solved`` it, ``lowest`` error, ``updates``, ``before`` and ``after`` with spread, and the
    ``curves`` of errors."""
    arms = [(task, cell, steps) for task, lengths in LENGTHS.items() for steps in lengths for cell in CELLS[task]]
    best = tune_learning_rates(parts, rate_score, PILOTS, dict.fromkeys(arms, RATES))
    runs = parts(reached, [(*arm, best[arm][0], seed) for arm in arms for seed in SEEDS])
    told: dict[str, Any] = {
        task: {"constant": TASKS[task].constant, "solved": TASKS[task].solved, "updates": UPDATES[task],
               "lengths": {str(steps): {} for steps in lengths}} for task, lengths in LENGTHS.items()}
    for (task, cell, steps), (lr, scores) in best.items():
        mine = {seed: runs[task, cell, steps, lr, seed] for seed in SEEDS}
        told[task]["lengths"][str(steps)][cell] = {
            "lr": lr, "rates": rates_tried(scores),
            "solved": sum(run["lowest"] <= TASKS[task].solved for run in mine.values()),
            **{what: seed_summary({seed: run[what] for seed, run in mine.items()})
               for what in ("lowest", "updates", "before", "after")},
            "curves": [run["errors"] for run in mine.values()]}
    return {"every": EVERY, "batch": BATCH, "tasks": told}
