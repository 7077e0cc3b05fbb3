"""The models that chapter 04 compares, each trained once a seed and kept, so that every experiment asks the same ones.

Written down before the runs, after pilots with seed 0, which are not recorded: 2,000 updates for an arm, and 6,000 for
the four that the bottleneck is judged by ("longer"). An arm is at its plateau if three times as many updates take less
than a twentieth off its loss. The fixed vector is slow to come to rest; one seed of it goes on to 12,000.

A rate for each arm, from pilots of 2,000 updates, by the loss on other passages; those in ``LIKE`` take another's. The
longer runs take the rate of the shorter ones.
"""

from pathlib import Path
from typing import Any

from plmlab.chapters.ch04.translation import Arm, development, exam, learn, loss, new, pairs
from plmlab.models.seq2seq import Seq2Seq
from plmlab.models.transformer import Transformer
from plmlab.recipes import Parts, best_rates, none_if_diverged, rates_tried, spread
from plmlab.recipes.kept import keep, with_kept

SEEDS, PILOTS = (2, 3, 4), (9, 10)
UPDATES, LONGER, DOUBLED = 2000, 6000, 12_000
RATES = {"transformer": (1e-3, 3e-3, 1e-2)}
"""The rates that are tried first, if they are not `USUAL`."""
USUAL = (3e-3, 1e-2, 3e-2)
DELAY = 10
"""Slots of nothing: as many as reading backwards takes off the shortest lag of passages of 30 words."""
WATCHED, EVERY = 30, 100
"""The length of the passages whose loss is followed in training, and after how many updates it is taken."""

ARMS = {
    "fixed": Arm("fixed"), "general": Arm("general"), "end only": Arm("end only"), "two-way": Arm("two-way"),
    "backwards": Arm("fixed", order="backwards"), "last sentence first": Arm("fixed", order="last sentence first"),
    "delay": Arm("fixed", delay=DELAY), "delay, backwards": Arm("fixed", order="backwards", delay=DELAY),
    "dot": Arm("dot"), "transformer": Arm("transformer"), "fixed, 32": Arm("fixed", 32),
    "general, 32": Arm("general", 32), "additive": Arm("additive"),
    "fixed, to 30": Arm("fixed", longest=30), "general, to 30": Arm("general", longest=30),
}
MAIN = ("fixed", "fixed, 32", "general", "general, 32")
LIKE = {"end only": "fixed", "dot": "general", "two-way": "general", "additive": "general", "fixed, to 30": "fixed",
        "general, to 30": "general", "backwards": "fixed", "last sentence first": "fixed", "delay": "fixed",
        "delay, backwards": "fixed"}
"""The arms that take the rate of another."""


@none_if_diverged
def rate_score(name: str, lr: float, seed: int) -> float:
    """How good a rate is: minus the loss on the passages to choose by."""
    model, _ = learn(ARMS[name], UPDATES, lr, seed, show=False)
    return -loss(model, development(), ARMS[name])


def kept(folder: str, name: str, updates: int, seed: int) -> Path:
    """Where an arm's weights lie."""
    return Path(folder) / f"{name} {updates} {seed}.safetensors"


def train(folder: str, name: str, updates: int, lr: float, seed: int) -> dict[str, Any]:
    """Train an arm and keep it: ``loss`` on the passages to choose by, and ``history``, number of updates and loss on
    passages of `WATCHED` words."""
    arm = ARMS[name]
    watched = pairs(exam(WATCHED, "watched", 40), arm)
    model, history = learn(arm, updates, lr, seed, show=False, evaluate=[watched], evaluate_every=EVERY)
    keep(model, kept(folder, name, updates, seed))
    return {"loss": loss(model, development(), arm), "history": history.validation}


def trained(folder: str, name: str, updates: int, seed: int) -> Seq2Seq | Transformer:
    """An arm that was kept."""
    return with_kept(new(ARMS[name], seed), kept(folder, name, updates, seed))


def budgets(name: str) -> dict[int, tuple[int, ...]]:
    """The numbers of updates that an arm is trained for → the seeds."""
    main = {LONGER: SEEDS} if name in MAIN else {}
    return {UPDATES: SEEDS} | main | ({DOUBLED: SEEDS[:1]} if name == "fixed" else {})


def runs() -> list[tuple[str, int, int]]:
    """Every training as (arm, number of updates, seed), the longest first."""
    every = [(name, updates, seed) for name in ARMS for updates, seeds in budgets(name).items() for seed in seeds]
    return sorted(every, key=lambda run: -run[1])


def trainings(parts: Parts) -> dict[str, Any]:
    """Train and keep all arms; name → ``lr``, the ``rates`` tried, whose they are (``like``); ``loss``: number of
    updates → the loss in nats a token on the passages to choose by, with its spread; and ``history``: seed → that of
    the shortest training."""
    piloted = [name for name in ARMS if name not in LIKE]
    found = best_rates(parts, rate_score, PILOTS, {(name,): RATES.get(name, USUAL) for name in piloted})
    best = {name: found[LIKE.get(name, name),] for name in ARMS}
    folder = str(parts.folder)
    told = parts(train, [(folder, name, updates, best[name][0], seed) for name, updates, seed in runs()])

    def of(name: str, updates: int, seed: int) -> dict[str, Any]:
        return told[folder, name, updates, best[name][0], seed]

    return {name: {"lr": lr, "rates": rates_tried(scores), "like": LIKE.get(name, name), "loss": {
        str(updates): spread({seed: of(name, updates, seed)["loss"] for seed in seeds})
        for updates, seeds in budgets(name).items()}, "history": {
        str(seed): of(name, UPDATES, seed)["history"] for seed in SEEDS}} for name, (lr, scores) in best.items()}
