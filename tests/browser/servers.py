"""Real Jupyter servers for the browser's tests, and one JupyterLab page whose notebook and kernel serve many tests."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, Page
from playwright.sync_api import TimeoutError as WaitedInVain
from watching import LIMIT, SIZE, watched

from plmlab.paths import ROOT

HELPERS = [str(ROOT / "tests"), str(ROOT / "tests" / "labs")]
MASK_LAB = """
from standin import words, SENTENCES
from plmlab.labs import MaskLab
lab = MaskLab(words(), SENTENCES[12], "masked", seed=3)
lab
"""
CHIPS = ".plm-lab .reads > .chip"
TOOLS = ("jupyterlab-jupytext", "@jupyter-notebook")
IDLE = "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
"""True once the notebook in front has a kernel that waits for work."""
FINISHED = """() => [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')]
    .every((prompt) => /\\d/.test(prompt.innerText))"""
"""True once each cell has been run to its end."""
AT_REST = """async (shown) => {
    for (let same = 0, was = '', frames = 0; same < 6 && frames < 3000; frames++) {
        await new Promise(requestAnimationFrame);
        const { x, y, width, height } = shown.getBoundingClientRect(), now = String([x, y, width, height]);
        same = now === was ? same + 1 : 0;
        was = now;
    } }"""
"""Waits until what was found has stood at one place for six frames: a pointer that is sent to it finds it there."""


def free_port() -> int:
    """A port to begin at; Jupyter takes the next free one if somebody else was quicker."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Jupyter:
    """One Jupyter server, of JupyterLab and Notebook 7, on a port of its own, with settings and a folder of its own.

    It has the extensions that the course brings, without those of the tools that the tests need. ``lab`` is a folder
    with another JupyterLab than the installed one, made by ``pip install --target``.
    """

    def __init__(self, folder: Path, lab: Path | None = None) -> None:
        self.folder, self.count = folder, 0
        installed = Path(sys.prefix, "share", "jupyter")
        shutil.copytree(installed / "labextensions", folder / "extensions", ignore=shutil.ignore_patterns(*TOOLS))
        environment = {
            **os.environ, "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(folder / "spaces"), "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
            "JUPYTERLAB_DIR": str((lab / "share" / "jupyter" if lab else installed) / "lab"),
            "PYTHONPATH": os.pathsep.join([*([str(lab)] if lab else []), str(ROOT), *HELPERS]), "OMP_NUM_THREADS": "1",
        }
        self.log = (folder / "server.log").open("w")
        self.server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", f"--port={free_port()}", "--allow-root",
             "--IdentityProvider.token=", "--ServerApp.ip=127.0.0.1", f"--ServerApp.root_dir={folder}",
             f"--LabServerApp.labextensions_path={folder / 'extensions'}",
             f"--LabApp.app_settings_dir={installed / 'lab' / 'settings'}",
             "--LabApp.expose_app_in_browser=True", "--JupyterNotebookApp.expose_app_in_browser=True"],
            stdout=self.log, stderr=subprocess.STDOUT, env=environment)
        deadline = time.monotonic() + LIMIT
        started = folder / "runtime" / f"jpserver-{self.server.pid}.json"
        while time.monotonic() < deadline and self.server.poll() is None:
            with suppress(FileNotFoundError, json.JSONDecodeError):
                self.url = f"http://127.0.0.1:{json.loads(started.read_text())['port']}"
                return
            time.sleep(0.1)
        self.close()
        raise RuntimeError("JupyterLab did not start: " + (folder / "server.log").read_text()[-2000:])

    def close(self) -> None:
        self.server.terminate()
        self.server.wait(LIMIT)
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def notebook(self, *cells: str) -> str:
        """The name of a new notebook in the server's folder, which holds these cells."""
        self.count += 1
        name = f"test-{self.count}.ipynb"
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        nbformat.write(new_notebook(cells=[new_code_cell(c) for c in cells], metadata=kernel), self.folder / name)
        return name


EMPTY = """async () => {
    const panel = window.jupyterapp.shell.currentWidget, notebook = panel.content.model.sharedModel;
    notebook.transact(() => {
        notebook.deleteCellRange(0, notebook.cells.length);
        notebook.insertCell(0, { cell_type: 'code', source: '', metadata: {} });
    });
    await panel.sessionContext.session.kernel.requestExecute({ silent: true, store_history: false,
        code: 'from ipywidgets import Widget; Widget.close_all(); get_ipython().reset()' }).done; }"""
RUN_ALL = """async (sources) => {
    const app = window.jupyterapp, notebook = app.shell.currentWidget.content.model.sharedModel;
    notebook.transact(() => {
        notebook.deleteCellRange(0, notebook.cells.length);
        notebook.insertCells(0, sources.map((source) => ({ cell_type: 'code', source, metadata: {} })));
    });
    void app.commands.execute('notebook:run-all-cells'); }"""
ASKED = """async (question) => {
    const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
    const { content } = await kernel.requestExecute({ code: '', store_history: false,
        user_expressions: { answer: question } }).done;
    return content.user_expressions?.answer.data?.['text/plain']; }"""
"""What Python gives for an expression; all that it had sent before has reached the page by then."""
ROUND_TRIPS = """async (drawn) => {
    const spent = [];
    for (let i = 0; i < 12; i++) {
        const start = performance.now();
        const painted = new Promise((done) => {
            const watch = new MutationObserver(() => { watch.disconnect(); requestAnimationFrame(done); });
            watch.observe(document.querySelector(drawn), { childList: true });
        });
        const nodes = PRESSED;
        nodes[i % nodes.length].click();
        await painted;
        spent.push(performance.now() - start);
    }
    return spent; }"""


class Desk:
    """A notebook in JupyterLab that stays open from test to test, and its kernel with it.

    Each test has it to itself: ``run`` takes away the cells, the widgets and the names that stood, and only what Python
    has imported is there already. ``problems`` is what went wrong on the page.
    """

    def __init__(self, server: Jupyter, browser: Browser) -> None:
        self.server, self.browser = server, browser
        self.problems: list[str] = []
        self.open()

    def open(self) -> None:
        """Open a new notebook on a new page, with a new kernel."""
        self.page = self.browser.new_page(viewport=SIZE)
        watched(self.page, self.problems)
        self.page.goto(f"{self.server.url}/lab/tree/{self.server.notebook('')}?reset")
        self.page.wait_for_function(IDLE)

    def run(self, *cells: str, until: str, to_the_end: bool = True) -> Page:
        """Cells that are all there is in the notebook, run to their end and until a selector is there, at rest; returns
        the page. Without ``to_the_end`` they may still be running."""
        try:
            self.page.wait_for_function(IDLE)
        except WaitedInVain:
            self.page.close()
            self.open()
        self.page.mouse.move(0, 0)
        self.page.evaluate(EMPTY)
        self.page.wait_for_function("() => !document.querySelector('.jp-OutputArea-output')")
        self.page.evaluate(RUN_ALL, cells)
        self.page.wait_for_selector(until)
        if to_the_end:
            self.page.wait_for_function(FINISHED)
            self.page.wait_for_function(IDLE)
        self.page.locator(until).first.evaluate(AT_REST)
        return self.page

    def lab(self, made: str, *cells: str, until: str) -> Page:
        """``run`` with a first cell that shows ``lab``, made by Python that may name what beginnings are made of."""
        from beginnings import IMPORTS
        return self.run(f"{IMPORTS}\nlab = {made}\nlab", *cells, until=until)

    def run_cell(self, number: int, until: str = "") -> str:
        """Run one cell again, and again until a pattern is found in the text that it prints; give the text."""
        deadline = time.monotonic() + LIMIT
        while not re.search(until, said := self._run_once(number)):
            assert time.monotonic() < deadline, f"{said!r} has not become {until!r}"
        return said

    def until(self, expression: str) -> None:
        """Wait until an expression is true in Python, and the page has what it sent before that."""
        deadline = time.monotonic() + LIMIT
        while (said := self.page.evaluate(ASKED, expression)) != "True":
            assert time.monotonic() < deadline, f"{expression}: {said}"

    def _run_once(self, number: int) -> str:
        cell = self.page.locator(".jp-CodeCell").nth(number)
        cell.locator(".cm-content").click()
        before = cell.locator(".jp-InputPrompt").first.inner_text()
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_function(
            "([i, was]) => { const cell = document.querySelectorAll('.jp-CodeCell')[i];"
            " const t = cell.querySelector('.jp-InputPrompt').innerText; return t !== was && /\\d/.test(t); }",
            arg=[number, before])
        return cell.locator(".jp-OutputArea-output").inner_text().strip()

    def round_trips(self, pressed: str, drawn: str) -> list[float]:
        """Milliseconds from a click to the frame that shows other children of ``drawn``, a selector; twelve times.

        ``pressed`` is JavaScript for a list of nodes, which are clicked in turn.
        """
        return self.page.evaluate(ROUND_TRIPS.replace("PRESSED", pressed), drawn)

    @contextmanager
    def dark(self) -> Iterator[None]:
        """JupyterLab's dark theme, as long as it lasts."""
        self.theme("JupyterLab Dark")
        yield
        self.theme("JupyterLab Light")

    def theme(self, name: str) -> None:
        self.page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", name)
        self.page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=name)
