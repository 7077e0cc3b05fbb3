"""Chapter 12 at toy size: the exam of blanks drawn anew, and the arms that fill them."""

from collections.abc import Iterator
from dataclasses import replace
from math import inf

import pytest
from toy_size import changed

from plmlab.chapters.ch12 import blank_arms, blank_test_set
from plmlab.chapters.ch12.blank_arms import ARMS, PAPER
from plmlab.recipes.study import Run
from studies.ch12 import blank_fillers, blank_infilling, blanks_ablated, unknown_length


@pytest.fixture
def forgotten() -> Iterator[None]:
    """The rows, counts and tables of the exam of blanks, and the arms' tokens, before and after."""
    with changed(forget=(blank_test_set.rows, blank_fillers.counted, blank_fillers.table, blank_infilling.tokens)):
        yield


def best_by_budget(run: Run) -> float:
    """A rate of its own is best for the first budget."""
    return -abs(run.lr - (1e-2 if run.updates == 1 else 3e-3))


@pytest.fixture
def toy_blanks(forgotten: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeds and budgets that are counted on one hand, and little networks."""
    toy = replace(blank_infilling.STUDY, updates={(name,): (1, 2) if name == PAPER else (2,) for name in ARMS},
                  seeds=(0, 1), pilots=(9,), development=best_by_budget, nothing=-inf)
    for name, value in (("STUDY", toy), ("JUDGED", 1), ("BATCH", 8)):
        monkeypatch.setattr(blank_infilling, name, value)
    for name, size in (("WIDTH", 16), ("LAYERS", 1)):
        monkeypatch.setattr(blank_arms, name, size)
    for module in (blank_infilling, unknown_length, blanks_ablated):
        monkeypatch.setattr(module, "BUDGETS", (1, 2))
        monkeypatch.setattr(module, "SEEDS", (0, 1))
