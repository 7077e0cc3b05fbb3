"""Training of the variants: for 1,200 updates, for 3,600 updates, and as in the notebook.

The following was fixed before the runs, after pilot runs with other seeds. Learning rates are chosen by the loss on
answers in other texts, with two seeds and after 1,200 updates; variants in `LIKE` use the rate of the most similar
variant. A model with a memory learns to answer abruptly, within 400 to 800 updates; all variants are trained for 1,200,
and their loss on answers is tracked to show which have converged. The variants that `positions` compares learn more
slowly and have learning-rate grids of their own there.
"""

from collections.abc import Mapping
from math import log
from statistics import fmean
from typing import Any

from plmlab.chapters.ch10 import arms, recall_task
from plmlab.chapters.ch10.arms import ARMS, SEEDS, evaluate, new
from plmlab.models.transformer_xl import TransformerXL
from plmlab.recipes import Parts, seed_statistics
from plmlab.recipes.rates import Scores
from plmlab.recipes.study import Run, Study
from plmlab.train import History

LIVE, UPDATES = 400, 1200
"""Updates of the run that the notebook repeats, and of all variants."""
LONGER = 3 * UPDATES
"""Updates of the longer runs, so that slow variants converge."""
LIKE = {"none": "memory", "window": "memory", "with gradient": "memory", "absolute, none": "absolute window"}
"""Variants that use the learning rate of another."""
ELSEWHERE = ("absolute", "continued", "no positions")
"""Variants that only `positions` trains."""
WATCHED, EVERY = 60, 100
"""Number of texts on which the loss on answers is tracked during training, and updates between evaluations."""
WORDS = 445
"""Vocabulary size of the training texts (word types)."""
Rates = dict[str, tuple[float, Scores]]
"""Variant → its learning rate, with the scores of the rates tried."""


def train(model: TransformerXL, name: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train a variant and return the history, whose ``scores`` are the negative loss on answers in nats, every `EVERY`
    updates."""
    return arms.train(model, updates, lr, seed, evaluate_every=EVERY,
                      score=lambda model: -evaluate(model, "development", WATCHED).answers, **options)


def development(run: Run) -> float:
    """Negative loss on answers in the development texts."""
    return -evaluate(run.model, "development").answers


def near_development(run: Run) -> float:
    """Accuracy on answers 17 to 64 positions back in the development texts."""
    right = evaluate(run.model, "development").right
    return fmean(right[largest] for largest in recall_task.NEAR)


def test(run: Run) -> dict[str, Any]:
    """A variant's test results, its ``history`` as (number of updates, loss on answers), and the ``seconds`` per
    update."""
    history = run.history
    return evaluate(run.model, "test_set")._asdict() | {
        "history": [[step, -score] for step, score in history.scores],
        "seconds": (history.seconds - history.overhead) / run.updates}


def recorded_runs(runs: Mapping[int, Any], *keys: str) -> dict[str, Any]:
    """The test results of a variant's runs, those under ``keys`` and on all answers and words, with spread; and the
    ``history`` by seed."""
    return {**seed_statistics({seed: {key: run[key] for key in ("right", "answers", "all", *keys)}
                               for seed, run in runs.items()}),
            "history": {str(seed): run["history"] for seed, run in runs.items()}}


NAMES = tuple(name for name in ARMS if name not in ELSEWHERE)
STUDY = Study(name="arms", arms={(name,): (3e-3, 5e-3, 1e-2) for name in NAMES}, build=new, train=train,
              development=development, test=test, seeds=SEEDS, pilots=(8, 9), nothing=-log(WORDS),
              updates={(name,): (LIVE, UPDATES, LONGER) if name == "memory" else (UPDATES, LONGER) for name in NAMES},
              unequal="the short run of one arm is what the notebook repeats, and compared with nothing else")


def tuned(parts: Parts, study: Study = STUDY) -> Rates:
    """The learning rate of every variant: its own, or that of the variant given in `LIKE`."""
    found = study.best(parts, [(name, UPDATES) for name, in study.arms if name not in LIKE])
    return {name: found[LIKE.get(name, name), UPDATES] for name, in study.arms}
