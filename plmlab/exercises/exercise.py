"""An exercise: what is asked, the right function, and the wrong ones under the names of their mistakes."""

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
    """One exercise of a chapter.

    Attributes:
        number: chapter and place in it, "06.2".
        title: what it is about, in a few words.
        solution: the right function. Its signature and docstring are the learner's stub.
        draw: the inputs that it is tried on, from the smallest on: a name → the arguments of one call.
        mistakes: what is wrong, in words → an edit of the solution, or a function, that does just that. Each differs
            from the solution and from the others on the inputs; a learner's function that does the same bears that
            name.
        properties: what is wrong, in words → whether it is *not* so, of (output, \\*arguments). Asked in this order of
            an output that has the right shape and does what no known mistake does.
        hints: the ladder; each says more than the one before.
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
        """The mistakes as functions, edits made."""
        return {name: mistake.of(self.solution) if isinstance(mistake, Edit) else mistake
                for name, mistake in self.mistakes.items()}

    def probes(self) -> Probes:
        """The inputs that an answer is tried on: name → arguments; the same at every call."""
        return self.draw(torch.Generator().manual_seed(SEED))


class UnknownExercise(ValueError):
    """There is no exercise of that number; the message says which there are."""


def chapters() -> list[str]:
    """The chapters that have exercises: their numbers, two digits each."""
    return chapters_with("exercises")


def of_chapter(chapter: str) -> tuple[Exercise, ...]:
    """The exercises of one chapter ("06"), from easy to hard."""
    exercises: tuple[Exercise, ...] = part_of(chapter, "exercises").EXERCISES
    return exercises


def find(number: object) -> Exercise:
    """The exercise "06.2"; "6.2" means the same. UnknownExercise if there is none."""
    wanted = str(number).zfill(len("06.2"))
    chapter = wanted.partition(".")[0]
    there = {exercise.number: exercise for exercise in of_chapter(chapter)} if chapter in chapters() else {}
    if wanted not in there:
        ranges = (f"{mine[0].number} to {mine[-1].number}" for mine in map(of_chapter, chapters()))
        raise UnknownExercise(f"there is no exercise {str(number)!r:.40}; there are: {', '.join(ranges)}")
    return there[wanted]
