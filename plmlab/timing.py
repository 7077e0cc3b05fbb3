"""Wall-clock time of a piece of work."""

import time
from collections.abc import Callable, Mapping
from typing import Any


def fastest(work: Callable[[], Any], runs: int) -> float:
    """The shortest time of ``runs`` calls of ``work``, in seconds."""
    def seconds() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start
    return min(seconds() for _ in range(runs))


def fastest_in_turn(works: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The shortest time of each of several works, in seconds, of two calls in each round; they take turns, so that a
    busy machine slows all of them down."""
    times = [{name: fastest(work, 2) for name, work in works.items()} for _ in range(rounds)]
    return {name: min(each[name] for each in times) for name in works}
