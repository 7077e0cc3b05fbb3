"""nbval compares what a notebook says in text; how its widgets, plots and pictures are stored it leaves out."""

import pytest
from durations import spent, told
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
    cells = (report for report in told(terminalreporter) if report.fspath.endswith(".ipynb"))
    for name, seconds in sorted(spent(cells, "fspath").items()):
        over = f"  OVER the budget of {BUDGET} s" if seconds > BUDGET else ""
        terminalreporter.write_line(f"{name}: {seconds:.0f} s{over}")
