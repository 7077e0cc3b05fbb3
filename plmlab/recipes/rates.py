"""Learning-rate search: choose the best rate of a grid, provided that it is not at the edge of the grid, and run with
it."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from math import inf, isfinite
from statistics import mean
from typing import Any, ParamSpec

from plmlab.recipes.parts import Parts
from plmlab.recipes.statistics import seed_statistics

Given = ParamSpec("Given")
Arm = tuple[Any, ...]
LR_GRID = tuple(float(f"{digit}e{power}") for power in range(-5, 1) for digit in (1, 3))
"""Learning rates from which grids are formed: 0.00001, 0.00003, 0.0001 … 3."""

Scores = dict[float, float]


def none_if_diverged(score: Callable[Given, float]) -> Callable[Given, float | None]:
    """Decorator that makes a score function return None if the run diverges. A rate that diverges for any pilot seed is
    never chosen.
    """
    @wraps(score)
    def scored(*args: Given.args, **options: Given.kwargs) -> float | None:
        from plmlab.train import Diverged  # imported here, so that a recipe without training does not import torch
        try:
            return score(*args, **options)
        except Diverged:
            return None
    return scored


def rates_tried(scores: Scores) -> list[tuple[float, float | None]]:
    """The rates tried with their scores or losses, in the form in which they are recorded: None if a pilot run
    diverged, because JSON has no infinity."""
    return [(lr, score if isfinite(score) else None) for lr, score in scores.items()]


def tune_learning_rate(score: Callable[[Sequence[float]], Scores], first: Sequence[float]) -> tuple[float, Scores]:
    """Find the learning rate with the highest score. Returns the rate and the score of every rate tried.

    ``score`` maps a list of rates to {rate: score}; ``first`` is the initial grid of neighbouring rates on the
    `LR_GRID`. While the best rate is at an edge of the grid, the grid is extended there by one rate. Among rates with
    equal scores, the middle one is chosen. Raises ValueError if the best rate is at an end of the `LR_GRID`.
    """
    return extended(lambda asked: {(): score(asked[()])}, {(): first})[()]


def extended(scored: Callable[[Mapping[Arm, Sequence[float]]], Mapping[Arm, Scores]],
             grids: Mapping[Arm, Sequence[float]]) -> dict[Arm, tuple[float, Scores]]:
    """Find the learning rate with the highest score for each variant, from its initial grid. ``scored`` maps variants,
    each with a list of rates, to their scores; all variants whose grid has to be extended are asked together."""
    scores: dict[Arm, Scores] = {arm: {} for arm in grids}
    asked: dict[Arm, Sequence[float]] = dict(grids)
    while asked:
        for arm, found in scored(asked).items():
            scores[arm] |= found
        asked = {arm: [more] for arm in asked if (more := next_rate(scores[arm])) is not None}
    return {arm: (best_rate(of), dict(sorted(of.items()))) for arm, of in scores.items()}


def best_rate(scores: Scores) -> float:
    """The rate with the highest score; among rates with equal scores, the middle one."""
    tied = [rate for rate in sorted(scores) if scores[rate] == max(scores.values())]
    return tied[len(tied) // 2]


def next_rate(scores: Scores) -> float | None:
    """The rate by which the grid has to be extended, because the best one is at its edge; None if it is not. Raises
    ValueError if the best rate is at an end of the `LR_GRID`."""
    best = best_rate(scores)
    if best not in (min(scores), max(scores)):
        return None
    place = LR_GRID.index(best) + (-1 if best == min(scores) else 1)
    if not 0 <= place < len(LR_GRID):
        raise ValueError(f"the best learning rate, {best:g}, is at an end of LR_GRID; check the score function")
    return LR_GRID[place]


def pilot_score(parts: Parts, score: Callable[..., float | None], seeds: Sequence[int], *arm: Any,
            ) -> Callable[[Sequence[float]], Scores]:
    """Make the score function of a variant for `tune_learning_rate`: rate → the mean over pilot seeds of ``score(*arm,
    rate, seed)``, or −∞ if one of these is None."""
    def scored(rates: Sequence[float]) -> Scores:
        results = parts(score, [(*arm, rate, seed) for rate in rates for seed in seeds])
        by_rate = {rate: [results[*arm, rate, seed] for seed in seeds] for rate in rates}
        return {rate: -inf if None in values else mean(values) for rate, values in by_rate.items()}
    return scored


def tune_learning_rates(parts: Parts, score: Callable[..., float | None], seeds: Sequence[int],
                        grids: Mapping[Arm, Sequence[float]]) -> dict[Arm, tuple[float, Scores]]:
    """Apply `tune_learning_rate` to each variant, averaging over pilot seeds. Returns variant → (rate, scores).
    ``grids`` maps each variant to its initial grid; the grids of all variants are evaluated, and extended, in
    parallel."""
    def scored(asked: Mapping[Arm, Sequence[float]]) -> dict[Arm, Scores]:
        parts(score, [(*arm, rate, seed) for arm, rates in asked.items() for rate in rates for seed in seeds])
        return {arm: pilot_score(parts, score, seeds, *arm)(rates) for arm, rates in asked.items()}
    return extended(scored, grids)


def runs_at_best_rates(parts: Parts, reached: Callable[..., Mapping[str, Any]], arms: Mapping[Arm, Sequence[float]],
                       seeds: Sequence[int]) -> dict[Arm, dict[str, Any]]:
    """Variant → a dict with the learning rate ``lr``; the ``rates`` tried, with their ``development`` score for the
    first seed; and the results at the best rate, summarized over all seeds.

    ``reached(*arm, rate, seed)`` returns the numbers of a run, including ``development``; ``arms`` maps each variant to
    the rates to try.
    """
    first = parts(reached, [(*arm, lr, seeds[0]) for arm, rates in arms.items() for lr in rates])
    scores = {arm: {lr: first[*arm, lr, seeds[0]]["development"] for lr in rates} for arm, rates in arms.items()}
    best = {arm: max(by_rate, key=by_rate.__getitem__) for arm, by_rate in scores.items()}
    runs = parts(reached, [(*arm, best[arm], seed) for arm in arms for seed in seeds])
    return {arm: {"lr": lr, "rates": list(scores[arm].items()),
                  **seed_statistics({seed: runs[*arm, lr, seed] for seed in seeds})} for arm, lr in best.items()}


def tuned_by_all_seeds(parts: Parts, reached: Callable[..., Mapping[str, Any]], arms: Mapping[Arm, Sequence[float]],
                       seeds: Sequence[int]) -> dict[Arm, dict[str, Any]]:
    """Like `runs_at_best_rates`, but the rate is chosen by the mean development score over all seeds, from a grid that
    is extended if necessary (`tune_learning_rate`)."""
    def at(arm: Arm, rate: float) -> dict[int, Mapping[str, Any]]:
        runs = parts(reached, [(*arm, rate, seed) for seed in seeds])
        return {seed: runs[*arm, rate, seed] for seed in seeds}

    def scored(asked: Mapping[Arm, Sequence[float]]) -> dict[Arm, Scores]:
        parts(reached, [(*arm, rate, seed) for arm, rates in asked.items() for rate in rates for seed in seeds])
        return {arm: {rate: mean(run["development"] for run in at(arm, rate).values()) for rate in rates}
                for arm, rates in asked.items()}

    best = extended(scored, arms)
    return {arm: {"lr": lr, "rates": rates_tried(by_rate), **seed_statistics(at(arm, lr))}
            for arm, (lr, by_rate) in best.items()}
