"""What is recorded of the tasks: all arms, each with nine sets of labels; the rules stand in
`plmlab.chapters.ch05.tasks`.

An arm has a learning rate that is best for it with ``FEW`` labels, and one with many. With other counts of labels it
inherits that of the few; so this is no `Study`.
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
"""Each has labels of its own, and the pretrained model of the seed run % 3."""
MANY = 10
"""So many times more labels want learning rates of their own."""


def reached(folder: str, name: str, arm: str, count: int, lr: float, run: int) -> dict[str, Any]:
    """What one of ``RUNS`` or of the pilots reaches, as `tasks.reached` tells."""
    return tasks.reached(folder, name, arm, count, lr, run, reader)


@none_if_diverged
def rate_score(folder: str, name: str, arm: str, count: int, lr: float, run: int) -> float:
    """The best development score with a learning rate."""
    return float(reached(folder, name, arm, count, lr, run)["development"])


def asked_for() -> list[tuple[str, str, int]]:
    """(task, arm, count) of all runs."""
    return [(name, arm, count) for name in COUNTS for arm in ARMS for count in COUNTS[name]
            if arm in CURVES or count == FEW[name]]


def piloted(name: str, arm: str, count: int) -> tuple[str, str, int]:
    """The run whose learning rate a run has."""
    return name, arm, count if count >= MANY * FEW[name] else FEW[name]


def by_model(values: Sequence[int | float]) -> dict[str, Any]:
    """The spread of the three models, given a value for each of ``RUNS``; a model's is the mean of its runs."""
    return seed_summary({seed: fmean(values[seed::len(SEEDS)]) for seed in SEEDS})


def measure(parts: Parts) -> dict[str, Any]:
    """``tasks``: task → arm → count → ``lr``, the ``rates`` tried, ``score``, ``updates``, ``development`` with spread,
    whether all ``ended``, and of each run the ``best`` development score, the ``curve`` and the ``shares``; of names
    ``invented``, too; ``rules``: task → count → score with spread; ``every`` says how far apart the points of a curve
    are."""
    folder, asked = str(parts.folder), asked_for()
    best = tune_learning_rates(parts, rate_score, PILOTS, {(folder, *piloted(*one)): RATES for one in asked})
    chosen = {one: best[folder, *piloted(*one)] for one in asked}
    done = parts(reached, [(folder, *one, chosen[one][0], run) for one in asked for run in RUNS])
    counted = parts(without_a_network, [
        (name, count, run) for name in COUNTS for count in COUNTS[name] for run in RUNS])
    told: dict[str, Any] = {name: {arm: {} for arm in ARMS} for name in COUNTS}
    for name, arm, count in asked:
        lr, scores = chosen[name, arm, count]
        runs = [done[folder, name, arm, count, lr, run] for run in RUNS]
        told[name][arm][str(count)] = {
            "lr": lr, "rates": rates_tried(scores),
            **{what: by_model([run[what] for run in runs]) for what in ("score", "updates", "development")},
            "ended": all(run["ended"] for run in runs), "best": [run["development"] for run in runs],
            "curves": [run["curve"] for run in runs], "shares": [run["shares"] for run in runs],
            "invented": {way: by_model([run["invented"][way] for run in runs])
                         for way in ("as it is", *WAYS) if name == "names"}}
    rules = {name: {str(count): by_model([counted[name, count, run] for run in RUNS]) for count in COUNTS[name]}
             for name in COUNTS}
    return {"every": EVERY, "steps": STEPS, "patience": PATIENCE, "tasks": told, "rules": rules}
