"""nbval compares what a notebook says in text; how its widgets, plots and pictures are stored it leaves out."""

from collections.abc import Iterator

import pytest
from nbval.plugin import IPyNbCell

NOT_COMPARED = (
    "image/png", "image/svg+xml", "text/html", "application/javascript", "application/vnd.plotly.v1+json",
    "application/vnd.jupyter.widget-view+json",
)
BUDGET = 90
"""Seconds that a notebook may take on two cores."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Extend nbval's list of what is not compared."""
    for item in items:
        if isinstance(item, IPyNbCell):
            item.parent.skip_compare = tuple({*item.parent.skip_compare, *NOT_COMPARED})


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell how long each notebook took, beside what it may take."""
    spent: dict[str, float] = {}
    for report in notebook_reports(terminalreporter):
        spent[report.fspath] = spent.get(report.fspath, 0.0) + report.duration
    for name, seconds in sorted(spent.items()):
        over = f"  OVER the budget of {BUDGET} s" if seconds > BUDGET else ""
        terminalreporter.write_line(f"{name}: {seconds:.0f} s{over}")


def notebook_reports(reporter: pytest.TerminalReporter) -> Iterator[pytest.TestReport]:
    """The reports of cells, one for each phase."""
    for reports in reporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport) and report.fspath.endswith(".ipynb"):
                yield report
