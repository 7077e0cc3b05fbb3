"""The live curve: what it keeps, how seldom it speaks, and what it costs."""

import math
import time

import pytest

from plmlab.labs import Curve
from plmlab.labs.curve import lab as curve
from plmlab.labs.curve.lab import Thinned


@pytest.mark.parametrize("count", [1, 7, 240, 241, 999, 5000])
def test_thinning_keeps_the_mean_and_the_ends(count: int) -> None:
    series = Thinned(240)
    values = [math.sin(i) for i in range(count)]
    for i, value in enumerate(values):
        series.add(i + 1, value)
    points = series.points()
    assert len(points) <= 240
    assert points[-1][0] == count
    assert [step for step, _ in points] == sorted({step for step, _ in points})
    together = series.together
    expected = [sum(group) / len(group) for group in (values[i:i + together] for i in range(0, count, together))]
    assert [value for _, value in points] == pytest.approx(expected)


def test_it_speaks_ten_times_a_second_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(curve.time, "monotonic", lambda: clock[0])
    live, heard = Curve("a run", floor=2.0, steps=400), []
    live.observe(lambda change: heard.append(change.new["step"]), "state")
    for step in range(1, 401):
        clock[0] += 0.025
        live.add(step, 3.0 + 1 / step)
    assert 90 <= len(heard) <= 101
    live.finish("10 s")
    assert heard[-1] == 400
    assert live.state["done"]
    assert live.state["note"] == "10 s"
    assert live.state["training"][-1][0] == 400


def test_the_state_tells_all() -> None:
    live = Curve("a run", 2.5, 10, floor_name="the best reader", unit="bits a word")
    live.add(1, 4.0)
    live.add(2, 3.0, validation=3.5, note="warm")
    state = live.state
    assert (state["step"], state["loss"], state["held_out"], state["note"]) == (2, 3.0, 3.5, "warm")
    assert (state["floor"], state["floor_name"]) == (2.5, "the best reader")
    assert (state["unit"], state["steps"]) == ("bits a word", 10)
    assert state["training"] == [(1, 4.0), (2, 3.0)]
    assert state["validation"] == [(2, 3.5)]


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_loss_that_is_no_number_is_told_and_not_drawn(loss: float) -> None:
    live = Curve("a run")
    live.add(1, 3.0)
    live.add(2, loss)
    assert "step 2" in live.message
    live.finish()
    assert live.state["training"] == [(1, 3.0)]


@pytest.mark.timing
def test_it_costs_a_training_loop_less_than_a_hundredth() -> None:
    """Of a 25 ms step, that is 0.25 ms; ten messages a second fall on 40 steps."""
    live = Curve("a run", floor=2.0, steps=100_000)
    for step in range(2000):
        live.add(step, 3.0 + 1 / (step + 1))
    start = time.perf_counter()
    for step in range(2000, 12_000):
        live.add(step, 3.0)
    adding = (time.perf_counter() - start) / 10_000
    start = time.perf_counter()
    for _ in range(100):
        live._show()
    assert adding + (time.perf_counter() - start) / 100 / 4 < 0.25e-3


def test_its_text_is_the_same_everywhere() -> None:
    live = Curve("a run", steps=3)
    assert repr(live) == "<Curve: a run, running>"
    live.add(1, 3.1415)
    live.finish("12.1 s")
    assert repr(live) == "<Curve: a run, finished>"
