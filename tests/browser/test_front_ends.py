"""The labs in each front end that the course promises: the oldest JupyterLab, the newest, and Notebook 7."""

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect
from servers import CHIPS, IDLE, MASK_LAB, Jupyter
from watching import LIMIT, SIZE, watched

from plmlab.paths import ROOT

OLDEST = ROOT / ".venv" / "jupyterlab-4.3"
TOLD = "print(lab.objective, lab.edits)"
CROSS = ".plm-lab .cross"
PRINTED = ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stdout']"
NOT_SAVED = "() => window.jupyterapp.shell.currentWidget.context.model.dirty"
CHOSEN_CELL = "() => window.jupyterapp.shell.currentWidget.content.activeCellIndex"
RUNNING = "() => JSON.parse(document.getElementById('jupyter-config-data').textContent)"


@dataclass(frozen=True)
class FrontEnd:
    """What runs in the browser, where its server shows a notebook, and patterns of errors that are its own."""

    application: str
    versions: str
    place: str
    its_own: tuple[str, ...] = ()


SPLASH = r"script error: .*'removeChild' on 'Node'[^\n]*\n +at [^\n]*/static/(lab|notebook)/[^\n]*$"
"""JupyterLab and Notebook take their own splash screen away twice, where a page is loaded slowly."""
WITHOUT_EXTENSIONS = (r"script error: .*reading 'schema'[^\n]*\n +at [^\n]*/static/notebook/notebook_core",
                      r"script error: .*Command 'filebrowser:open-path' not registered")
"""What Notebook says of itself."""
FRONT_ENDS = {
    "JupyterLab, the oldest": FrontEnd("JupyterLab", r"4\.3\.\d+", "lab/tree", (SPLASH,)),
    "JupyterLab, the newest": FrontEnd("JupyterLab", re.escape(version("jupyterlab")), "lab/tree", (SPLASH,)),
    "Notebook": FrontEnd("Jupyter Notebook", r"7\.\d+\.\d+", "notebooks", (SPLASH, *WITHOUT_EXTENSIONS)),
}


@pytest.fixture(scope="module")
def oldest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jupyter]:
    if not (OLDEST / "jupyterlab").is_dir():
        pytest.fail(f"{OLDEST.relative_to(ROOT)}, the oldest JupyterLab, is missing: run `make test`, which installs "
                    "it", pytrace=False)
    running = Jupyter(tmp_path_factory.mktemp("oldest"), OLDEST)
    yield running
    running.close()


@dataclass(frozen=True)
class Opened:
    """A notebook with a Mask Lab in a front end, which has run."""

    front_end: FrontEnd
    server: Jupyter
    name: str
    page: Page
    problems: list[str]

    @property
    def file(self) -> Path:
        return self.server.folder / self.name

    def new_problems(self) -> list[str]:
        """What has gone wrong since this was last asked."""
        found, self.problems[:] = self.problems[:], []
        return [problem for problem in found if not any(re.match(own, problem) for own in self.front_end.its_own)]

    def run_all(self) -> None:
        self.page.click("div.lm-MenuBar-itemLabel:text-is('Run')")
        self.page.click("div.lm-Menu-itemLabel:text-is('Run All Cells')")

    def save(self) -> None:
        """Save the notebook by its key, once nothing runs any more."""
        self.page.wait_for_function(IDLE)
        self.page.locator(".jp-CodeCell .jp-InputPrompt").last.click()
        self.page.keyboard.press("Control+s")
        self.page.wait_for_function(f"() => !({NOT_SAVED})()")

    def stored(self) -> nbformat.NotebookNode:
        """The notebook's file; while the server is writing it, it is empty for a moment."""
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline:
            with suppress(nbformat.reader.NotJSONError):
                return nbformat.read(self.file, as_version=4)
            time.sleep(0.05)
        raise AssertionError(f"{self.file} holds no notebook for {LIMIT} s")

    def load(self) -> None:
        """Open the notebook, and wait for its kernel."""
        self.page.goto(f"{self.server.url}/{self.front_end.place}/{self.name}?reset")
        self.page.wait_for_function(IDLE)


@pytest.fixture(scope="module", params=FRONT_ENDS)
def standing(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Opened]:
    server: Jupyter = request.getfixturevalue("oldest" if "oldest" in request.param else "server")
    problems: list[str] = []
    page = browser.new_page(viewport=SIZE)
    watched(page, problems)
    notebook = Opened(FRONT_ENDS[request.param], server, server.notebook(MASK_LAB, TOLD), page, problems)
    notebook.load()
    notebook.run_all()
    page.wait_for_selector(CHIPS)
    expect(page.locator(PRINTED)).to_have_text("masked []")
    yield notebook
    page.close()


@pytest.fixture
def opened(standing: Opened) -> Iterator[Opened]:
    """A lab that is drawn. The test fails if a script raised, a dialog opened or a request left the machine."""
    yield standing
    assert standing.new_problems() == []


def test_what_runs_is_what_is_meant(opened: Opened) -> None:
    config = opened.page.evaluate(RUNNING)
    assert config["appName"] == opened.front_end.application
    assert re.fullmatch(opened.front_end.versions, config["appVersion"])
    assert opened.page.evaluate("() => window.jupyterapp.version") == config["appVersion"]


def test_a_choice_goes_to_the_kernel_and_keys_stay_in_the_lab(opened: Opened) -> None:
    page = opened.page
    expect(page.locator(CHIPS)).to_have_count(12)
    expect(page.locator(CHIPS).first).to_have_text("[CLS]")
    page.select_option("[aria-label=objective]", "causal")
    expect(page.locator(CHIPS).first).to_have_text("[START]")
    page.focus(CROSS)
    page.keyboard.press("Control+Home")
    chosen = page.evaluate(CHOSEN_CELL)
    for key, column, row in (("ArrowDown", 1, 2), ("ArrowDown", 1, 3), ("ArrowRight", 2, 3), ("ArrowUp", 2, 2),
                             ("End", 11, 2), ("Home", 1, 2)):
        page.keyboard.press(key)
        assert page.get_attribute(CROSS, "aria-colindex") == str(column), key
        assert page.get_attribute(".plm-lab [role=row]:has(.cross)", "aria-rowindex") == str(row), key
        assert page.evaluate("document.activeElement.className") == "cross"
    page.keyboard.press("Enter")
    expect(page.locator(".plm-lab .why")).to_contain_text("you blocked this pair by hand")
    assert page.evaluate(CHOSEN_CELL) == chosen, "the notebook has followed the keys"
    page.locator(".jp-CodeCell .cm-content").last.click()
    page.keyboard.press("Control+Enter")
    expect(page.locator(PRINTED)).to_contain_text("causal [[")


def test_a_theme_that_changes_changes_the_lab(opened: Opened) -> None:
    page, lab = opened.page, opened.page.locator(".plm-lab")
    for theme, ground, names in (("JupyterLab Dark", "rgb(33, 33, 33)", ["#212121"]),
                                 ("JupyterLab Light", "rgb(255, 255, 255)", ["white", "#fff"])):
        page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
        page.wait_for_function("names => names.includes(getComputedStyle(document.body)"
                               ".getPropertyValue('--jp-layout-color1').trim())", arg=names)
        expect(lab).to_have_css("background-color", ground)


def test_a_saved_notebook_that_is_reopened_still_talks_to_its_kernel(opened: Opened) -> None:
    page = opened.page
    opened.save()
    opened.load()
    expect(page.locator(CHIPS).first).to_be_visible()
    was = page.input_value("[aria-label=objective]")
    wanted, first = ("masked", "[CLS]") if was == "causal" else ("causal", "[START]")
    expect(page.locator(CHIPS).first).not_to_have_text(first)
    page.select_option("[aria-label=objective]", wanted)
    expect(page.locator(CHIPS).first).to_have_text(first)
    page.focus(CROSS)
    page.keyboard.press("Control+Home")
    assert page.get_attribute(CROSS, "aria-colindex") == "1"


def test_without_its_kernel_a_lab_is_said_to_be_gone_and_comes_back_when_run(opened: Opened) -> None:
    """ipywidgets' own words; the file keeps no widget's state, and does keep the lab's line of text."""
    page = opened.page
    opened.save()
    stored = opened.stored()
    assert "widgets" not in stored.metadata
    assert stored.cells[0].outputs[0].data["text/plain"].startswith("<MaskLab: ")
    page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    opened.load()
    expect(page.locator(".jp-OutputArea-output").first).to_have_text("Error displaying widget: model not found")
    told = [problem.splitlines()[0] for problem in opened.new_problems()]
    assert told == ["console: Error: widget model not found"]
    opened.run_all()
    expect(page.locator(CHIPS)).to_have_count(12)
    expect(page.locator(CHIPS).first).to_have_text("[CLS]")
