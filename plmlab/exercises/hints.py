"""Help with exercises: hints, the folded solution, single test inputs, and the stub."""

from typing import Any

from plmlab.exercises.edits import source, without_docstring
from plmlab.exercises.exercise import UnknownExercise, find
from plmlab.exercises.feedback import Feedback, Folded, Hint, shown

_climbed: dict[str, int] = {}


def hint(number: Any) -> Hint | Feedback:
    """The next hint for an exercise ("06.2"). Each hint is more specific than the one before, and the last one is
    repeated. An unknown number gives a message instead of an exception. A script prints the hint."""
    try:
        exercise = find(number)
    except UnknownExercise as error:
        return shown(Feedback("not checked", str(error)))
    top = len(exercise.hints)
    rung = _climbed[exercise.number] = min(_climbed.get(exercise.number, 0) + 1, top)
    more = f'the last; then there is solution("{exercise.number}")' if rung == top else "call again for more"
    return shown(Hint(f"{exercise.heading}, hint {rung} of {top} ({more})", exercise.hints[rung - 1]))


def start_over() -> None:
    """Reset the hints of every exercise to the first."""
    _climbed.clear()


def solution(number: Any) -> Folded | Feedback:
    """A solution of an exercise ("06.2"), folded in a notebook. An unknown number gives a message instead of an
    exception. A script prints it."""
    try:
        exercise = find(number)
    except UnknownExercise as error:
        return shown(Feedback("not checked", str(error)))
    return shown(Folded(f"{exercise.heading}: a solution", without_docstring(exercise.solution)))


def case(number: Any, place: Any) -> tuple[Any, ...]:
    """The arguments of one test input of an exercise ("08.4"), numbered from 1 as in ``check``: ``span(*case("08.4",
    2))`` calls your function on the second input. Each call returns a new copy. Raises ValueError if there is no such
    exercise or input."""
    exercise = find(number)
    probes = exercise.probes()
    if not isinstance(place, int) or not 1 <= place <= len(probes):
        names = "; ".join(f"{i} ({name})" for i, name in enumerate(probes, 1))
        raise ValueError(f"exercise {exercise.number} has no input {place!r:.40}; it has {names}")
    return list(probes.values())[place - 1]


def stub(number: Any) -> str:
    """The starting code of an exercise: signature and docstring of the solution. Raises UnknownExercise if there is no
    such exercise."""
    lines, docstring = source(find(number).solution)
    return "\n".join([*lines[: docstring.end_lineno], "    raise NotImplementedError"])
