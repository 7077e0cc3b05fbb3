"""The line of a run in a terminal: how far it is, its losses, its floor, its speed."""

import re
from collections.abc import Callable, Iterator

import pytest
from training_toy import batch, toy

from plmlab.train import fit
from plmlab.train.progress import Line, Silent, progress

Written = Callable[[Line], str]


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal with room for the whole line."""
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def written(capsys: pytest.CaptureFixture[str]) -> Iterator[Written]:
    """What stands on a line now."""
    lines = []

    def last(line: Line) -> str:
        lines.append(line)
        line.bar.refresh()
        return capsys.readouterr().err.split("\r")[-1].strip()
    yield last
    for line in lines:
        line.bar.close()


def test_the_line_shows_the_newest_loss_the_floor_and_the_speed(written: Written) -> None:
    line = Line("Training Toy", steps=200, done=0, floor=1.25)
    assert "Training Toy" in written(line) and "0/200" in written(line)
    line.losses(10, [3.5, 2.71828], speed=12345.6)
    assert "10/200" in written(line)
    assert "loss 2.718 (floor 1.250), 12,346 tokens/s" in written(line)
    line.validation(10, 2.5)
    line.losses(20, [2.25], speed=99.5)
    assert "20/200" in written(line)
    assert "loss 2.250 (floor 1.250), validation 2.500, 100 tokens/s" in written(line)
    line.losses(21, [2.0], speed=99.5)
    assert "validation 2.500" in written(line), "the last one stays beside the losses that follow"


def test_without_a_floor_none_is_shown(written: Written) -> None:
    line = Line("Training Toy", steps=5, done=0, floor=None)
    line.losses(1, [2.0], speed=10.0)
    assert "loss 2.000, 10 tokens/s" in written(line) and "floor" not in written(line)


def test_a_run_that_goes_on_begins_where_it_stopped(written: Written) -> None:
    line = Line("Training Toy", steps=50, done=30, floor=None)
    assert "30/50" in written(line)
    line.losses(31, [2.0], speed=10.0)
    assert "31/50" in written(line)


def test_the_line_ends_with_the_reason_and_stays(capsys: pytest.CaptureFixture[str]) -> None:
    line = Line("Training Toy", steps=2, done=0, floor=None)
    line.losses(2, [3.0, 2.0], speed=10.0)
    line.finish("all 2 steps done")
    told = capsys.readouterr().err
    assert told.endswith("\n") and "all 2 steps done" in told.split("\r")[-1] and "2/2" in told.split("\r")[-1]


def test_the_line_goes_to_stderr_and_a_notebook_s_curve_is_not_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    for line in (progress("Training", steps=1, done=0, floor=None),
                 progress("Training", steps=1, done=0, floor=None, line=True)):
        assert isinstance(line, Line)
        line.finish("done")
    Silent().losses(1, [1.0], 1.0)
    assert capsys.readouterr().out == ""


def test_fit_gives_the_line_its_floor_and_the_speed_of_the_history(monkeypatch, capsys) -> None:
    shown = []
    real = Line.losses

    def noted(self: Line, step: int, latest: list[float], speed: float) -> None:
        shown.append(speed)
        real(self, step, latest, speed)
        self.bar.refresh()
    monkeypatch.setattr(Line, "losses", noted)
    history = fit(toy(), batch, steps=4, lr=0.01, show=True, floor=0.5)
    told = capsys.readouterr().err
    assert len(shown) == 4 and all(speed > 0 for speed in shown)
    assert f"loss {history.losses[-1]:.3f} (floor 0.500), {shown[-1]:,.0f} tokens/s" in told
    assert re.search(r"Training Toy: 100%", told) and "all 4 steps done" in told
    assert sum(3 * 7 for _ in shown) == history.tokens
