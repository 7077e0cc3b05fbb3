"""The time of the fastest of several calls."""

from plmlab import timing


def test_the_shortest_of_all_calls_counts(monkeypatch) -> None:
    clock, calls = iter([0.0, 3.0, 10.0, 12.0, 20.0, 25.0]), []
    monkeypatch.setattr(timing.time, "perf_counter", lambda: next(clock))
    assert timing.fastest(lambda: calls.append(1), 3) == 2.0
    assert len(calls) == 3


def test_works_that_take_turns_are_timed_apart(monkeypatch) -> None:
    """Two rounds of two calls each; the second work's fastest call is its last."""
    seconds = iter([5.0, 4.0, 9.0, 8.0, 3.0, 6.0, 7.0, 2.0])
    calls = []
    monkeypatch.setattr(timing, "fastest", lambda work, runs: (work(), min(next(seconds) for _ in range(runs)))[1])
    works = {"one": lambda: calls.append("one"), "other": lambda: calls.append("other")}
    assert timing.fastest_in_turn(works, 2) == {"one": 3.0, "other": 2.0}
    assert calls == ["one", "other", "one", "other"]
