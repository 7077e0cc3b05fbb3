"""How long unit tests take, and which take too long."""

from collections.abc import Iterable

import pytest

UNIT_LIMIT = 5
"""Seconds that a unit test may take on two quiet cores, with what is made for it."""


def spent(reports: Iterable[pytest.TestReport], by: str) -> dict[str, float]:
    """Seconds of setup, call and teardown together, for each ``nodeid`` or each ``fspath``."""
    found: dict[str, float] = {}
    for report in reports:
        found[getattr(report, by)] = found.get(getattr(report, by), 0.0) + report.duration
    return found


def told(reporter: pytest.TerminalReporter) -> list[pytest.TestReport]:
    """The reports of a whole run, one for each phase of a test."""
    return [report for some in reporter.stats.values() for report in some if isinstance(report, pytest.TestReport)]


def too_slow(reports: Iterable[pytest.TestReport], limit: float = UNIT_LIMIT) -> list[tuple[str, float]]:
    """(test, seconds) for each unit test that took longer, the slowest first."""
    units = (report for report in reports if "browser" not in report.keywords and not report.fspath.endswith(".ipynb"))
    slow = [(name, seconds) for name, seconds in spent(units, "nodeid").items() if seconds > limit]
    return sorted(slow, key=lambda one: -one[1])
