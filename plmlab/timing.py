"""Wall-clock time of a piece of work."""

import time
from collections.abc import Callable
from typing import Any


def fastest(work: Callable[[], Any], runs: int) -> float:
    """The shortest time of ``runs`` calls of ``work``, in seconds."""
    def seconds() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start
    return min(seconds() for _ in range(runs))
