"""A learner's function is called: on copies, in silence, not for ever, and whatever it raises is kept."""

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
"""So long may a function compute: of the processor's time, so that nothing hangs on what else the machine does."""


class TooLong(BaseException):
    """The function did not come to an end. No ``except Exception`` of the learner's catches it."""


@dataclass(frozen=True)
class Run:
    """What came of one call: a value or an error, what it printed, and which arguments (from 0) it changed."""

    value: Any = None
    error: BaseException | None = None
    printed: str = ""
    changed: tuple[int, ...] = ()


def run(fn: Function, args: tuple[Any, ...], seconds: float = SECONDS) -> Run:
    """Call the function on a copy of the arguments, for ``seconds`` of the processor's time at most, and keep what it
    prints and raises."""
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
    """Whether an argument is still what it was, to the last digit."""
    if isinstance(now, Tensor):
        return now.dtype == before.dtype and torch.equal(now, before)
    if isinstance(now, tuple):
        return all(map(untouched, now, before))
    return bool(now == before)


def alike(one: Run, other: Run) -> bool:
    """Whether two calls came to the same: equal values, or errors of one type."""
    if one.error is None and other.error is None:
        return same(one.value, other.value)
    return type(one.error) is type(other.error)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TooLong where the block computes longer. Windows, and any thread but the first, know no such alarm."""
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
    """The last line of the learner's own file, or cell, that the error came through; "" where none is known."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    own = [frame for frame in frames if frame.filename == frames[0].filename]
    return f"line {own[-1].lineno}:  {own[-1].line}" if own and own[-1].line else ""


def takes(fn: Function, args: tuple[Any, ...]) -> bool:
    """Whether the function can be called with so many arguments; True where its signature cannot be read."""
    try:
        inspect.signature(fn).bind(*args)
    except ValueError:
        return True
    except TypeError:
        return False
    return True
