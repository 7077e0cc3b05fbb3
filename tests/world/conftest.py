"""Worlds that the tests share, and a copy of the tables to edit."""

import shutil
import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder
from pathlib import Path

import pytest


class Unchecked(MetaPathFinder):
    """The world holds no tensors, and half a million small calls make it: it runs without run-time type checks."""

    def find_spec(self, fullname, path=None, target=None):
        return PathFinder.find_spec(fullname, path, target) if fullname.startswith("plmlab.world") else None


sys.meta_path.insert(0, Unchecked())

from plmlab import world  # noqa: E402
from plmlab.world.tables import TABLES  # noqa: E402


@pytest.fixture(scope="session")
def small() -> world.World:
    return world.small()


@pytest.fixture(scope="session")
def full() -> world.World:
    return world.full()


@pytest.fixture
def edited(tmp_path: Path) -> Callable[..., Path]:
    """A copy of the tables in which ``file`` has ``old`` replaced by ``new``, or ``new`` appended."""

    def edit(file: str, new: str, old: str | None = None) -> Path:
        folder = tmp_path / "world"
        if not folder.exists():
            shutil.copytree(TABLES, folder)
        text = (folder / file).read_text(encoding="utf-8")
        if old is None:
            text = text.rstrip("\n") + "\n" + new + "\n"
        else:
            assert old in text
            text = text.replace(old, new, 1)
        (folder / file).write_text(text, encoding="utf-8")
        return folder

    return edit
