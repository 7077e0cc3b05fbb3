"""A recipe keeps what is done: nothing twice, nothing lost, nothing of other code."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from parts_to_compute import halved, noted, stumbles

from plmlab.recipes import Parts, pilot_score, tune_learning_rate, tune_learning_rates, tuned_by_all_seeds
from plmlab.recipes.rates import LR_GRID


@pytest.fixture
def light(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder in which processes of their own find a torch that costs no time, and takes one thread only."""
    (folder := tmp_path / "light").mkdir()
    (folder / "torch.py").write_text("def set_num_threads(number):\n    assert number == 1\n")
    monkeypatch.syspath_prepend(folder)
    return str(folder)


@pytest.mark.usefixtures("light")
def test_parts_are_what_the_function_gives(tmp_path: Path) -> None:
    parts = Parts(tmp_path / "parts.jsonl", processes=2)
    assert parts(halved, [(4, "a"), (9, "b"), (1, None)]) == {(4, "a"): [2.0, "a"], (9, "b"): [4.5, "b"],
                                                              (1, None): [0.5, None]}


def test_nothing_is_computed_twice(tmp_path: Path) -> None:
    log, path = str(tmp_path / "log"), tmp_path / "parts.jsonl"
    Parts(path, processes=0)(noted, [(log, 1), (log, 2)])
    again = Parts(path, processes=0)
    assert again(noted, [(log, 2), (log, 3), (log, 1)]) == {(log, 2): 2, (log, 3): 3, (log, 1): 1}
    assert Path(log).read_text() == "1 2 3 "


def test_an_exception_ends_the_run_and_what_is_done_stays(tmp_path: Path) -> None:
    path = tmp_path / "parts.jsonl"
    with pytest.raises(ZeroDivisionError):
        Parts(path, processes=0)(stumbles, [(1,), (2,), (0,), (4,)])
    assert [json.loads(line)[1] for line in path.read_text().split("\n") if line] == [1.0, 0.5]


def test_a_line_that_was_cut_short_is_computed_again(tmp_path: Path) -> None:
    log, path = str(tmp_path / "log"), tmp_path / "parts.jsonl"
    Parts(path, processes=0)(noted, [(log, 1), (log, 2)])
    path.write_text(path.read_text()[:-9])
    assert Parts(path, processes=0)(noted, [(log, 1), (log, 2)]) == {(log, 1): 1, (log, 2): 2}
    assert Path(log).read_text() == "1 2 2 "
    assert Parts(path, processes=0)(noted, [(log, 1), (log, 2)]) and Path(log).read_text() == "1 2 2 "


def test_parts_of_other_code_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, path = str(tmp_path / "log"), tmp_path / "parts.jsonl"
    Parts(path, processes=0)(noted, [(log, 1)])
    monkeypatch.setattr("inspect.getsource", lambda module: "def noted(): changed")
    Parts(path, processes=0)(noted, [(log, 1)])
    assert Path(log).read_text() == "1 1 "


def test_a_killed_recipe_goes_on_and_leaves_no_process(tmp_path: Path, light: str) -> None:
    path, log = tmp_path / "parts.jsonl", tmp_path / "log"
    code = ("from pathlib import Path\nfrom parts_to_compute import waits\nfrom plmlab.recipes import Parts\n"
            f"if __name__ == '__main__': Parts(Path({str(path)!r}))(waits, [({str(log)!r}, 0), ({str(log)!r}, 900)])\n")
    script = tmp_path / "recipe.py"
    script.write_text(code)
    found = os.pathsep.join([light, str(Path(__file__).parent)])
    run = subprocess.Popen([sys.executable, script], env=os.environ | {"PYTHONPATH": found}, stderr=subprocess.DEVNULL)
    until(lambda: path.is_file() and path.read_text().count("waits") == 1 and log.read_text().count(" ") == 2)
    workers = [int(number) for number in log.read_text().split()]
    run.send_signal(signal.SIGKILL)
    run.wait()
    until(lambda: not any(map(is_running, workers)))
    assert len(Parts(path).done) == 1


def is_running(process: int) -> bool:
    """Not where it is dead and only waits for somebody to notice."""
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    return False


def until(holds) -> None:
    """Wait until something holds, for ten minutes at most."""
    end = time.monotonic() + 600
    while not holds():
        assert time.monotonic() < end, "it never came to hold"
        time.sleep(0.05)


@pytest.mark.parametrize("best", [3e-4, 1e-2, 3e-1])
def test_the_best_rate_stands_at_no_edge(best: float) -> None:
    tried: list[float] = []

    def score(rates):
        tried.extend(rates)
        return {rate: -abs(LR_GRID.index(rate) - LR_GRID.index(best)) / 2 for rate in rates}
    found, told = tune_learning_rate(score, (1e-3, 3e-3, 1e-2))
    assert found == best and min(told) < best < max(told)
    assert sorted(tried) == list(told) == sorted(set(tried))


def test_of_rates_that_tie_the_middle_one_is_taken() -> None:
    flat = {1e-3: 0.0, 3e-3: 1.0, 1e-2: 1.0, 3e-2: 1.0, 1e-1: 0.5}
    assert tune_learning_rate(lambda rates: {rate: flat[rate] for rate in rates}, list(flat))[0] == 1e-2


def test_a_score_that_only_rises_is_refused() -> None:
    with pytest.raises(ValueError, match="at an end of LR_GRID"):
        tune_learning_rate(lambda rates: {rate: rate for rate in rates}, (1e-1, 3e-1))


def test_pilots_are_averaged(tmp_path: Path) -> None:
    parts = Parts(tmp_path / "parts.jsonl", processes=0)
    assert pilot_score(parts, lambda_of, (1, 3), "arm")([0.5, 0.1]) == {0.5: 2.5, 0.1: 2.1}


def test_the_best_rates_of_several_arms_are_those_of_each_and_their_grids_are_tried_at_once(tmp_path: Path) -> None:
    grids = {("low", 1): (1e-3, 3e-3, 1e-2), ("high", 2): (3e-3, 1e-2, 3e-2)}
    calls: list[int] = []

    class Counted(Parts):
        def __call__(self, function, tasks):
            calls.append(len(tasks))
            return super().__call__(function, tasks)
    parts = Counted(tmp_path / "parts.jsonl", processes=0)
    found = tune_learning_rates(parts, near_of, (1, 3), grids)
    assert calls[0] == 12 and {arm: best for arm, (best, _) in found.items()} == {("low", 1): 3e-4, ("high", 2): 1e-2}
    for arm, grid in grids.items():
        assert found[arm] == tune_learning_rate(pilot_score(parts, near_of, (1, 3), *arm), grid)


def near_of(arm: str, power: int, rate: float, seed: int) -> float:
    return -abs(LR_GRID.index(rate) - LR_GRID.index(3e-4 if arm == "low" else 1e-2)) * power + float(seed)


def lambda_of(arm: str, rate: float, seed: int) -> float:
    return rate + seed


def development_of(name: str, rate: float, seed: int) -> dict[str, float]:
    """The first seed alone would take 0.003; the mean is best at 0.01, at the edge of the grid."""
    return {"score": rate + seed, "development": {3e-3: 0.9 * (seed == 0), 1e-2: 0.6, 3e-2: 0.5}.get(rate, 0.1)}


def test_rates_by_all_seeds(tmp_path: Path) -> None:
    parts = Parts(tmp_path / "parts.jsonl", 0)
    arms = {("one",): (1e-3, 3e-3, 1e-2), ("other",): (1e-2, 3e-2)}
    found = tuned_by_all_seeds(parts, development_of, arms, (0, 1))
    for told in found.values():
        assert told["lr"] == 1e-2 and told["score"]["values"] == [0.01, 1.01]
    assert found["one",]["rates"] == [(1e-3, 0.1), (3e-3, 0.45), (1e-2, 0.6), (3e-2, 0.5)]
    assert [rate for rate, _ in found["other",]["rates"]] == [3e-3, 1e-2, 3e-2]
