"""The learning rate of an arm: the best of a grid, at no edge of it; and the runs at the best of a few."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from math import inf, isfinite
from statistics import mean
from typing import Any, ParamSpec

from plmlab.recipes.parts import Parts
from plmlab.recipes.statistics import seed_statistics

Given = ParamSpec("Given")
Arm = tuple[Any, ...]
LR_GRID = tuple(float(f"{digit}e{power}") for power in range(-5, 1) for digit in (1, 3))
"""The rates that a grid is made of: 0.00001, 0.00003, 0.0001 … 3."""

Scores = dict[float, float]


def none_if_diverged(score: Callable[Given, float]) -> Callable[Given, float | None]:
    """The score of a run, None where it diverged: no rate that diverges with any pilot seed is ever the best one."""
    @wraps(score)
    def scored(*args: Given.args, **options: Given.kwargs) -> float | None:
        from plmlab.train import Diverged  # where it is used: a recipe that trains nothing starts without torch
        try:
            return score(*args, **options)
        except Diverged:
            return None
    return scored


def rates_tried(scores: Scores) -> list[tuple[float, float | None]]:
    """The rates that were tried with their scores, or their losses, as they are recorded: None where a pilot diverged,
    for JSON has no infinity."""
    return [(lr, score if isfinite(score) else None) for lr, score in scores.items()]


def tune_learning_rate(score: Callable[[Sequence[float]], Scores], first: Sequence[float]) -> tuple[float, Scores]:
    """The rate with the highest score, and the score of every rate that was tried.

    ``score`` gives {rate: score}; ``first`` are the rates to begin with, neighbours on the `LR_GRID`. While the best
    stands at an edge, the grid grows there by one rate. Of rates that tie, the one in the middle is taken.
    ValueError where the ladder ends.
    """
    told = score(first)
    while True:
        grid = sorted(told)
        tied = [rate for rate in grid if told[rate] == max(told.values())]
        best = tied[len(tied) // 2]
        if best not in (grid[0], grid[-1]):
            return best, {rate: told[rate] for rate in grid}
        place = LR_GRID.index(best) + (-1 if best == grid[0] else 1)
        if not 0 <= place < len(LR_GRID):
            raise ValueError(f"the best learning rate, {best:g}, is the last of the ladder: what is scored?")
        told |= score([LR_GRID[place]])


def pilot_score(parts: Parts, score: Callable[..., float | None], seeds: Sequence[int], *arm: Any,
            ) -> Callable[[Sequence[float]], Scores]:
    """What `tune_learning_rate` asks of an arm: rate → the mean over pilot seeds of ``score(*arm, rate, seed)``, −∞
    where one of them is None."""
    def scored(rates: Sequence[float]) -> Scores:
        told = parts(score, [(*arm, rate, seed) for rate in rates for seed in seeds])
        values = {rate: [told[*arm, rate, seed] for seed in seeds] for rate in rates}
        return {rate: -inf if None in found else mean(found) for rate, found in values.items()}
    return scored


def tune_learning_rates(parts: Parts, score: Callable[..., float | None], seeds: Sequence[int],
               grids: Mapping[Arm, Sequence[float]]) -> dict[Arm, tuple[float, Scores]]:
    """Arm → its `tune_learning_rate` over pilot seeds; ``grids``: arm → the rates to begin with, all of which are tried
    side by side before any grid grows."""
    parts(score, [(*arm, rate, seed) for arm, grid in grids.items() for rate in grid for seed in seeds])
    return {arm: tune_learning_rate(pilot_score(parts, score, seeds, *arm), grid) for arm, grid in grids.items()}


def runs_at_best_rates(parts: Parts, reached: Callable[..., Mapping[str, Any]], arms: Mapping[Arm, Sequence[float]],
               seeds: Sequence[int]) -> dict[Arm, dict[str, Any]]:
    """Arm → its ``lr``, the ``rates`` tried, with what each reached on ``development`` rows with the first seed; and
    what the arm reached at the best of them, with the spread of all seeds.

    ``reached(*arm, rate, seed)`` tells a run by numbers, ``development`` among them; ``arms``: arm → the rates to try.
    """
    first = parts(reached, [(*arm, lr, seeds[0]) for arm, rates in arms.items() for lr in rates])
    scores = {arm: {lr: first[*arm, lr, seeds[0]]["development"] for lr in rates} for arm, rates in arms.items()}
    best = {arm: max(told, key=told.__getitem__) for arm, told in scores.items()}
    runs = parts(reached, [(*arm, best[arm], seed) for arm in arms for seed in seeds])
    return {arm: {"lr": lr, "rates": list(scores[arm].items()),
                  **seed_statistics({seed: runs[*arm, lr, seed] for seed in seeds})} for arm, lr in best.items()}


def tuned_by_all_seeds(parts: Parts, reached: Callable[..., Mapping[str, Any]], arms: Mapping[Arm, Sequence[float]],
                       seeds: Sequence[int]) -> dict[Arm, dict[str, Any]]:
    """What `runs_at_best_rates` tells, the rate chosen by the mean of all seeds' development scores, from a grid that
    grows (`tune_learning_rate`)."""
    def at(arm: Arm, rate: float) -> dict[int, Mapping[str, Any]]:
        found = parts(reached, [(*arm, rate, seed) for seed in seeds])
        return {seed: found[*arm, rate, seed] for seed in seeds}

    def scores(arm: Arm, rates: Sequence[float]) -> Scores:
        return {rate: mean(run["development"] for run in at(arm, rate).values()) for rate in rates}

    parts(reached, [(*arm, rate, seed) for arm, rates in arms.items() for rate in rates for seed in seeds])
    best = {arm: tune_learning_rate(partial(scores, arm), rates) for arm, rates in arms.items()}
    return {arm: {"lr": lr, "rates": rates_tried(told), **seed_statistics(at(arm, lr))} for arm,
            (lr, told) in best.items()}
