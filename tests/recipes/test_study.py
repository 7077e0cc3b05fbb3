"""A study against its protocol written by hand, and what it refuses."""

from collections.abc import Callable
from dataclasses import replace
from math import inf
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import torch
from torch import nn

from plmlab.recipes import Parts, seed_summary
from plmlab.recipes.study import Run, Study, verdict
from plmlab.train import Diverged, History

# Arms: lines y = w x, and with a bias, fitted to y = 2 x + 1. At 1.0 and above every pilot diverges.
X = torch.linspace(-1, 1, 9)[:, None]
Y = 2 * X + 1
RATES = (0.1, 0.3, 1.0)


def build(bias: bool, seed: int) -> nn.Linear:
    torch.manual_seed(seed)
    return nn.Linear(1, 1, bias)


def train(model: nn.Linear, bias: bool, updates: int, lr: float, seed: int, show: bool = True) -> list[float]:
    if lr >= 1:
        raise Diverged("too fast", 1, History(steps=updates))
    losses = []
    for _ in range(updates):
        loss = nn.functional.mse_loss(model(X), Y)
        losses.append(loss.item())
        for weight, slope in zip(model.parameters(), torch.autograd.grad(loss, [*model.parameters()]), strict=True):
            weight.data -= lr * slope
    return losses


def development(run: Run) -> float:
    return -run.history[-1]


def measured(run: Run) -> dict[str, float]:
    return {"loss": nn.functional.mse_loss(run.model(X), Y).item(), "seed": run.seed}


STUDY = Study(name="lines", arms={(False,): RATES, (True,): RATES}, build=build, train=train, development=development,
              test=measured, updates=(3, 20), nothing=-4.0)


def by_hand(bias: bool, updates: int) -> tuple[float, dict[float, float | None], dict[int, float]]:
    """The protocol, written out: a rate by the mean over pilot seeds, then a run for each seed."""
    def losses(lr: float, seed: int) -> tuple[nn.Linear, list[float]]:
        model = build(bias, seed)
        return model, train(model, bias, updates, lr, seed)

    told: dict[float, float | None] = {lr: -fmean(losses(lr, seed)[1][-1] for seed in (9, 10)) for lr in (0.1, 0.3)}
    assert told[0.3] > told[0.1]  # type: ignore[operator]
    return 0.3, told | {1.0: None}, {
        seed: nn.functional.mse_loss(losses(0.3, seed)[0](X), Y).item() for seed in (0, 1, 2)}


def test_it_comes_to_the_protocol_written_by_hand(parts: Parts) -> None:
    found = STUDY.measure(parts)
    assert list(found) == [(False, 3), (False, 20), (True, 3), (True, 20)]
    for (bias, updates), one in found.items():
        lr, rates, losses = by_hand(bias, updates)
        assert one.as_record() == {"lr": lr, "rates": [(rate, rates[rate]) for rate in RATES],
                                   "loss": seed_summary(losses),
                                   "seed": seed_summary({0: 0, 1: 1, 2: 2})}


def test_a_model_is_kept_and_a_run_is_done_again(parts: Parts) -> None:
    told = STUDY.measure(parts)[True, 20].as_record()
    kept = STUDY.trained(parts.folder, True, updates=20, seed=1)
    again = STUDY.live(told, True, updates=20, seed=1)
    assert all(torch.equal(one, other) for one, other in zip(kept.parameters(), again.model.parameters(), strict=True))
    assert measured(again)["loss"] == told["loss"]["values"][1] and again.lr == told["lr"] and not kept.training
    assert measured(STUDY.live(told, True, updates=20))["loss"] == told["loss"]["values"][0]


def test_what_is_done_is_not_done_again_but_by_another_study(parts: Parts) -> None:
    STUDY.measure(parts)
    lines = parts.path.read_text()
    STUDY.measure(Parts(parts.path, processes=0))
    assert parts.path.read_text() == lines
    replace(STUDY, name="other lines").measure(Parts(parts.path, processes=0))
    assert len(parts.path.read_text()) > 1.9 * len(lines)


def test_parts_run_in_other_processes(tmp_path: Path, parts: Parts) -> None:
    asked = replace(STUDY, updates=(3,), seeds=(0,), pilots=(9,))
    side_by_side = asked.measure(Parts(tmp_path / "others.jsonl", processes=2))
    assert {one: found.as_record() for one, found in side_by_side.items()} == {
        one: found.as_record() for one, found in asked.measure(parts).items()}


def test_rates_can_be_judged_after_fewer_updates(parts: Parts) -> None:
    found = replace(STUDY, pilot_updates=3).measure(parts)
    assert found[True, 3].scores == found[True, 20].scores == STUDY.measure(parts)[True, 3].scores


@pytest.mark.parametrize(("changes", "words"), [
    ({"pilots": (2, 9)}, r"seeds \[2\] both choose the learning rates and are measured"),
    ({"updates": {(False,): (3,), (True,): (3, 20)}}, "give the reason in `unequal`"),
])
def test_an_unfair_study_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        replace(STUDY, **changes)


def test_other_budgets_with_a_reason(parts: Parts) -> None:
    longer = replace(STUDY, updates={(False,): (3,), (True,): (3, 20)}, unequal="a bias takes longer")
    assert list(longer.measure(parts)) == [(False, 3), (True, 3), (True, 20)]


@pytest.mark.parametrize(("score", "words"), [
    (lambda run: -4.0, "has learned nothing at any rate"), (lambda run: -inf, "has learned nothing at any rate"),
    (lambda run: -run.lr, "is at an end of LR_GRID"),
], ids=["no better than nothing", "all diverged", "the slower the better"])
def test_a_rate_that_means_nothing_is_refused(score: Callable[[Run], float], words: str, parts: Parts) -> None:
    with pytest.raises(ValueError, match=words):
        replace(STUDY, development=score).measure(parts)


def test_a_run_that_diverges_is_an_error(parts: Parts) -> None:
    with pytest.raises(Diverged):
        STUDY.at(parts, {(True, 3): (1.0, {1.0: 0.0})})


def test_verdicts() -> None:
    low, high, across = seed_summary({0: 1.0, 1: 2.0}), seed_summary({0: 3.0, 1: 4.0}), seed_summary({0: 1.5, 1: 3.5})
    assert verdict(high, low, 0.5) == "supported" and verdict(low, high, 0.5) == "not supported"
    assert verdict(high, low, 1.5) == verdict(low, high, 1.0) == verdict(high, across, 0) == "no effect at this size"
