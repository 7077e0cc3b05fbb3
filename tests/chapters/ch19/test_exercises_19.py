"""The exercises of chapter 19: solutions against loops and the checklist, other answers, and mistakes."""

from functools import partial
from math import log, log2

import pytest
import torch

from plmlab.chapters.ch19 import exercises as right
from plmlab.chapters.ch19.information import leaks
from plmlab.exercises import case, check


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shift", [0, 1])
def test_leaks_are_those_of_the_checklist(seed: int, shift: int) -> None:
    depends = torch.rand(6, 6, generator=torch.Generator().manual_seed(seed)) < 0.2
    assert right.leaking(depends, shift).nonzero()[:, 0].tolist() == sorted({t for t, _ in leaks(depends, shift)})


def test_the_abstracts_by_hand() -> None:
    """The weights cannot be multiplied by the output matrix; the model is below the majority; 1.2 bits per character
    are 4.99 nats per word at six characters per word; one seed is below the baseline's best; 66 against 68."""
    assert right.first_mismatch(*case("19.1", 2)) == 1
    assert right.gain_over_majority(*case("19.3", 2)) == pytest.approx(21 / 25 - 23 / 25 + 2 / 25)
    assert right.nats_per_word(*case("19.4", 1)) == pytest.approx(1.2 * 6 * log(2))
    assert right.separation(*case("19.5", 2)) == pytest.approx(78.9 - 80, abs=1e-4)
    assert right.at_equal_budget(*case("19.6", 2)).tolist() == [66, 68]


# Other correct answers, and mistakes, as people write them

def multiplied(factors, found=lambda i: i):
    sizes = {axis: 2 + i for i, axis in enumerate(sorted({axis for axes in factors for axis in axes}))}
    product = torch.zeros([sizes[axis] for axis in factors[0]])
    for i, axes in enumerate(factors[1:], 1):
        try:
            product = product @ torch.zeros([sizes[axis] for axis in axes])
        except RuntimeError:
            return found(i)
    return -1


def in_loops(depends, shift, first=lambda t, shift: t + shift):
    time = len(depends)
    return torch.tensor([any(bool(depends[t, k]) for k in range(first(t, shift), time)) for t in range(time)])


def counted(predicted, targets, training):
    classes = sorted(set(training.tolist()))
    majority = max(classes, key=training.tolist().count)
    count = sum(p == y for p, y in zip(predicted.tolist(), targets.tolist(), strict=True))
    return (count - targets.tolist().count(majority)) / len(targets)


def text_by_text(bits, characters, words):
    total = sum(float(b) * int(c) for b, c in zip(bits, characters, strict=True))
    return total / log2(2.718281828459045) / int(words.sum())


def sorted_scores(ours, baseline):
    return sorted(ours.tolist())[0] - sorted(baseline.tolist())[-1]


def walked(ours, baseline, within=lambda tokens, budget: tokens <= budget):
    budget, found = min(float(ours[-1, 0]), float(baseline[-1, 0])), []
    for curve in (ours, baseline):
        found.append([score for tokens, score in curve.tolist() if within(tokens, budget)][-1])
    return torch.tensor(found)


@pytest.mark.parametrize(("number", "answer"), [
    ("19.1", multiplied), ("19.2", in_loops), ("19.3", counted), ("19.4", text_by_text), ("19.5", sorted_scores),
    ("19.6", walked)])
def test_another_correct_answer_is_accepted(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


@pytest.mark.parametrize(("number", "answer", "named"), [
    ("19.1", partial(multiplied, found=lambda i: i - 1), "left factor"),
    ("19.2", partial(in_loops, first=lambda t, shift: t + shift + 1), "target itself"),
    ("19.2", partial(in_loops, first=lambda t, shift: t + 1), "shift is ignored"),
    ("19.3", lambda predicted, targets, training: counted(predicted, targets, targets), "may not know them"),
    ("19.4", lambda *given: text_by_text(*given) / log(2), "multiply by ln 2"),
    ("19.5", lambda ours, baseline: float(ours.max() - baseline.max()),
     "best seed of ours is compared with the best"),
    ("19.6", partial(walked, within=lambda *_: True), "different numbers of tokens"),
])
def test_a_mistake_is_named(number: str, answer, named: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and named in feedback.mistake, feedback


@pytest.mark.parametrize(("number", "answer"), [
    ("19.1", lambda factors: -1), ("19.2", lambda depends, shift: depends.diagonal(shift)),
    ("19.3", lambda predicted, targets, training: float((predicted == targets).float().mean() - 0.5)),
    ("19.4", lambda bits, characters, words: float(bits.mean() * log(2))),
    ("19.5", lambda ours, baseline: float(ours.median() - baseline.median())),
    ("19.6", lambda ours, baseline: torch.stack([ours[0, 1], ours[-1, 1]])),
])
def test_no_wrong_answer_passes(number: str, answer) -> None:
    assert not check(number, answer).ok
