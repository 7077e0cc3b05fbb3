"""The training of the arms: each is trained once a seed and kept, so that every experiment asks the same ones.

Written down before the runs, after pilots with seed 0, which are not recorded: 2,000 updates for an arm, and 6,000 for
the four that the bottleneck is judged by ("longer"). An arm is at its plateau if three times as many updates take less
than a twentieth off its loss. The fixed vector is slow to come to rest; one seed of it goes on to 12,000.

A rate for each arm, from pilots of 2,000 updates, by the loss on other passages; those in ``LIKE`` inherit another's,
which was chosen for that one alone. The longer runs take the rate of the shorter ones.
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
"""The rates that are tried first, if they are not `USUAL`."""
USUAL = (3e-3, 1e-2, 3e-2)
WATCHED, EVERY = 30, 100
"""The length of the passages whose loss is followed in training, and after how many updates it is taken."""
MAIN = ("fixed", "fixed, 32", "general", "general, 32")
LIKE = {"end only": "fixed", "dot": "general", "two-way": "general", "additive": "general", "fixed, to 30": "fixed",
        "general, to 30": "general", "backwards": "fixed", "last sentence first": "fixed", "delay": "fixed",
        "delay, backwards": "fixed"}
"""The arms that take the rate of another."""


@cache
def to_choose() -> tuple[Passage, ...]:
    """Passages of all lengths to choose rates by, none of which an exam has."""
    return tuple(passage for aim in AIMS for passage in test_set(aim, "choose", 40))


def build(name: str, seed: int) -> Seq2Seq | Transformer:
    """An arm, untrained."""
    return new(ARMS[name], seed)


def train(model: Seq2Seq | Transformer, name: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train an arm; its validation is on passages of `WATCHED` words."""
    watched = pairs(test_set(WATCHED, "watched", 40), ARMS[name])
    return translation.train(model, ARMS[name], updates, lr, seed, evaluate=[watched], evaluate_every=EVERY, **options)


def development(run: Run) -> float:
    """Minus the loss on the passages to choose by, in nats a token."""
    return -loss(run.model, to_choose(), ARMS[run.arm[0]])


def test(run: Run) -> dict[str, Any]:
    """The ``loss`` on the passages to choose by, and the ``history``: number of updates and loss on those watched. The
    exams are put to the kept models, by the other studies."""
    return {"loss": loss(run.model, to_choose(), ARMS[run.arm[0]]), "history": run.history.validation}


STUDY = Study(
    name="arms", arms={(name,): RATES.get(name, USUAL) for name in ARMS}, build=build, train=train,
    development=development, test=test, nothing=-log(len(tokenizer())), seeds=SEEDS, pilot_updates=UPDATES,
    updates={(name,): (UPDATES, LONGER) if name in MAIN else (UPDATES,) for name in ARMS},
    unequal="it is asked of four of them whether they have come to rest; they are compared after equal updates")


def budgets(name: str) -> dict[int, tuple[int, ...]]:
    """The numbers of updates that an arm is trained for → the seeds."""
    return dict.fromkeys(STUDY.budgets((name,)), SEEDS) | ({DOUBLED: SEEDS[:1]} if name == "fixed" else {})


def runs() -> list[tuple[str, int, int]]:
    """Every training as (arm, number of updates, seed)."""
    return [(name, updates, seed) for name in ARMS for updates, seeds in budgets(name).items() for seed in seeds]


def measure(parts: Parts) -> dict[str, Any]:
    """Tune the arms that inherit no rate, train and keep all; name → ``lr``, the ``rates`` tried, whose they are
    (``like``); ``loss``: number of updates → the loss in nats a token on the passages to choose by, with its spread;
    and ``history``: seed → that of the shortest training."""
    best = STUDY.best(parts, [(name, UPDATES) for name in ARMS if name not in LIKE])
    of = {name: best[LIKE.get(name, name), UPDATES] for name in ARMS}
    found = replace(STUDY, seeds=SEEDS[:1]).at(parts, {("fixed", DOUBLED): of["fixed"]}) | STUDY.at(
        parts, {(name, updates): of[name] for name in ARMS for updates in STUDY.budgets((name,))})
    return {name: {"lr": lr, "rates": rates_tried(scores), "like": LIKE.get(name, name), "loss": {
        str(updates): seed_summary({seed: run["loss"] for seed, run in found[name, updates].runs.items()})
        for updates in budgets(name)}, "history": {
        str(seed): run["history"] for seed, run in found[name, UPDATES].runs.items()}}
        for name, (lr, scores) in of.items()}
