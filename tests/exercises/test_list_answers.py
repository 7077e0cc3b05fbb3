"""Answers that are lists of any length: what is wrong with one is said by its first place that differs."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest
import torch

from plmlab.exercises.checking import judge
from plmlab.exercises.exercise import Exercise
from plmlab.exercises.feedback import Feedback


def pairs(size: int) -> list[tuple[int, str]]:
    """The numbers below ``size``, each with a word."""
    return [(number, "ab"[number % 2]) for number in range(size)]


def judged(answer) -> Feedback:
    return judge(Exercise(
        "00.1", "pairs", pairs, lambda _: {"none": (0,), "three": (3,)},
        mistakes={"turned round": lambda size: pairs(size)[::-1]}, hints=("", "", "")), answer)


class Pair(NamedTuple):
    number: int
    word: str


def lazily(size: int) -> Iterator[tuple[int, str]]:
    yield from pairs(size)


@pytest.mark.parametrize("answer", [
    pairs,
    lambda size: tuple(pairs(size)),
    lambda size: [[number, word] for number, word in pairs(size)],
    lambda size: [(torch.tensor(number), word) for number, word in pairs(size)],
    lambda size: [Pair(*pair) for pair in pairs(size)],
])
def test_what_comes_to_the_same_list_is_right(answer) -> None:
    assert judged(answer).ok, judged(answer)


@pytest.mark.parametrize(("answer", "words"), [
    (lambda size: pairs(size)[::-1], "Turned round."),
    (lambda size: [[number, word] for number, word in pairs(size)[::-1]], "Turned round."),
    (lambda size: tuple(pairs(size)[::-1]), "Turned round."),
    (lambda size: pairs(size)[:2], "At [2]: yours is nothing, expected (2, a)."),
    (lambda size: [*pairs(size), (7, "c")], "At [0]: yours is (7, c), expected nothing."),
    (lambda size: [Pair(number, "a") for number, _ in pairs(size)], "At [1]: yours is (1, a), expected (1, b)."),
    (lambda size: [number for number, _ in pairs(size)], "At [0]: yours is 0, expected (0, a)."),
    (lambda size: [None] * size, "At [0]: yours is None, expected (0, a)."),
    (lambda size: set(pairs(size)), "The output is an object of type set; expected a list."),
    (lazily, "The output is an object of type generator; expected a list."),
    (lambda size: torch.zeros(size, 2), "The output is a tensor [0, 2]; expected a list."),
    (lambda size: None if size else [], "does the function end in a `return`?"),
])
def test_what_is_wrong_with_a_list_is_said(answer, words: str) -> None:
    feedback = judged(answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


def test_an_argument_that_is_a_list_of_pairs_is_shown() -> None:
    def counted(found: list[tuple[str, int]]) -> int:
        """How many."""
        return len(found)

    exercise = Exercise("00.2", "counted", counted, lambda _: {"two": ([("A", 1), ("B", 2)],)}, mistakes={},
                        hints=("", "", ""))
    assert "found = [('A', 1), ('B', 2)]" in repr(judge(exercise, lambda found: 0))
