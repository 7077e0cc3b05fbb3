"""Moments in a run, counted in the lines that plmlab runs, so that no clock has a say in when something comes."""

import sys
from collections.abc import Callable
from pathlib import Path

import plmlab

OURS = str(Path(plmlab.__file__).parent)


class Lines:
    """Counts the lines of plmlab's code, or of one file of it, from `begin` to `end`; before line ``at`` it calls
    ``act``."""

    def __init__(self, at: int = 0, act: Callable[[], object] = lambda: None, file: str = "") -> None:
        self.at, self.act, self.code, self.passed = at, act, f"{OURS}/{file}", 0

    def __call__(self, frame, event: str, _: object):
        """As `sys.settrace` has it."""
        if event == "line":
            self.passed += 1
            if self.passed == self.at:
                self.act()
        return self if frame.f_code.co_filename.startswith(self.code) else None

    def begin(self) -> None:
        frame = sys._getframe()
        while frame:
            frame.f_trace = self(frame, "call", None)
            frame = frame.f_back
        self.former = sys.gettrace()
        sys.settrace(self)

    def end(self) -> None:
        sys.settrace(self.former)
