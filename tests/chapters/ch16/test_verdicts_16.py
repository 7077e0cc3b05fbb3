"""The rules of chapter 16, on numbers whose verdict is plain."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from plmlab.chapters.ch16 import verdicts
from plmlab.chapters.ch16.arms import ARMS, CHOSEN, FULL
from plmlab.recipes import Parts, seed_summary
from plmlab.recipes.parts import Task
from studies.ch16 import ablated, baselines, by_heart, edited, recipe


def arm(*values: float) -> dict[str, dict[str, object]]:
    told = seed_summary(dict(enumerate(values)))
    return {"outcomes": {"among four": told, "right": told}}


@pytest.mark.parametrize("without, said", [((0.4, 0.5, 0.47), "holds"), ((0.4, 0.52, 0.49), "does not show"),
                                           ((0.6, 0.58, 0.61), "fails"), ((0.52, 0.55, 0.5), "does not show")])
@pytest.mark.parametrize("judged", ["retriever", "answers"])
def test_a_part_is_worth_something(without: tuple[float, ...], said: str, judged: str) -> None:
    arms = {FULL: arm(0.53, 0.54, 0.55), "stale index": arm(*without)}
    assert verdicts.is_worth(arms, "stale index", judged) == said


@pytest.mark.parametrize("set_back, said", [((0.2, 0.3, 0.38), "holds"), ((0.3, 0.39, 0.2), "does not show"),
                                            ((0.5, 0.6, 0.55), "fails")])
def test_pretraining_is_worth_something(set_back: tuple[float, ...], said: str) -> None:
    tuned = {FULL: {"right": seed_summary(dict(enumerate((0.41, 0.42, 0.43))))},
             "reader set back": {"right": seed_summary(dict(enumerate(set_back)))}}
    assert verdicts.worth_of_pretraining(tuned, "reader set back") == said


@pytest.mark.parametrize("one, other, said", [(12, 9, "holds"), (11, 9, "does not show"), (9, 12, "fails")])
def test_one_ranking_finds_more(one: int, other: int, said: str) -> None:
    first, second = ([[1, 30, 30], [4, count, 30], [20, 30, 30]] for count in (one, other))
    assert verdicts.finds_more(first, second) == said


@pytest.mark.parametrize("old, said", [(0.3, "holds"), (0.04, "fails"), (0.1, "does not show")])
def test_weights_outvote_documents(old: float, said: str) -> None:
    assert verdicts.outweighs({"old answer": old, "follows": 1 - old}) == said


def test_the_recipe_puts_its_experiments_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lr = 3e-4
    monkeypatch.setattr(ablated, "measure", lambda parts: {FULL: {"lr": lr}})
    for module in (baselines, by_heart, edited):
        monkeypatch.setattr(module, "measure", lambda parts, rate: {"at": rate})
    monkeypatch.setattr("studies.ch16.closed_book.measure", lambda parts: {"1": 0})
    monkeypatch.setattr("studies.ch16.on_wikipedia.measure", lambda parts: {"blocks": 2})
    monkeypatch.setattr("studies.ch16.open_domain.measure", lambda parts, rates: rates)
    told = recipe.main(Parts(tmp_path / "16.parts.jsonl"))
    assert told == {"arms": {FULL: {"lr": lr}}, "baselines": {"at": lr}, "closed book": {"1": 0},
                    "by heart": {"at": lr}, "edited": {"at": lr}, "open domain": {FULL: lr},
                    "on Wikipedia": {"blocks": 2}}


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
        name: 3e-4 if name in ("random spans", "random tokens") else 1e-3 for name in ARMS}
    assert all(len(one["rates"]) == (4 if name in CHOSEN else 0) for name, one in told.items())
