"""The rules of chapter 16, on numbers whose verdict is plain."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from plmlab.chapters.ch16 import verdicts
from plmlab.chapters.ch16.arms import ARMS, CHOSEN, FULL
from plmlab.recipes import Parts, seed_summary
from plmlab.recipes.parts import Task
from studies.ch16 import ablated, baselines, edited, memorization, recipe


def arm(*values: float) -> dict[str, dict[str, object]]:
    told = seed_summary(dict(enumerate(values)))
    return {"outcomes": {"among four": told, "right": told}}


NO_EFFECT = "no effect at this size"


@pytest.mark.parametrize("without, said", [((0.4, 0.5, 0.47), "supported"), ((0.4, 0.52, 0.49), NO_EFFECT),
                                           ((0.6, 0.58, 0.61), "not supported"), ((0.52, 0.55, 0.5), NO_EFFECT)])
@pytest.mark.parametrize("judged", ["retriever", "answers"])
def test_a_part_is_worth_something(without: tuple[float, ...], said: str, judged: str) -> None:
    arms = {FULL: arm(0.53, 0.54, 0.55), "stale index": arm(*without)}
    assert verdicts.is_worth(arms, "stale index", judged) == said


@pytest.mark.parametrize("set_back, said", [((0.2, 0.3, 0.38), "supported"), ((0.3, 0.39, 0.2), NO_EFFECT),
                                            ((0.5, 0.6, 0.55), "not supported")])
def test_pretraining_is_worth_something(set_back: tuple[float, ...], said: str) -> None:
    tuned = {FULL: {"right": seed_summary(dict(enumerate((0.41, 0.42, 0.43))))},
             "reader reset": {"right": seed_summary(dict(enumerate(set_back)))}}
    assert verdicts.worth_of_pretraining(tuned, "reader reset") == said


@pytest.mark.parametrize("one, other, said", [(12, 9, "supported"), (11, 9, "no effect at this size"),
                                              (9, 11, "no effect at this size"), (9, 12, "not supported")])
def test_one_ranking_finds_more(one: int, other: int, said: str) -> None:
    first, second = ([[1, 30, 30], [4, count, 30], [20, 30, 30]] for count in (one, other))
    assert verdicts.finds_more(first, second) == said


@pytest.mark.parametrize("old, correct, said", [
    (26, 100, "supported"), (25, 100, "undecided"), (1, 4, "undecided"), (24, 100, "undecided"), (5, 100, "undecided"),
    (1, 20, "undecided"), (4, 100, "not supported"), (0, 5, "not supported"), (23, 85, "supported"),
    (6, 68, "undecided"), (22, 100, "undecided")])
def test_weights_override_documents(old: int, correct: int, said: str) -> None:
    assert verdicts.weights_override(old, correct) == said


def test_the_recipe_puts_its_experiments_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lr = 3e-4
    monkeypatch.setattr(ablated, "measure", lambda parts: {FULL: {"lr": lr}})
    for module in (baselines, memorization, edited):
        monkeypatch.setattr(module, "measure", lambda parts, rate: {"at": rate})
    monkeypatch.setattr("studies.ch16.closed_book.measure", lambda parts: {"1": 0})
    monkeypatch.setattr("studies.ch16.converged.measure", lambda parts: {"own": 1})
    monkeypatch.setattr("studies.ch16.on_wikipedia.measure", lambda parts: {"blocks": 2})
    monkeypatch.setattr("studies.ch16.open_domain.measure", lambda parts, rates: rates)
    told = recipe.main(Parts(tmp_path / "16.parts.jsonl"))
    assert told == {"arms": {FULL: {"lr": lr}}, "baselines": {"at": lr}, "closed book": {"1": 0},
                    "converged": {"own": 1}, "memorization": {"at": lr}, "edited": {"at": lr},
                    "open domain": {FULL: lr}, "on Wikipedia": {"blocks": 2}}


def test_each_arm_has_the_best_of_its_rates_or_that_of_realm(tmp_path: Path) -> None:
    asked: list[tuple[object, ...]] = []

    class Faked(Parts):
        def __call__(self, function: Callable[..., Any], tasks: Sequence[Task]) -> dict[Task, Any]:
            asked.extend(tasks)
            return {task: {"development": -abs(task[2] - (1e-3 if task[1] == FULL else 3e-4)), "curve": [(0, 0.1)]}
                    if function is ablated.train_arm else {"among four": 0.5, "right": 0.5} for task in tasks}

    told = ablated.measure(Faked(tmp_path / "16.parts.jsonl"))
    assert set(told) == set(ARMS)
    assert {name: one["lr"] for name, one in told.items()} == {
        name: 3e-4 if name in CHOSEN and name != FULL else 1e-3 for name in ARMS}
    assert all(len(one["rates"]) == (4 if name in CHOSEN else 0) for name, one in told.items())
