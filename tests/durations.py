"""How long unit tests take, and which take too long."""

from collections.abc import Iterable

import pytest

UNIT_LIMIT = 5
"""Seconds that a unit test may take on two quiet cores, with what is made for it."""


def too_slow(reports: Iterable[pytest.TestReport], limit: float = UNIT_LIMIT) -> list[tuple[str, float]]:
    """(test, seconds) for each test whose setup, call and teardown took longer together, the slowest first."""
    spent: dict[str, float] = {}
    for report in reports:
        if not report.fspath.endswith(".ipynb"):
            spent[report.nodeid] = spent.get(report.nodeid, 0.0) + report.duration
    return sorted(((name, seconds) for name, seconds in spent.items() if seconds > limit), key=lambda one: -one[1])
