"""Summary statistics over seeds, in the form in which they are recorded."""

from collections.abc import Mapping
from statistics import mean, stdev
from typing import Any


def seed_summary(values: Mapping[int, float | int]) -> dict[str, Any]:
    """Summary of one number over seeds (seed → value), as a dict for JSON: ``mean``, standard ``deviation``, ``low``
    (minimum), ``high`` (maximum), and all ``seeds`` and ``values``.

    The deviation is None for a single seed. Raises ValueError if there is no seed.
    """
    if not values:
        raise ValueError("a summary needs the value of at least one seed; none was given")
    numbers = list(values.values())
    return {
        "mean": mean(numbers), "deviation": stdev(numbers) if len(numbers) > 1 else None,
        "low": min(numbers), "high": max(numbers), "seeds": list(values), "values": numbers,
    }


def seed_statistics(runs: Mapping[int, Any]) -> Any:
    """Summarize runs with the same structure (seed → numbers, or nested dicts of numbers): returns that structure with
    each number replaced by its `seed_summary`. Raises ValueError if there is no seed."""
    if runs and isinstance(first := next(iter(runs.values())), dict):
        return {key: seed_statistics({seed: run[key] for seed, run in runs.items()}) for key in first}
    return seed_summary(runs)


def separated(one: Mapping[str, Any], other: Mapping[str, Any], margin: float = 0.0) -> bool:
    """Whether the lowest seed of one summary exceeds the highest seed of the other by more than the margin."""
    return one["low"] > other["high"] + margin


def compare_models(tasks: Mapping[str, Mapping[str, Any]], one: str, other: str) -> dict[str, int]:
    """The number of tasks in which the mean of one model is ``higher`` than that of the other, and in which its lowest
    seed is above the other's highest (``separated``); ``tasks``: task → model → its summary, ``score``."""
    scores = [(models[one]["score"], models[other]["score"]) for models in tasks.values()]
    return {"higher": sum(a["mean"] > b["mean"] for a, b in scores),
            "separated": sum(separated(a, b) for a, b in scores)}
