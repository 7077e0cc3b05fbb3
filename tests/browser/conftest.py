"""A browser for the labs: pages that stand alone, and one real JupyterLab; neither may reach the network.

Pages, servers and kernels are started once a worker; what a test gets of them is empty.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from servers import HELPERS, Desk, Jupyter
from watching import SIZE, watched

from plmlab.labs import Lab
from plmlab.labs.picture import FLAGS

sys.path.extend(HELPERS)


def pytest_itemcollected(item: pytest.Item) -> None:
    """All that lies here needs a browser."""
    item.add_marker("browser")


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def tab(browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    """A page that stands open for all tests, and what went wrong on it since it was last looked at."""
    problems: list[str] = []
    opened = browser.new_page(viewport=SIZE)
    watched(opened, problems)
    yield opened, problems
    opened.close()


@pytest.fixture
def page(tab: tuple[Page, list[str]]) -> Iterator[Page]:
    """An empty page. The test fails if a script raised, a dialog opened or a request left the machine."""
    opened, problems = tab
    opened.set_viewport_size(SIZE)
    opened.mouse.move(0, 0)
    yield opened
    opened.goto("about:blank")
    found, problems[:] = problems[:], []
    assert found == []


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


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, chromium: str) -> Iterator[Jupyter]:
    running = Jupyter(tmp_path_factory.mktemp("jupyter"))
    yield running
    running.close()


@pytest.fixture(scope="session")
def desk(server: Jupyter, browser: Browser) -> Iterator[Desk]:
    opened = Desk(server, browser)
    yield opened
    opened.page.close()


@pytest.fixture
def jupyter(desk: Desk) -> Iterator[Desk]:
    """An empty notebook in JupyterLab. The test fails if a script raised, a dialog opened or a request left the
    machine."""
    yield desk
    found, desk.problems[:] = desk.problems[:], []
    assert found == []
