"""The History: its numbers, its table, its figure, its file; and where a run is shown."""

import json
import sys
import types

import pytest
from training_toy import batch, toy

import plmlab.train.progress as shown
from plmlab.train import History, fit


def told(**more):
    losses = [4.0 - 0.1 * i for i in range(30)]
    return History(30, losses=losses, rates=[0.001] * 30, norms=[0.5] * 30,
                   validation=[(10, 3.3), (20, 2.1), (30, 2.2)], tokens=3000, seconds=4.0,
                   overhead=1.0, ended="completed", reason="all 30 steps done", **more)


def test_smoothed_is_the_mean_of_the_last_ones():
    history = told()
    for window in (1, 4, 100):
        expected = [sum(part) / len(part) for part in
                    (history.losses[max(0, i - window):i] for i in range(1, 31))]
        assert history.smoothed(window) == pytest.approx(expected)
    with pytest.raises(ValueError, match="window=0"):
        history.smoothed(0)


def test_it_shows_itself_in_three_lines_however_long_it_was():
    """A notebook shows what a cell's last line gives."""
    long = History(9999, losses=[2.5] * 9999, rates=[1.0] * 9999, norms=[1.0] * 9999, ended="completed", reason="done")
    assert repr(long).splitlines()[:2] == ["The loss does not fall: it goes from 2.50 to 2.50 nats in 9999 steps",
                                           "completed: done"]
    assert repr(told()).splitlines()[1] == "completed: all 30 steps done" and told().finding() in repr(told())
    assert all(len(repr(one).splitlines()) == 3 and len(repr(one)) < 300 for one in (long, told(), History(3)))
    assert told() == told() != told(floor=1.0)


def test_the_figures_of_a_run():
    history = told()
    assert history.tokens_per_second == pytest.approx(1000) and history.best == (20, 2.1)
    assert History(3).tokens_per_second == 0 and History(3).best is None
    assert History(3, validation=[(1, float("nan")), (2, 5.0)]).best == (2, 5.0)


def test_the_table_is_the_same_whatever_the_clock_says():
    history, slower = told(), told()
    slower.seconds = 77.0
    assert history.table() == slower.table()
    lines = history.table(rows=3).splitlines()
    assert lines[0].split() == ["step", "loss", "validation", "learning", "rate", "gradient", "norm"]
    assert lines[1].split() == ["10", "3.550", "3.300", "1.00e-03", "0.500"]
    assert lines[3].split() == ["30", "1.550", "2.200", "1.00e-03", "0.500"] and lines[4] == "all 30 steps done"
    assert len(told().table(rows=7).splitlines()) == 9
    assert History(3, losses=[1.0], rates=[0.1], norms=[1.0]).table().splitlines()[1].split()[2] == "–"


@pytest.mark.parametrize(("floor", "words"), [
    (None, "The loss falls from 4.00 to 2.05 nats in 30 steps"), (1.5, "0.55 above the floor"),
    (3.0, "0.95 below the floor: there is a target leak"),
])
def test_the_title_states_the_finding(floor, words):
    history = told(floor=floor)
    assert words in history.finding()
    assert history.figure().layout.title.text == history.finding()


def test_the_figure_has_units_a_floor_and_every_curve():
    figure = told(floor=1.5).figure("mine")
    assert figure.layout.title.text == "mine"
    assert "nats" in figure.layout.yaxis.title.text and "step" in figure.layout.xaxis.title.text
    curves = {trace.name: trace for trace in figure.data}
    assert list(curves) == ["single steps", "mean of the last 20", "held-out", "floor: 1.50"]
    assert list(curves["held-out"].x) == [10, 20, 30] and set(curves["floor: 1.50"].y) == {1.5}
    assert list(curves["single steps"].y) == pytest.approx(told().losses, abs=1e-4) and curves["single steps"].x[0] == 1
    assert len(History(3).figure().data) == 2


def test_a_history_survives_its_file(tmp_path):
    history = fit(toy(), batch, steps=5, lr=0.01, evaluate=[batch(9)], evaluate_every=2, floor=1.0, show=False)
    history.save(tmp_path / "history.json")
    assert History.load(tmp_path / "history.json") == history


@pytest.mark.parametrize(("text", "words"), [
    ("{", "not JSON"), ("[]", "not a history"), (json.dumps({"steps": 3, "colour": 1}), "colour"),
])
def test_a_file_that_is_no_history(tmp_path, text, words):
    (tmp_path / "other.json").write_text(text)
    with pytest.raises(ValueError, match=words):
        History.load(tmp_path / "other.json")


def test_a_line_outside_a_notebook_and_silence_on_request(capsys):
    fit(toy(), batch, steps=4, lr=0.01, evaluate=[batch(9)], evaluate_every=2)
    line = capsys.readouterr().err
    assert "Training Toy" in line and "4/4" in line and "all 4 steps done" in line
    fit(toy(), batch, steps=4, lr=0.01, show=False)
    assert capsys.readouterr() == ("", "")


def test_in_a_notebook_a_curve_is_drawn_once_and_fed(monkeypatch):
    calls = []

    class Curve:
        def __init__(self, title, floor=None, steps=None, unit=""):
            calls.append(("made", title, floor, steps, unit))

        def add(self, step, loss, validation=None, note=""):
            calls.append(("add", step, loss, validation))

        def finish(self, note):
            calls.append(("finish", note))

    monkeypatch.setitem(sys.modules, "plmlab.labs.curve.lab", types.SimpleNamespace(Curve=Curve))
    monkeypatch.setattr("IPython.display.display", lambda thing: calls.append(("shown", type(thing).__name__)))
    monkeypatch.setattr(shown, "in_notebook", lambda: True)
    history = fit(toy(), batch, steps=30, lr=0.01, evaluate=[batch(9)], evaluate_every=10, floor=1.25)
    assert calls[:2] == [("made", "Training Toy", 1.25, 30, "nats"), ("shown", "Curve")]
    assert calls[-1] == ("finish", "all 30 steps done")
    points = [call[1:] for call in calls if call[0] == "add"]
    known = dict(history.validation)
    assert points == [(step, loss, known.get(step)) for step, loss in enumerate(history.losses, 1)]


def test_the_real_curve_takes_a_run(monkeypatch):
    seen = []
    monkeypatch.setattr("IPython.display.display", seen.append)
    monkeypatch.setattr(shown, "in_notebook", lambda: True)
    fit(toy(), batch, steps=6, lr=0.01, evaluate=[batch(9)], evaluate_every=3, floor=1.25)
    assert type(seen[0]).__name__ == "Curve" and "all 6 steps done" in str(seen[0].state)


def test_whether_this_is_a_notebook():
    assert shown.in_notebook() is False
