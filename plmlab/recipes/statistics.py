"""Numbers that were measured with several seeds, as they are recorded."""

from collections.abc import Mapping
from statistics import mean, stdev
from typing import Any


def seed_summary(values: Mapping[int, float | int]) -> dict[str, Any]:
    """One number measured with several seeds (seed → value), as a dict for JSON: ``mean``, standard ``deviation``,
    ``low``, ``high``, and all ``seeds`` and ``values``.

    The deviation is None where there is a single seed. ValueError where there is none.
    """
    if not values:
        raise ValueError("a number needs at least one seed to be measured with; none was given")
    told = list(values.values())
    return {
        "mean": mean(told), "deviation": stdev(told) if len(told) > 1 else None,
        "low": min(told), "high": max(told), "seeds": list(values), "values": told,
    }


def seed_statistics(runs: Mapping[int, Any]) -> Any:
    """Runs of one shape (seed → numbers, or dicts of them, nested alike), as one of that shape whose numbers are
    `seed_summary`. ValueError where there is no seed."""
    if runs and isinstance(first := next(iter(runs.values())), dict):
        return {key: seed_statistics({seed: run[key] for seed, run in runs.items()}) for key in first}
    return seed_summary(runs)


def separated(one: Mapping[str, Any], other: Mapping[str, Any], margin: float = 0.0) -> bool:
    """Of two numbers with their spread: whether each seed of one is above each of the other's, by more than a margin.
    """
    return one["low"] > other["high"] + margin
