"""An exercise: the task, the solution, and functions with known mistakes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch

from plmlab.course import chapters_with, part_of
from plmlab.exercises.edits import Edit, Function

SEED = 0

Probes = dict[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Exercise:
    r"""One exercise of a chapter.

    Attributes:
        number: chapter and number within it, "06.2".
        title: its topic, in a few words.
        solution: the correct function. Its signature and docstring are the learner's stub.
        draw: the test inputs, smallest first: a name → the arguments of one call.
        mistakes: description of the mistake → an edit of the solution, or a function, that makes exactly this mistake.
            On the inputs, each differs from the solution and from the other mistakes; a learner's function with the
            same outputs is reported as this mistake.
        properties: description of the violation → a predicate of (output, \*arguments) that is True if the property
            *holds*. Checked in this order for an output of the correct shape that matches no known mistake.
        hints: three hints, each more specific than the one before.
    """

    number: str
    title: str
    solution: Function
    draw: Callable[[torch.Generator], Probes]
    mistakes: Mapping[str, Edit | Function]
    hints: tuple[str, str, str]
    properties: Mapping[str, Callable[..., bool]] = field(default_factory=dict)

    @property
    def heading(self) -> str:
        """The exercise's number and title in one line."""
        return f"{self.number} {self.title}"

    @cached_property
    def mutants(self) -> dict[str, Function]:
        """The mistakes as functions, with edits applied."""
        return {name: mistake.of(self.solution) if isinstance(mistake, Edit) else mistake
                for name, mistake in self.mistakes.items()}

    def probes(self) -> Probes:
        """The test inputs, name → arguments; every call returns the same inputs."""
        return self.draw(torch.Generator().manual_seed(SEED))


class UnknownExercise(ValueError):
    """Raised if there is no exercise with this number; the message lists the existing ones."""


def chapters() -> list[str]:
    """The two-digit numbers of the chapters that have exercises."""
    return chapters_with("exercises")


def of_chapter(chapter: str) -> tuple[Exercise, ...]:
    """The exercises of one chapter ("06"), in order of increasing difficulty."""
    exercises: tuple[Exercise, ...] = part_of(chapter, "exercises").EXERCISES
    return exercises


def find(number: object) -> Exercise:
    """The exercise with this number, "06.2" or "6.2". Raises UnknownExercise if there is no such exercise."""
    wanted = str(number).zfill(len("06.2"))
    chapter = wanted.partition(".")[0]
    there = {exercise.number: exercise for exercise in of_chapter(chapter)} if chapter in chapters() else {}
    if wanted not in there:
        ranges = (f"{mine[0].number} to {mine[-1].number}" for mine in map(of_chapter, chapters()))
        raise UnknownExercise(f"there is no exercise {str(number)!r:.40}; the exercises are: {', '.join(ranges)}")
    return there[wanted]
