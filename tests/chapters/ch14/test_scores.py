"""HotpotQA's measures, by hand; and against what SQuAD's count in `plmlab.metrics` says where they agree."""

import pytest

from plmlab.chapters.ch14.scores import Match, answer_match, set_match
from plmlab.metrics import answers


@pytest.mark.parametrize(("answer", "gold", "expected"), [
    ("Anna Bell", "Anna Bell", (1, 1, 1)),
    ("the anna bell .", "Anna Bell", (1, 1, 1)),
    ("Bell", "Anna Bell", (0, 1, 1 / 2)),
    ("Anna Mary Bell", "Anna Bell", (0, 2 / 3, 1)),
    ("Anna Anna", "Anna Bell", (0, 1 / 2, 1 / 2)),
    ("110,000", "110000", (1, 1, 1)),
    ("yes", "no", (0, 0, 0)),
    ("yes", "yes", (1, 1, 1)),
    ("yes Anna", "yes", (0, 0, 0)),
    ("no", "no Bell", (0, 0, 0)),
    ("Milton", "Anna Bell", (0, 0, 0)),
    (None, "Anna Bell", (0, 0, 0)),
])
def test_answers(answer: str | None, gold: str, expected: tuple[float, float, float]) -> None:
    found = answer_match(answer, gold)
    assert (found.exact, found.precision, found.recall) == pytest.approx(expected)
    if "yes" not in gold and "no" not in gold.split() and answer is not None:
        told = answers([answer], [gold])
        assert (told.exact, told.f1) == pytest.approx((found.exact, found.f1))


@pytest.mark.parametrize(("found", "gold", "expected", "f1"), [
    ([1, 2], [2, 1], (1, 1, 1), 1), ([1, 2, 3], [1, 2], (0, 2 / 3, 1), 4 / 5), ([1], [1, 2], (0, 1, 1 / 2), 2 / 3),
    ([], [1], (0, 0, 0), 0), ([3], [1], (0, 0, 0), 0)])
def test_sets(found: list[int], gold: list[int], expected: tuple[float, float, float], f1: float) -> None:
    match = set_match(found, gold)
    assert (match.exact, match.precision, match.recall) == pytest.approx(expected) and match.f1 == pytest.approx(f1)


def test_both_at_once() -> None:
    both = Match(1.0, 0.5, 1.0).together(Match(1.0, 0.8, 0.25))
    assert (both.exact, both.precision, both.recall) == (1, 0.4, 0.25)
    assert both.f1 == pytest.approx(2 * 0.4 * 0.25 / 0.65)
