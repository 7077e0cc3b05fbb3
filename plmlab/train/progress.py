"""What a reader sees while a model trains: a live curve in a notebook, a line in a terminal."""

from collections.abc import Sequence
from typing import Protocol


class Progress(Protocol):
    """Somewhere to show a run."""

    def losses(self, step: int, latest: Sequence[float]) -> None:
        """``latest`` are the losses of the last steps, up to ``step``."""

    def validation(self, step: int, loss: float) -> None:
        """A validation loss after ``step`` updates."""

    def finish(self, reason: str) -> None:
        """The run is over."""


class Silent:
    """Shows nothing."""

    def losses(self, step: int, latest: Sequence[float]) -> None:
        """Nothing."""

    def validation(self, step: int, loss: float) -> None:
        """Nothing."""

    def finish(self, reason: str) -> None:
        """Nothing."""


class Line:
    """A tqdm line."""

    def __init__(self, title: str, steps: int, done: int) -> None:
        from tqdm import tqdm
        self.bar = tqdm(total=steps, initial=done, desc=title, unit="step", mininterval=0.2)
        self.held_out = ""

    def losses(self, step: int, latest: Sequence[float]) -> None:
        """Move on to ``step``."""
        self.bar.set_postfix_str(f"loss {latest[-1]:.3f}{self.held_out}", refresh=False)
        self.bar.update(step - self.bar.n)

    def validation(self, step: int, loss: float) -> None:
        """Keep the newest in sight."""
        self.held_out = f", validation {loss:.3f}"

    def finish(self, reason: str) -> None:
        """Leave the line and the reason."""
        self.bar.set_postfix_str(reason)
        self.bar.close()


class Live:
    """The ``Curve`` lab, which draws no oftener than the eye needs.

    The newest loss waits for the next call, because a validation loss may belong to its step.
    """

    def __init__(self, title: str, steps: int, floor: float | None) -> None:
        from IPython.display import display

        from plmlab.labs.curve.lab import Curve
        self.curve = Curve(title, floor=floor, steps=steps)
        self.newest: tuple[int, float] | None = None
        display(self.curve)

    def losses(self, step: int, latest: Sequence[float]) -> None:
        """A point for each."""
        for at, loss in enumerate(latest, step - len(latest) + 1):
            self.draw()
            self.newest = at, loss

    def validation(self, step: int, loss: float) -> None:
        """Beside the loss of its step."""
        self.draw(loss)

    def draw(self, validation: float | None = None) -> None:
        """Hand the waiting loss to the lab."""
        if self.newest:
            self.curve.add(*self.newest, validation=validation)
        self.newest = None

    def finish(self, reason: str) -> None:
        """Draw what waits, and say why it ended."""
        self.draw()
        self.curve.finish(reason)


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this code, so that widgets can be shown."""
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return type(get_ipython()).__name__ == "ZMQInteractiveShell"


def progress(title: str, *, steps: int, done: int, floor: float | None, line: bool = False) -> Progress:
    """The right one for where the code runs; ``line`` asks for the plain line even in a notebook."""
    if in_notebook() and not line:
        return Live(title, steps, floor)
    return Line(title, steps, done)
