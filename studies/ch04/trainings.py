"""Training of the configurations. Each is trained once per seed and stored; all experiments share these models.

The budgets were fixed before the runs, after unrecorded pilots with seed 0: 2,000 updates for every configuration, and
6,000 for the four configurations of the bottleneck experiment ("longer"). A configuration has converged if tripling the
number of updates reduces its loss by less than 5 %. The fixed-vector model converges slowly, so one of its seeds
continues to 12,000 updates.

Each configuration has its own learning rate, chosen by the loss on development passages in pilots of 2,000 updates.
Those in ``LIKE`` inherit the rate of another configuration, for which alone it was chosen. The longer runs use the
learning rates of the shorter runs.
"""

from dataclasses import replace
from functools import cache
from math import log
from typing import Any

from plmlab.chapters.ch04 import translation
from plmlab.chapters.ch04.arms import ARMS, LONGER, SEEDS, UPDATES
from plmlab.chapters.ch04.translation import AIMS, loss, new, pairs, test_set, tokenizer
from plmlab.models.seq2seq import Seq2Seq
from plmlab.models.transformer import Transformer
from plmlab.recipes import Parts, rates_tried, seed_summary
from plmlab.recipes.study import Run, Study
from plmlab.train import History
from plmlab.world.datasets.passages import Passage

DOUBLED = 12_000
RATES = {"transformer": (1e-3, 3e-3, 1e-2)}
"""Initial learning-rate grid where it is not `USUAL`."""
USUAL = (3e-3, 1e-2, 3e-2)
WATCHED, EVERY = 30, 100
"""Length of the validation passages in training, and the number of updates between evaluations."""
MAIN = ("fixed", "fixed, 32", "general", "general, 32")
LIKE = {"end only": "fixed", "dot": "general", "two-way": "general", "additive": "general", "fixed, to 30": "fixed",
        "general, to 30": "general", "backwards": "fixed", "last sentence first": "fixed", "delay": "fixed",
        "delay, backwards": "fixed"}
"""Configurations that use the learning rate of another."""


@cache
def to_choose() -> tuple[Passage, ...]:
    """Development passages of all lengths for choosing learning rates; disjoint from the test sets (cached)."""
    return tuple(passage for aim in AIMS for passage in test_set(aim, "choose", 40))


def build(name: str, seed: int) -> Seq2Seq | Transformer:
    """Return the untrained model of a configuration, initialized with ``seed``."""
    return new(ARMS[name], seed)


def train(model: Seq2Seq | Transformer, name: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train a model, with validation on passages of `WATCHED` words; return the run's history."""
    held_out = pairs(test_set(WATCHED, "watched", 40), ARMS[name])
    return translation.train(model, ARMS[name], updates, lr, seed, evaluate=[held_out], evaluate_every=EVERY, **options)


def development(run: Run) -> float:
    """Negative loss on the development passages, in nats per token."""
    return -loss(run.model, to_choose(), ARMS[run.arm[0]])


def test(run: Run) -> dict[str, Any]:
    """The ``loss`` on the development passages, and the validation ``history``: pairs (number of updates, loss). The
    other studies evaluate the stored models on the test sets."""
    return {"loss": loss(run.model, to_choose(), ARMS[run.arm[0]]), "history": run.history.validation}


STUDY = Study(
    name="arms", arms={(name,): RATES.get(name, USUAL) for name in ARMS}, build=build, train=train,
    development=development, test=test, nothing=-log(len(tokenizer())), seeds=SEEDS, pilot_updates=UPDATES,
    updates={(name,): (UPDATES, LONGER) if name in MAIN else (UPDATES,) for name in ARMS},
    unequal="four of them are trained for longer to check convergence; all are compared after equal updates")


def budgets(name: str) -> dict[int, tuple[int, ...]]:
    """Map each number of updates of a configuration to the seeds trained with it."""
    return dict.fromkeys(STUDY.budgets((name,)), SEEDS) | ({DOUBLED: SEEDS[:1]} if name == "fixed" else {})


def runs() -> list[tuple[str, int, int]]:
    """All training runs as (configuration, number of updates, seed)."""
    return [(name, updates, seed) for name in ARMS for updates, seeds in budgets(name).items() for seed in seeds]


def measure(parts: Parts) -> dict[str, Any]:
    """Choose the learning rates of the configurations that do not inherit one, then train and store all models.

    Returns name → ``lr``, the ``rates`` tried, the configuration for which they were tried (``like``); ``loss``: number
    of updates → development loss in nats per token, with spread; and ``history``: seed → the history of the shortest
    run.
    """
    best = STUDY.best(parts, [(name, UPDATES) for name in ARMS if name not in LIKE])
    tuned = {name: best[LIKE.get(name, name), UPDATES] for name in ARMS}
    outcomes = replace(STUDY, seeds=SEEDS[:1]).at(parts, {("fixed", DOUBLED): tuned["fixed"]}) | STUDY.at(
        parts, {(name, updates): tuned[name] for name in ARMS for updates in STUDY.budgets((name,))})
    return {name: {"lr": lr, "rates": rates_tried(scores), "like": LIKE.get(name, name), "loss": {
        str(updates): seed_summary({seed: run["loss"] for seed, run in outcomes[name, updates].runs.items()})
        for updates in budgets(name)}, "history": {
        str(seed): run["history"] for seed, run in outcomes[name, UPDATES].runs.items()}}
            for name, (lr, scores) in tuned.items()}
