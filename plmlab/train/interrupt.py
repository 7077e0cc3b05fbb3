"""Ctrl-C and a notebook's stop button, held back until the weights are whole."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self


class Interrupt:
    """Turns the first interrupt into a request, ``asked``, that the loop grants between two steps.

    A second interrupt raises KeyboardInterrupt at once, unless it falls into ``whole``: there it is raised
    at the end. Outside the main thread, which alone gets signals, it does nothing.
    """

    def __init__(self) -> None:
        self.asked = False
        self.urgent = False
        self.busy = False

    def __enter__(self) -> Self:
        self.main = threading.current_thread() is threading.main_thread()
        if self.main:
            self.former = signal.signal(signal.SIGINT, self.hear)
        return self

    def __exit__(self, *_: object) -> None:
        if self.main:
            signal.signal(signal.SIGINT, self.former or signal.default_int_handler)

    def hear(self, number: int, frame: FrameType | None) -> None:
        """The handler of SIGINT: the first sets ``asked``, a second raises KeyboardInterrupt unless inside `whole`."""
        self.urgent, self.asked = self.asked, True
        if self.urgent and not self.busy:
            raise KeyboardInterrupt

    @contextmanager
    def whole(self) -> Iterator[None]:
        """A stretch that no interrupt leaves halfway: a second one is raised as KeyboardInterrupt at its end."""
        self.busy = True
        try:
            yield
        finally:
            self.busy = False
        if self.urgent:
            raise KeyboardInterrupt
