"""Help on the way: a ladder of hints, the folded solution, an input to look at, and the stub to begin again with."""

from typing import Any

from plmlab.exercises.edits import source, without_docstring
from plmlab.exercises.exercise import UnknownExercise, find
from plmlab.exercises.feedback import Feedback, Folded, Hint, shown

_climbed: dict[str, int] = {}


def hint(number: Any) -> Hint | Feedback:
    """The next hint for an exercise ("06.2"); each call says more. The last one stays. An unknown number is
    told in words, not raised. A script prints it."""
    try:
        exercise = find(number)
    except UnknownExercise as error:
        return shown(Feedback("not checked", str(error)))
    top = len(exercise.hints)
    rung = _climbed[exercise.number] = min(_climbed.get(exercise.number, 0) + 1, top)
    more = f'the last; then there is solution("{exercise.number}")' if rung == top else "call again for more"
    return shown(Hint(f"{exercise.heading}, hint {rung} of {top} ({more})", exercise.hints[rung - 1]))


def start_over() -> None:
    """Let the hints of every exercise begin at the first again."""
    _climbed.clear()


def solution(number: Any) -> Folded | Feedback:
    """A solution of an exercise ("06.2"), folded in a notebook. An unknown number is told in words, not raised.
    A script prints it."""
    try:
        exercise = find(number)
    except UnknownExercise as error:
        return shown(Feedback("not checked", str(error)))
    return shown(Folded(f"{exercise.heading}: a solution", without_docstring(exercise.solution)))


def case(number: Any, place: Any) -> tuple[Any, ...]:
    """The arguments of one of the inputs that an exercise ("08.4") is tried on, counted from 1, as ``check`` counts
    them: ``span(*case("08.4", 2))`` calls your function on the second. Each call gives a copy of its own.
    ValueError if there is no such exercise or input."""
    exercise = find(number)
    probes = exercise.probes()
    if not isinstance(place, int) or not 1 <= place <= len(probes):
        names = "; ".join(f"{i} ({name})" for i, name in enumerate(probes, 1))
        raise ValueError(f"exercise {exercise.number} has no input {place!r:.40}; it has {names}")
    return list(probes.values())[place - 1]


def stub(number: Any) -> str:
    """The code to begin an exercise with: signature and docstring of the solution. UnknownExercise if there is none."""
    lines, docstring = source(find(number).solution)
    return "\n".join([*lines[: docstring.end_lineno], "    raise NotImplementedError"])
