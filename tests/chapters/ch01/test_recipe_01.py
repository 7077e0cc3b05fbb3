"""The recipe of chapter 01 on the smallest of scales: each experiment tells what the notebook reads."""

from collections.abc import Callable
from dataclasses import replace
from math import inf

import pytest

from plmlab.chapters.ch01 import lags as trained
from plmlab.chapters.ch01 import language as language_models
from plmlab.chapters.ch01.language import NETWORKS, build
from plmlab.chapters.ch01.tasks import TASKS
from plmlab.recipes import Parts
from plmlab.recipes.study import Run
from plmlab.world.datasets.excess_loss import CATEGORIES
from plmlab.world.datasets.excess_loss import test_set as evaluation_set
from studies.ch01 import lags, language

pytestmark = pytest.mark.usefixtures("one_thread")


def test_a_short_lag_is_bridged_and_what_cannot_be_known_is_not() -> None:
    _, errors = trained.learn("first symbol", "GRU", 3, 1e-2, seed=0)
    assert errors[0] > 0.3 and errors[-1] <= TASKS["first symbol"].solved and len(errors) < 12


def test_a_run_that_diverges_ends_with_what_it_had() -> None:
    _, errors = trained.learn("adding", "IRNN", 20, 1e30, seed=0)
    assert len(errors) >= 1 and all(error == error and error < float("inf") for error in errors)


def test_solved_is_best_then_a_low_error_and_guessing_is_guessing(monkeypatch: pytest.MonkeyPatch) -> None:
    def scored(*errors: float) -> float:
        monkeypatch.setattr(lags, "learn", lambda *_: (None, list(errors)))
        return lags.lr_score("adding", "RNN", 50, 1e-3, 0)
    assert scored(0.2, 0.001) == scored(0.2, 0.1, 0.001) == 1
    assert scored(0.2, 0.001) > scored(0.2, 0.02) > scored(0.2, 0.1) > scored(0.2, 0.17) == scored(0.2, 0.163) == -1


def test_lags_tells_cells_and_lengths(parts: Parts, monkeypatch: pytest.MonkeyPatch, best_at: Callable) -> None:
    for name, value in (("LENGTHS", {"adding": (4,), "first symbol": (2, 3)}), ("SEEDS", (0, 1)),
                        ("lr_score", best_at(3e-3))):
        monkeypatch.setattr(lags, name, value)
    monkeypatch.setattr(trained, "HIDDEN", dict.fromkeys(TASKS, 8))
    for module in (trained, lags):
        monkeypatch.setattr(module, "EVERY", 5)
        monkeypatch.setattr(module, "UPDATES", dict.fromkeys(TASKS, 10))
    told = lags.measure(parts)["tasks"]
    assert list(told["first symbol"]["lengths"]) == ["2", "3"] and told["adding"]["constant"] == 1 / 6
    for task, arms in [(task, arms) for task, asked in told.items() for arms in asked["lengths"].values()]:
        assert tuple(arms) == lags.CELLS[task]
        for arm in arms.values():
            assert arm["lr"] == 3e-3 and len(arm["curves"]) == 2 and arm["lowest"]["seeds"] == [0, 1]
            assert 0 <= arm["solved"] <= 2 and arm["updates"]["high"] <= 10
            assert 0 <= arm["before"]["low"] <= arm["before"]["high"] <= 4


def test_models_of_one_size_are_of_one_size() -> None:
    counts = [sum(weights.numel() for weights in build(kind, 0).parameters()) for kind in NETWORKS]
    assert max(counts) < 1.06 * min(counts)


def best_at_1e_2(run: Run) -> float:
    return -abs(run.lr - 1e-2)


def test_language_tells_where_models_fall_short(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "test_set", lambda small: evaluation_set(small)[:20])
    monkeypatch.setattr(language_models, "BATCH", 8)
    toy = replace(language.STUDY, updates=(2, 3), seeds=(0, 1), pilots=(9,), development=best_at_1e_2, nothing=-inf)
    told = language.measure(parts, toy)
    assert told["floor"] == pytest.approx(0.638, abs=0.001) and list(told["models"]) == list(NETWORKS)
    for model in told["models"].values():
        assert list(model["updates"]) == ["2", "3"]
        for run in model["updates"].values():
            assert run["lr"] == 1e-2 and set(run["excess loss"]) == {*CATEGORIES, "all"}
            assert all(0 < gap["low"] <= gap["high"] < 8 for gap in run["excess loss"].values())
