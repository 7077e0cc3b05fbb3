"""The checks of chapter 13 accept plmlab's code and refuse wrong versions of the reader's."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
from torch import Tensor

from plmlab.chapters.ch13 import equivalence, exercises
from plmlab.exercises.edits import Edit
from plmlab.objectives.denoising import text_infilling
from plmlab.text.vocabulary import Vocabulary

EXERCISES = {exercise.number: exercise for exercise in exercises.EXERCISES}


@pytest.fixture(autouse=True, scope="module")
def transformers() -> None:
    """Import T5 of ``transformers`` outside of the time of any test."""
    import transformers.models.t5.modeling_t5  # noqa: F401


def holds(checks: dict[str, bool]) -> bool:
    return all(checks.values())


def mistakes(number: str) -> list[Any]:
    return [pytest.param(mistake, id=name[:40]) for name, mistake in EXERCISES[number].mistakes.items()]


def wrong(number: str, mistake: Any) -> Callable[..., Any]:
    return mistake.of(EXERCISES[number].solution) if isinstance(mistake, Edit) else mistake


def test_right_code_is_accepted() -> None:
    assert holds(equivalence.spans_dropped(exercises.span_corruption))
    assert holds(equivalence.mass_slots(slots(exercises.decoder_slots)))
    assert holds(equivalence.infilling(text_infilling))
    assert holds(equivalence.buckets(*in_two(exercises.relative_bucket)))
    assert holds(equivalence.t5_parity())


@pytest.mark.parametrize("mistake", mistakes("13.1"))
def test_wrong_sources_and_targets_are_refused(mistake: Any) -> None:
    assert not holds(equivalence.spans_dropped(wrong("13.1", mistake)))


def slots(own: Callable[..., Any]) -> Callable[..., Any]:
    """The exercise's function with the start token of the notebook's as the default."""
    return lambda tokens, u, v, start="[START]": own(tokens, u, v, start)


@pytest.mark.parametrize("mistake", mistakes("13.3"))
def test_wrong_slots_are_refused(mistake: Any) -> None:
    assert not holds(equivalence.mass_slots(slots(wrong("13.3", mistake))))


def in_two(own: Callable[..., Tensor]) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
    """The exercise's function as the notebook's two, for decoder and encoder."""
    return (lambda back, buckets: own(back, buckets, 128, False)), (lambda back, buckets: own(back, buckets, 128, True))


@pytest.mark.parametrize("mistake", mistakes("13.2"))
def test_wrong_buckets_are_refused(mistake: Any) -> None:
    assert not holds(equivalence.buckets(*in_two(wrong("13.2", mistake))))


def infilling(lengths: Callable[[int, Random], list[int]], fraction: float = 0.3) -> Callable[..., list[int]]:
    """Text infilling with other span lengths; spans at random places."""
    def noise(tokens: list[int], vocab: Vocabulary, rng: Random) -> list[int]:
        budget = round(fraction * len(tokens))
        spans = lengths(budget, rng)
        units: list[Any] = [[vocab.mask]] * len(spans) + [None] * (len(tokens) - sum(spans))
        order = sorted(range(len(units)), key=lambda _: rng.random())
        remaining, source = iter(spans), list[int]()
        rest = list(tokens)
        for i in order:
            if units[i]:
                source += [vocab.need("mask")]
                rest = rest[next(remaining):]
            else:
                source.append(rest.pop(0))
        return source
    return noise


def until(budget: int, draw: Callable[[], int]) -> list[int]:
    found = list[int]()
    while sum(found) < budget:
        found.append(min(draw(), budget - sum(found)))
    return found


def poisson(rng: Random) -> int:
    return int(torch.poisson(torch.tensor(3.0), generator=torch.Generator().manual_seed(int(rng.random() * 2**31))))


def test_infilling_by_torchs_poisson_is_accepted_and_other_lengths_are_refused() -> None:
    right = infilling(lambda budget, rng: until(budget, lambda: poisson(rng)))
    assert holds(equivalence.infilling(right, 1000))
    for lengths in (lambda budget, rng: until(budget, lambda: max(1, poisson(rng))),  # GLM's
                    lambda budget, rng: [1] * budget, lambda budget, rng: [budget],
                    lambda budget, rng: [*until(budget, lambda: 3), 0]):
        assert not holds(equivalence.infilling(infilling(lengths), 1000))
    half = infilling(lambda budget, rng: until(budget, lambda: poisson(rng)), 0.15)
    assert not holds(equivalence.infilling(half, 1000))


def test_a_failed_check_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(AssertionError, match="a check failed"):
        equivalence.report({"right": True, "wrong": False})
    assert capsys.readouterr().out == "right: yes\nwrong: NO\n"
