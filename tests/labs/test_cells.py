"""What stays of a lab whose cell is run again: nothing, in a real IPython; and what is still shown stays open."""

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from ipywidgets import Widget
from traitlets.config import Config

from plmlab.labs import SoftmaxLab
from plmlab.labs.base import Lab


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[InteractiveShell]:
    """The IPython that runs, without a history on disk."""
    made = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}), ipython_dir=str(tmp_path))
    monkeypatch.setattr(InteractiveShell, "_instance", made)
    made.push({"SoftmaxLab": SoftmaxLab})
    yield made
    Widget.close_all()


def alive(labs: list["weakref.ref[Lab]"]) -> list[bool]:
    gc.collect()
    return [lab() is not None for lab in labs]


def run(shell: InteractiveShell, cell: str | None, source: str) -> "weakref.ref[Lab] | None":
    """Run a cell; what it came to."""
    result = shell.run_cell(source, store_history=True, cell_id=cell)
    result.raise_error()
    return weakref.ref(result.result) if isinstance(result.result, Lab) else None


@pytest.mark.parametrize("source", ["SoftmaxLab()", "lab = SoftmaxLab()\nlab", "lab = SoftmaxLab()\ndisplay(lab)\nlab"])
def test_of_a_cell_that_is_run_again_one_lab_is_kept(shell: InteractiveShell, source: str) -> None:
    made = [run(shell, "a", source) for _ in range(5)]
    for number in range(3):  # IPython holds the last three results as _, __ and ___
        run(shell, "b", f"{number}")
    assert alive(made) == [False, False, False, False, True]


def test_what_another_cell_or_the_same_shows_stays_open(shell: InteractiveShell) -> None:
    run(shell, "a", "first, second = SoftmaxLab(), SoftmaxLab()\ndisplay(first, second)")
    run(shell, "b", "display(first)")
    first, second = shell.user_ns["first"], shell.user_ns["second"]
    run(shell, "a", "display(second); display(first)")
    assert first.comm is not None and second.comm is not None
    run(shell, "a", "1 + 1")
    assert first.comm is not None and second.comm is None
    run(shell, "c", "second")
    assert second.comm is not None, "what a reader has kept opens again"
    run(shell, None, "third = SoftmaxLab()\ndisplay(third)")
    run(shell, None, "display(1)")
    assert shell.user_ns["third"].comm is not None, "where no cell is told, nothing is closed"
