"""Fair comparisons on a noisy machine: the runners alternate in rounds, and medians over the rounds are reported."""

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median, quantiles

Seconds = dict[str, list[float]]


def race(runners: Mapping[str, Callable[[], object]], *, rounds: int, warm_up: int = 2) -> Seconds:
    """Run each runner once per round; returns the seconds of each run. The ``warm_up`` rounds are not counted.

    Each round starts with a different runner, so that none always follows the same other one.
    """
    seconds: Seconds = {name: [] for name in runners}
    names = list(runners)
    for turn in range(warm_up + rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            start = time.perf_counter()
            runners[name]()
            if turn >= warm_up:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def relative_speed(first: Sequence[float], turns: Sequence[float]) -> str:
    """The speed of a runner with the seconds ``turns`` relative to the ``first`` one in the same rounds, as the median
    over rounds with its quartiles in parentheses."""
    low, middle, high = quantiles([base / mine for base, mine in zip(first, turns, strict=True)])
    return f"{middle:.2f} ({low:.2f}–{high:.2f})"


def table(seconds: Seconds, tokens: int) -> str:
    """The timings as a Markdown table; ``tokens`` is the number of tokens that each run processes.

    The relative speed is the median over rounds of a runner's speed relative to that of the first one in the same
    round: above 1 is faster than the first.
    """
    first = next(iter(seconds.values()))
    lines = ["| | tokens/s | fastest round | relative speed |", "|---|--:|--:|--:|"]
    for name, turns in seconds.items():
        ratio = median(base / mine for base, mine in zip(first, turns, strict=True))
        lines.append(f"| {name} | {tokens / median(turns):,.0f} | {tokens / min(turns):,.0f} | {ratio:.2f} |")
    return "\n".join(lines)
