"""Run a learner's function on copies of its arguments, with captured output, captured exceptions and a time limit."""

import inspect
import io
import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from plmlab.exercises.comparing import same
from plmlab.exercises.edits import Function

SECONDS = 5.0
"""Time limit of a function, in CPU time, so that the load of the machine does not matter."""


class TooLong(BaseException):
    """Raised if the function exceeds the time limit. It is a BaseException, so that an ``except Exception`` in the
    learner's code does not catch it."""


@dataclass(frozen=True)
class Run:
    """The result of one call: a value or an error, the printed output, and the indices of the arguments that it
    modified."""

    value: Any = None
    error: BaseException | None = None
    printed: str = ""
    changed: tuple[int, ...] = ()


def run(fn: Function, args: tuple[Any, ...], seconds: float = SECONDS) -> Run:
    """Call the function on a copy of the arguments, for at most ``seconds`` of CPU time, and capture its output and
    exceptions."""
    given, printed = deepcopy(args), io.StringIO()
    value, error = None, None
    with redirect_stdout(printed):
        try:
            with within(seconds):
                value = fn(*given)
        except BaseException as raised:
            error = raised
    changed = tuple(i for i, (now, before) in enumerate(zip(given, args, strict=True)) if not untouched(now, before))
    return Run(value, error, printed.getvalue(), changed)


def untouched(now: Any, before: Any) -> bool:
    """Whether an argument is exactly the same as before."""
    if isinstance(now, Tensor):
        return now.dtype == before.dtype and torch.equal(now, before)
    if isinstance(now, tuple):
        return all(map(untouched, now, before))
    return bool(now == before)


def alike(one: Run, other: Run) -> bool:
    """Whether two calls had the same result: equal values, or errors of the same type."""
    if one.error is None and other.error is None:
        return same(one.value, other.value)
    return type(one.error) is type(other.error)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Context manager that raises TooLong if the block exceeds the time limit. There is no limit on Windows, nor in
    threads other than the main thread."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def learners_line(error: BaseException) -> str:
    """The last line in the traceback that is from the learner's own file or cell; "" if there is none."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    own = [frame for frame in frames if frame.filename == frames[0].filename]
    return f"line {own[-1].lineno}:  {own[-1].line}" if own and own[-1].line else ""


def takes(fn: Function, args: tuple[Any, ...]) -> bool:
    """Whether the function can be called with this number of arguments; True if its signature is not available."""
    try:
        inspect.signature(fn).bind(*args)
    except ValueError:
        return True
    except TypeError:
        return False
    return True
