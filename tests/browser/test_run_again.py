"""Cells that are run again: what the kernel keeps, and what the README says of a page that was loaded again."""

from playwright.sync_api import expect
from servers import IDLE, Desk

from plmlab.paths import ROOT

MAKE = """
from plmlab.labs import SoftmaxLab
SoftmaxLab()
"""
COUNT = """
from ipywidgets.widgets.widget import _instances
print(sum(isinstance(widget, SoftmaxLab) for widget in _instances.values()))
"""
REPLACE = """
old = globals().get("kept")
kept = SoftmaxLab()
kept
"""
SAVE = "() => window.jupyterapp.commands.execute('docmanager:save')"
RESTART = "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
RUN_ALL = "() => window.jupyterapp.commands.execute('notebook:run-all-cells')"


def test_a_lab_whose_cell_is_run_again_is_closed_and_opens_where_it_is_shown_again(jupyter: Desk) -> None:
    page = jupyter.run(MAKE, COUNT, REPLACE, "old", until=".plm-lab .shares")
    for cell in (0, 0, 2):
        jupyter.run_cell(cell)
    assert jupyter.run_cell(1) == "2"
    expect(page.locator(".plm-lab")).to_have_count(2)
    jupyter.run_cell(3)
    expect(page.locator(".plm-lab")).to_have_count(3)
    page.locator(".plm-lab").last.locator("input").first.press("ArrowRight")
    assert jupyter.run_cell(1) == "3"


def test_after_a_restart_and_a_reload_the_readmes_remedy_helps(jupyter: Desk) -> None:
    page = jupyter.run(MAKE, until=".plm-lab .shares")
    page.evaluate(SAVE)
    page.evaluate(RESTART)
    page.reload()
    page.wait_for_function(IDLE)
    error = page.get_by_text("Error displaying widget: model not found")
    expect(error).to_be_visible()
    assert error.inner_text() in (ROOT / "README.md").read_text(encoding="utf-8")
    page.evaluate(RUN_ALL)
    expect(page.locator(".plm-lab .shares")).to_be_visible()
    assert [problem for problem in jupyter.problems if "model not found" not in problem] == []
    jupyter.problems.clear()
