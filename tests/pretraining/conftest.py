"""What the tests of pretraining share: a little text, and the small world in the full one's place."""

from collections.abc import Iterator
from pathlib import Path

import forked
import pytest
import torch
from little_run import TEXT

from plmlab import world
from plmlab.pretraining import material

forked.prepare()   # while tests are collected


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """The models here are too small for two, and the last digits hang on their number."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def soon_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that reads text by text is judged on fewer batches."""
    monkeypatch.setattr(material, "HELD_OUT_BATCHES", 4)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    file = tmp_path / "little.txt"
    file.write_text(TEXT, encoding="utf-8")
    return file


@pytest.fixture
def small_as_full(monkeypatch: pytest.MonkeyPatch) -> world.World:
    """The small world in the full one's place, and fewer sentences to judge by."""
    monkeypatch.setattr(world, "full", world.small)
    monkeypatch.setattr(material, "WORLD_HELD_OUT", 120)
    return world.small()
