"""The time of the fastest of several calls."""

from plmlab import timing


def test_the_shortest_of_all_calls_counts(monkeypatch) -> None:
    clock, calls = iter([0.0, 3.0, 10.0, 12.0, 20.0, 25.0]), []
    monkeypatch.setattr(timing.time, "perf_counter", lambda: next(clock))
    assert timing.fastest(lambda: calls.append(1), 3) == 2.0
    assert len(calls) == 3
