"""How much of a target should be hidden, and is hiding wasteful? The ways of `plmlab.chapters.ch12.targets`.

Rates are chosen for each budget up to `PILOT` updates; the larger one takes those of `PILOT`. (A first look had one
rate for all budgets, found after 800 updates. It made next words slow in short runs: what it said of these was wrong.)
Some ways have nothing right after few updates, at any rate. A `Study` would refuse to choose a rate among such runs;
here it is the middle one, and what is told is that nothing is right.

Written before the runs. A way *writes* after the least of the budgets after which its mean over the seeds is 90 right
of 100. "Masking wastes most of a target" is right if every share of hidden words needs a larger budget than asking
every position for its next word. But what is wasted is only the *share* if asking as few next words is as slow; if that
is faster too, the waste is not how few are asked. *Masks behind* ask every word in place, with the right words before
it in sight: if they are slow too, it is the question that is hard; if not, it is what is hidden beside it. With all of
the target hidden, nothing is learned of how a word depends on those before it: it must write badly. (It does not: in
this world the source tells nearly all.)
"""

from typing import Any

from plmlab.chapters.ch12 import shares, small_writing
from plmlab.chapters.ch12.targets import WAYS
from plmlab.recipes import Parts, none_if_diverged, rates_tried, seed_summary, tune_learning_rates

BUDGETS, PILOT = (200, 400, 800, 3200), 800
RATES, PILOTS, SEEDS = (1e-3, 3e-3, 1e-2), (8,), (0, 1, 2)
ENOUGH = 0.9


def tuned(way: str, updates: int, lr: float, seed: int, split: str = "test") -> float:
    """The share that is translated without a mistake after so many updates."""
    make, write = WAYS[way]
    model = shares.new(seed)
    small_writing.tune(model, make, updates, lr, seed, show=False)
    return small_writing.right(model, split, write)


@none_if_diverged
def rate_score(way: str, updates: int, lr: float, seed: int) -> float:
    """How good a rate is, on sentences like those of the training."""
    return tuned(way, updates, lr, seed, "train")


def measure(parts: Parts) -> dict[str, Any]:
    """Way → the ``lr`` by updates and the ``rates`` tried, the share ``right`` by updates, with spread, and after how
    many it ``writes`` (None: after none of the budgets)."""
    tried = tune_learning_rates(parts, rate_score, PILOTS, {
        (way, updates): RATES for way in WAYS for updates in BUDGETS if updates <= PILOT})
    chosen = {(way, updates): tried[way, min(updates, PILOT)] for way in WAYS for updates in BUDGETS}
    found = parts(tuned, [(way, updates, lr, seed) for (way, updates), (lr, _) in chosen.items() for seed in SEEDS])
    told: dict[str, Any] = {}
    for way in WAYS:
        right = {str(updates): seed_summary({seed: found[way, updates, chosen[way, updates][0], seed]
                                             for seed in SEEDS})
                 for updates in BUDGETS}
        told[way] = {
            "lr": {str(updates): chosen[way, updates][0] for updates in BUDGETS},
            "rates": {str(updates): rates_tried(chosen[way, updates][1]) for updates in BUDGETS},
            "right": right, "writes": next(
                (updates for updates in BUDGETS if right[str(updates)]["mean"] >= ENOUGH), None)}
    return told
