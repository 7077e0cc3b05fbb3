"""A browser for the labs: pages that stand alone, and one real JupyterLab; neither may reach the network."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, Page, sync_playwright

from plmlab.labs import Lab
from plmlab.labs.picture import FLAGS
from plmlab.paths import ROOT

HELPERS = [str(ROOT / "tests"), str(ROOT / "tests" / "labs")]
sys.path.extend(HELPERS)
ELSEWHERE = re.compile(r"(https?|wss?)://(?!127\.0\.0\.1|localhost)")


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield running
        running.close()


PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh page, where a pressed key is answered before the test goes on, since labs draw once a frame.

    The test fails if a script raised, a dialog opened or a request left the machine.
    """
    problems: list[str] = []
    opened = browser.new_page(viewport={"width": 1280, "height": 1000})
    opened.on("pageerror", lambda error: problems.append(f"script error: {error}"))
    opened.on("dialog", lambda dialog: (problems.append(f"a script ran: {dialog.message}"), dialog.dismiss()))
    opened.on("console", lambda said: problems.append(f"console: {said.text}") if said.type == "error" else None)
    opened.on("request", lambda asked: problems.append(f"left the machine: {asked.url[:100]}")
              if ELSEWHERE.match(asked.url) else None)
    press = opened.keyboard.press

    def pressed(key: str) -> None:
        press(key)
        opened.evaluate(PAINTED)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opened.keyboard, "press", pressed)
        yield opened
    opened.close()
    assert problems == []


@pytest.fixture
def show(page: Page, tmp_path: Path) -> Callable[..., Page]:
    """``show(lab, theme)`` opens the lab's page of its own."""
    def opened(lab: Lab, theme: str = "light") -> Page:
        file = tmp_path / "lab.html"
        file.write_text(lab.html(theme), encoding="utf-8")
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-drawn]")
        return page
    return opened


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


def free_port() -> int:
    """A port to begin at; JupyterLab takes the next free one if somebody else was quicker."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Jupyter:
    """One JupyterLab on a port of its own, with settings of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.count = folder, 0
        self.settings = folder / "settings"
        self.setting("notification", fetchNews="false", checkForUpdates=False)
        environment = {
            **os.environ, "JUPYTERLAB_SETTINGS_DIR": str(self.settings),
            "JUPYTERLAB_WORKSPACES_DIR": str(folder / "spaces"),
            "JUPYTER_RUNTIME_DIR": str(folder / "runtime"), "PYTHONPATH": os.pathsep.join([str(ROOT), *HELPERS]),
            "OMP_NUM_THREADS": "1",
        }
        self.log = (folder / "server.log").open("w")
        self.server = subprocess.Popen(
            [sys.executable, "-m", "jupyter", "lab", "--no-browser", f"--port={free_port()}", "--allow-root",
             "--IdentityProvider.token=", "--ServerApp.ip=127.0.0.1", f"--ServerApp.root_dir={folder}"],
            stdout=self.log, stderr=subprocess.STDOUT, env=environment)
        deadline = time.monotonic() + 60
        started = folder / "runtime" / f"jpserver-{self.server.pid}.json"
        while time.monotonic() < deadline and self.server.poll() is None:
            with suppress(FileNotFoundError, json.JSONDecodeError):
                self.port = json.loads(started.read_text())["port"]
                return
            time.sleep(0.2)
        self.close()
        raise RuntimeError("JupyterLab did not start: " + (folder / "server.log").read_text()[-2000:])

    def close(self) -> None:
        self.server.terminate()
        self.server.wait(20)
        self.log.close()

    def setting(self, name: str, **values: object) -> None:
        """A setting of the pages that are opened from now on."""
        place = self.settings / "@jupyterlab" / "apputils-extension"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{name}.jupyterlab-settings").write_text(json.dumps(values))

    def run(self, page: Page, *cells: str, until: str) -> Page:
        """A notebook of these cells, opened and run until a selector is there."""
        self.count += 1
        name = f"test-{self.count}.ipynb"
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        nbformat.write(new_notebook(cells=[new_code_cell(c) for c in cells], metadata=kernel), self.folder / name)
        page.goto(f"http://127.0.0.1:{self.port}/lab/tree/{name}?reset")
        page.wait_for_selector(".jp-StatusBar-TextItem:has-text('(ipykernel) | Idle')", timeout=30_000)
        page.wait_for_selector("[data-status=idle].jp-Notebook-ExecutionIndicator", timeout=30_000)
        page.keyboard.press("Escape")
        page.click("div.lm-MenuBar-itemLabel:text-is('Run')")
        page.click("div.lm-Menu-itemLabel:text-is('Run All Cells')")
        page.wait_for_selector(until, timeout=30_000)
        return page

    def round_trips(self, page: Page, pressed: str, drawn: str) -> list[float]:
        """Milliseconds from a click to the frame that shows other children of ``drawn``, a selector; twelve times.

        ``pressed`` is JavaScript for a list of nodes, which are clicked in turn.
        """
        return page.evaluate(ROUND_TRIPS.replace("PRESSED", pressed), drawn)

    def run_cell(self, page: Page, number: int) -> str:
        """Run one cell again and give the text that it prints."""
        cell = page.locator(".jp-CodeCell").nth(number)
        cell.locator(".cm-content").click()
        before = cell.locator(".jp-InputPrompt").first.inner_text()
        page.keyboard.press("Control+Enter")
        page.wait_for_function(
            "([i, was]) => { const cell = document.querySelectorAll('.jp-CodeCell')[i];"
            " const t = cell.querySelector('.jp-InputPrompt').innerText; return t !== was && /\\d/.test(t); }",
            arg=[number, before], timeout=20_000)
        return cell.locator(".jp-OutputArea-output").inner_text().strip()


@pytest.fixture(scope="session")
def jupyter(tmp_path_factory: pytest.TempPathFactory, chromium: str) -> Iterator[Jupyter]:
    folder = tmp_path_factory.mktemp("jupyter")
    running = Jupyter(folder)
    yield running
    running.close()
    shutil.rmtree(folder, ignore_errors=True)
