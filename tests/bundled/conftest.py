"""The figures of the bundled checkpoints: all of them where a stamp differs or ``--bundled`` asks, else ten texts."""

from collections.abc import Callable
from pathlib import Path

import pytest
import stamps

TEN = pytest.StashKey[dict[str, tuple[float, Path]]]()
REACHED, FAILED = pytest.StashKey[set[str]](), pytest.StashKey[set[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bundled", action="store_true", help="compute every figure again, and stamp the checkpoints")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TEN], config.stash[REACHED], config.stash[FAILED] = {}, set(), set()


def computes_all(config: pytest.Config) -> bool:
    return config.getoption("--bundled", False)  # the option is unknown where this folder was not named


def checkpoint_of(item: pytest.Item) -> str:
    """The checkpoint that a test is about; every test marked ``bundled`` takes its ``name``."""
    return item.callspec.params["name"] if hasattr(item, "callspec") else ""


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("bundled") and not computes_all(item.config):
        name = checkpoint_of(item)
        if stamps.verified().get(name, {}).get("stamp") == stamps.stamp(name, item.path):
            pytest.skip("verified as it is now; make test PARTS=bundled computes its figures again")


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    if call.excinfo is not None:
        item.config.stash[FAILED].add(checkpoint_of(item))
    elif call.when == "call" and item.get_closest_marker("bundled"):
        item.config.stash[REACHED].add(checkpoint_of(item))


@pytest.fixture
def same_ten(request: pytest.FixtureRequest) -> Callable[[str, float], None]:
    """``same_ten(name, value)``: what ten texts came to when the checkpoint was last verified, they come to now."""
    def compare(name: str, value: float) -> None:
        if computes_all(request.config):
            request.config.stash[TEN][name] = value, request.path
        else:
            assert name in stamps.verified(), stamps.HOW
            assert value == pytest.approx(stamps.verified()[name]["ten"], rel=2e-3, abs=1e-3), stamps.HOW
    return compare


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Stamp each checkpoint of which every figure was reached."""
    stash = session.config.stash
    stamps.write({name: {"stamp": stamps.stamp(name, path), "ten": round(value, 4)}
                  for name, (value, path) in stash[TEN].items() if name in stash[REACHED] - stash[FAILED]})
