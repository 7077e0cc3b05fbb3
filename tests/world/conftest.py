"""A copy of the world's tables to edit; the small world's grammar, and all of its sentences."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from world_brute import Language, language

from plmlab.world.probability.automaton import Automaton
from plmlab.world.tables import TABLES


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


@pytest.fixture(scope="module")
def grammar(small) -> Automaton:
    """The grammar of the small world's training text."""
    return small.automaton("train")


@pytest.fixture(scope="module")
def sentences(grammar) -> Language:
    """Its sentences with their probabilities."""
    return language(grammar)
