"""Fair races on a noisy machine: the runners take turns, and the median of many turns counts."""

import time
from collections.abc import Callable, Mapping
from statistics import median

Seconds = dict[str, list[float]]


def race(runners: Mapping[str, Callable[[], object]], *, rounds: int, warm_up: int = 2) -> Seconds:
    """Let each runner run once a round; returns the seconds of each of its turns. The first rounds do not count.

    Each round begins with another runner, so that no one always runs after the same other.
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


def table(seconds: Seconds, tokens: int) -> str:
    """The race as a Markdown table; ``tokens`` is what each turn handles.

    The ratio is the median over rounds of a runner's speed against that of the first one in the same round:
    above 1 is faster than the first.
    """
    first = next(iter(seconds.values()))
    lines = ["| | tokens/s | fastest round | relative speed |", "|---|--:|--:|--:|"]
    for name, turns in seconds.items():
        ratio = median(base / mine for base, mine in zip(first, turns, strict=True))
        lines.append(f"| {name} | {tokens / median(turns):,.0f} | {tokens / min(turns):,.0f} | {ratio:.2f} |")
    return "\n".join(lines)
