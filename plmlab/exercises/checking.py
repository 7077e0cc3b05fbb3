"""``check``: run an answer on test inputs and identify the mistake."""

import ast
import inspect
import math
import traceback
from dataclasses import dataclass, replace
from textwrap import dedent
from typing import Any, Self

from torch import Tensor

from plmlab.exercises.comparing import described, difference, misfit, same, shaped
from plmlab.exercises.edits import Function
from plmlab.exercises.exercise import Exercise, Probes, UnknownExercise, find
from plmlab.exercises.feedback import Feedback, shown
from plmlab.exercises.relations import relation
from plmlab.exercises.sandbox import SECONDS, Run, TooLong, alike, learners_line, run, takes

LONGEST_MESSAGE, MOST_PRINTED = 300, 5
ENDLESS = (TooLong, KeyboardInterrupt)
"""Errors that end a call that does not terminate: the time limit, or an interruption by the learner."""

BINDS = "& and | bind more tightly than < and ==: put each comparison in parentheses, (a < b) & (c < d)."
POWER = "^ is not exponentiation in Python; use **."
REMEDIES: tuple[tuple[type[BaseException], str], ...] = (
    (NotImplementedError, "If the stub's last line is still there, replace it with your `return`."),
    (RecursionError, "The function calls itself endlessly: when should the recursion stop?"),
    (UnboundLocalError, "The name is used before it has a value. If it belongs to the enclosing function, declare it "
     "`nonlocal` here."),
    (NameError, "Is the name spelt correctly, and has the cell that defines or imports it been run?"),
    (AttributeError, "Print the type(…) of the object before the dot, just above that line."),
    (TypeError, "Print the arguments just above that line: one of them does not have the type that it expects."),
    (ArithmeticError, "Print the numbers in that line, just above it: which one is an invalid divisor?"),
    (ValueError, "Print the inputs of that line, just above it: their values or shapes are not what it expects."),
    (Exception, "Print the shapes of all tensors in that line, just above it, and compare them with the docstring."),
    (BaseException, "A function must return its result with `return`."),
)


def check(number: Any, fn: Any) -> Feedback:
    """Check an answer to an exercise ("06.2"). Never raises; the result's ``.ok`` is True if the answer is correct.
    A notebook or a prompt displays the result; a script prints it."""
    try:
        return shown(judge(find(number), fn))
    except UnknownExercise as error:
        return shown(Feedback("not checked", str(error)))
    except Exception as error:
        message = "".join(traceback.format_exception_only(error)).strip()
        return shown(Feedback("not checked", f"{number} could not be checked", (
            "The check itself failed on what your function returned:", message[:LONGEST_MESSAGE])))


@dataclass(frozen=True)
class Trial:
    """The results of running an answer: the inputs by name, the outputs of the learner's function on them, converted to
    the types of the expected ones (`shaped`), and the expected outputs.

    If a call does not terminate, no further inputs are tried.
    """

    exercise: Exercise
    inputs: Probes
    mine: dict[str, Run]
    right: dict[str, Run]

    @classmethod
    def of(cls, exercise: Exercise, fn: Function, inputs: Probes) -> Self:
        """Run a function on all inputs."""
        mine = dict[str, Run]()
        right = {name: run(exercise.solution, args) for name, args in inputs.items()}
        for name, args in inputs.items():
            found = run(fn, args)
            mine[name] = replace(found, value=shaped(found.value, right[name].value))
            if isinstance(found.error, ENDLESS):
                break
        return cls(exercise, inputs, mine, right)


def judge(exercise: Exercise, fn: Any) -> Feedback:
    """Give feedback on a function as an answer to an exercise, based on all inputs."""
    inputs = exercise.probes()
    if complaint := not_a_fit(exercise, fn, next(iter(inputs.values()))):
        return wrong(exercise, complaint)
    trial = Trial.of(exercise, fn, inputs)
    last = next(reversed(trial.mine))
    if isinstance(trial.mine[last].error, ENDLESS):
        return endless(trial, last)
    if not_attempted(fn, list(trial.mine.values())):
        return Feedback("not attempted", f"{exercise.heading}: not attempted yet", (
            f"Write the body of `{exercise.solution.__name__}`, and run its cell again.", onward(exercise)))
    mistake = known_mistake(trial)
    for name, mine in trial.mine.items():
        if mine.error is not None and not mistake:
            return failed(trial, name)
        if faults := [mistake] if mine.error is not None else fault(trial, name):
            careless = [f"In addition, `{spoilt(exercise, mine)}` is changed in place."] if mine.changed else []
            return wrong(exercise, *map(sentence, [mistake] if mistake else faults), *careless, *raised(mine),
                         *on(trial, name), *printed(mine), mistake=mistake)
    for name, mine in trial.mine.items():
        if mine.changed:
            return wrong(exercise, f"The answer is correct, but `{spoilt(exercise, mine)}` is changed in place: "
                         "the caller still needs its original value.", *on(trial, name), *printed(mine))
    return Feedback("right", f"{exercise.heading}: correct", (
        f"It agrees with the solution on {len(trial.inputs)} inputs: {'; '.join(trial.inputs)}.",
        f"There are {len(exercise.mistakes)} common mistakes here. Each gives a different output on at least one of "
        "these inputs. Your function makes none of them and does not change its arguments.",
    ))


def not_a_fit(exercise: Exercise, fn: object, args: tuple[Any, ...]) -> str:
    """The reason why an object cannot be called as the exercise requires; "" if it can."""
    name, wanted = exercise.solution.__name__, inspect.signature(exercise.solution).parameters
    if not callable(fn):
        return f'Pass the function itself, check("{exercise.number}", {name}); this is {described(fn)}.'
    if not takes(fn, args):
        return f"It must take {len(wanted)} arguments: {name}({', '.join(wanted)})."
    return ""


def not_attempted(fn: Function, runs: list[Run]) -> bool:
    """Whether the function is still the stub: it returns None, and its body, if the source is available, does
    nothing."""
    silent = (isinstance(r.error, NotImplementedError) or (r.error is None and (r.value is None or r.value is ...))
              for r in runs)
    return all(silent) and does_nothing(fn)


def does_nothing(fn: Function) -> bool:
    """Whether the body of a function contains only a docstring, ``pass``, ``...``, a bare ``return`` or
    ``raise NotImplementedError``. Also True if the source is not available."""
    try:
        tree = ast.parse(dedent(inspect.getsource(fn)))
    except (OSError, TypeError, SyntaxError):
        return True
    body = getattr(tree.body[0], "body", [])
    return all(isinstance(step, ast.Pass) or is_constant(step) or says_not_implemented(step) for step in body)


def is_constant(step: ast.stmt) -> bool:
    """Whether a statement is a docstring, ``...``, or a ``return`` of a constant or of nothing."""
    return isinstance(step, ast.Expr | ast.Return) and isinstance(step.value, ast.Constant | None)


def says_not_implemented(step: ast.stmt) -> bool:
    """Whether a statement is ``raise NotImplementedError``, with or without a message."""
    return isinstance(step, ast.Raise) and ast.unparse(step).startswith("raise NotImplementedError")


def known_mistake(trial: Trial) -> str:
    """The name of the known mistake with the same outputs as the learner's function on every input; "" if there is
    none.

    A softmax written by hand may contain a second mistake that shows only for large numbers. A second attempt therefore
    leaves out inputs on which the numbers overflow: a mistake is named if it is the only one that explains the other
    outputs.
    """
    inputs, mine, right = trial.inputs, trial.mine, trial.right
    if all(r.error is not None for r in mine.values()):
        return ""
    for mistake, mutant in trial.exercise.mutants.items():
        if all(alike(run(mutant, args), mine[name]) for name, args in inputs.items()):
            return mistake
    sound = [name for name in inputs if not ran_out(mine[name])]
    if len(sound) < 2 or all(alike(right[name], mine[name]) for name in sound):
        return ""
    fitting = [mistake for mistake, mutant in trial.exercise.mutants.items()
               if all(alike(run(mutant, inputs[name]), mine[name]) for name in sound)]
    return fitting[0] if len(fitting) == 1 else ""


def ran_out(outcome: Run) -> bool:
    """Whether a call left the range of floating-point numbers: NaN or ∞ in the output, or an ArithmeticError."""
    parts = outcome.value if isinstance(outcome.value, tuple) else (outcome.value,)
    return isinstance(outcome.error, ArithmeticError) or any(
        not bool(part.isfinite().all()) if isinstance(part, Tensor) else isinstance(part, float)
        and not math.isfinite(part) for part in parts)


def fault(trial: Trial, name: str) -> list[str]:
    """A description of what is wrong with the output of one call; an empty list if it is correct. Correct numbers can
    still violate a property, such as having a gradient. For incorrect numbers, it gives their relation to the expected
    ones and the first place where they differ."""
    value, right = trial.mine[name].value, trial.right[name].value
    if complaint := misfit(value, right):
        return [complaint, *related(trial)]
    breaches = [breach for breach, holds in trial.exercise.properties.items() if not holds(value, *trial.inputs[name])]
    return [*breaches[:1], *([] if same(value, right) else [*related(trial), difference(value, right)])]


def related(trial: Trial) -> list[str]:
    """The relation of the learner's outputs to the expected ones, if that relation is the same on all inputs."""
    if any(mine.error is not None for mine in trial.mine.values()):
        return []
    found = relation([(mine.value, trial.right[name].value) for name, mine in trial.mine.items()])
    return [found] if found else []


def spoilt(exercise: Exercise, mine: Run) -> str:
    """The name of the first argument that a call modified."""
    return list(inspect.signature(exercise.solution).parameters)[mine.changed[0]]


def raised(mine: Run) -> list[str]:
    """The error raised by the learner's function, and the line that raised it; an empty list if there is none."""
    if mine.error is None:
        return []
    message = "".join(traceback.format_exception_only(mine.error)).strip()
    line = learners_line(mine.error)
    shortened = message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]}…"
    return [shortened, *([f"In {line}"] if line else [])]


def failed(trial: Trial, name: str) -> Feedback:
    """The feedback on an error raised by the learner's function, with advice."""
    mine = trial.mine[name]
    remedy = next(remedy for kind, remedy in REMEDIES if isinstance(mine.error, kind))
    if "bitwise_xor" in str(mine.error) or "for ^:" in str(mine.error):
        remedy = POWER
    elif "bitwise_" in str(mine.error):
        remedy = BINDS
    return Feedback("error", f"{trial.exercise.heading}: stopped with an error", (
        *raised(mine), *on(trial, name), remedy, *printed(mine), onward(trial.exercise)))


def endless(trial: Trial, name: str) -> Feedback:
    """The feedback on a function that did not terminate: it exceeded the time limit, or the learner interrupted it."""
    mine = trial.mine[name]
    why = f"After {SECONDS:g} s it" if isinstance(mine.error, TooLong) else "It"
    line = learners_line(mine.error) if mine.error else ""
    return Feedback("error", f"{trial.exercise.heading}: did not terminate", (
        f"{why} was stopped. Is there a loop that never ends?", *([f"It was at {line}"] if line else []),
        *on(trial, name), *printed(mine)))


def wrong(exercise: Exercise, *lines: str, mistake: str = "") -> Feedback:
    """The feedback on a wrong answer: ``lines`` explain it, ``mistake`` is the name of the known mistake, if any."""
    return Feedback("wrong", f"{exercise.heading}: not correct yet", (*lines, onward(exercise)), mistake)


def on(trial: Trial, name: str) -> list[str]:
    """Two lines about the input that revealed the mistake: its number, name and arguments, and the call of ``case``
    that returns it."""
    solution, place = trial.exercise.solution, list(trial.inputs).index(name) + 1
    parameters = zip(inspect.signature(solution).parameters, trial.inputs[name], strict=True)
    given = ", ".join(f"{parameter} = {described(arg)}" for parameter, arg in parameters)
    call = f'case("{trial.exercise.number}", {place})'
    return [f"Input {place} of {len(trial.inputs)} ({name}): {given}",
            f"{call} returns it; {solution.__name__}(*{call}) calls your function on it."]


def printed(mine: Run) -> list[str]:
    """The first lines of what the function printed; an empty list if it printed nothing."""
    lines = mine.printed.splitlines()
    rest = ["  …"] if len(lines) > MOST_PRINTED else []
    return ["It printed:", *(f"  {line:.100}" for line in lines[:MOST_PRINTED]), *rest] if lines else []


def onward(exercise: Exercise) -> str:
    """A line that refers to the hints."""
    return f'Stuck? Call hint("{exercise.number}").'


def sentence(text: str) -> str:
    """The text with an initial capital and a full stop."""
    return f"{text[0].upper()}{text[1:]}" + ("" if text[-1] in "?.!" else ".")
