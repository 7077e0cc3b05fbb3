"""Deferred handling of Ctrl-C and a notebook's stop button, so that no update is left incomplete."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self


class Interrupt:
    """Turns the first interrupt into a stop request (``asked``) that the training loop honours between two steps.

    A second interrupt raises KeyboardInterrupt at once or, inside ``whole``, at the end of that block. Outside the main
    thread, the only one that receives signals, the class has no effect.
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
        """SIGINT handler: the first call sets ``asked``, the second raises KeyboardInterrupt unless inside `whole`."""
        self.urgent, self.asked = self.asked, True
        if self.urgent and not self.busy:
            raise KeyboardInterrupt

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Context manager for a block that must not be interrupted: a second interrupt is raised at the end of the
        block."""
        self.busy = True
        try:
            yield
        finally:
            self.busy = False
        if self.urgent:
            raise KeyboardInterrupt
