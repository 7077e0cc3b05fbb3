"""What holds for every test: shapes are checked at run time, nothing is fetched, slow tests are named."""

import gc
import os
from pathlib import Path
from typing import TYPE_CHECKING

import jaxtyping
import pytest
import torch
import typecheck
from durations import UNIT_LIMIT, told, too_slow

if TYPE_CHECKING:
    from plmlab.recipes import Parts

jaxtyping.jaxtyped = typecheck.where_shapes_are(jaxtyping.jaxtyped)
jaxtyping.install_import_hook(["plmlab", "studies"], "typecheck.check")

gc.set_threshold(50_000, 20, 100)  # the full world is many objects, which are not worth looking through again and again
os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", OMP_WAIT_POLICY="PASSIVE")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the unit tests that took too long. None fails for it: how long a test takes depends on the machine."""
    for name, seconds in too_slow(told(terminalreporter)):
        terminalreporter.write_line(f"{name}: {seconds:.1f} s, OVER the {UNIT_LIMIT} s of a unit test")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A browser test is skipped where no Chromium is found, and fails for it in continuous integration; a test for a
    GPU is skipped where there is none."""
    if item.get_closest_marker("gpu") and not torch.cuda.is_available():
        pytest.skip(f"torch {torch.__version__} finds no GPU here")
    if item.get_closest_marker("browser") is None:
        return
    from plmlab.doctor import find_browser
    if find_browser() is not None:
        return
    lack = "no Chromium or Chrome was found; install one (Debian: apt install chromium)"
    if os.environ.get("CI"):
        pytest.fail(lack, pytrace=False)
    pytest.skip(lack)


@pytest.fixture(scope="session")
def small():
    """The small world, shared."""
    from plmlab import world
    return world.small()


@pytest.fixture(scope="session")
def full():
    """The full world, shared."""
    from plmlab import world
    return world.full()


@pytest.fixture
def parts(tmp_path: Path) -> "Parts":
    """Of a recipe no part is done yet; all are computed in this process."""
    from plmlab.recipes import Parts
    return Parts(tmp_path / "recipe.parts.jsonl", processes=0)


@pytest.fixture(scope="session")
def listed() -> dict[str, str]:
    """The lines of ``plmlab models``, by their first words."""
    from plmlab.listing import listing
    return {line.split()[0]: line for line in listing().splitlines() if line}


@pytest.fixture(scope="session")
def chromium() -> str:
    """Where the browser of the browser tests lies."""
    from plmlab.doctor import find_browser
    return find_browser() or ""


@pytest.fixture(scope="module")
def one_thread():
    """For models that are too small for two threads, which would only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
