"""What a reader sees while a model trains: a live curve in a notebook, a line in a terminal."""

from collections.abc import Sequence
from typing import Protocol


class Progress(Protocol):
    """Somewhere to show a run while it goes on."""

    def losses(self, step: int, latest: Sequence[float], speed: float) -> None:
        """Show the losses of the last steps, in nats; the newest is that of ``step``."""

    def validation(self, step: int, loss: float) -> None:
        """Show a validation loss in nats, measured after ``step`` updates."""

    def finish(self, reason: str) -> None:
        """Show that the run is over, and why."""


class Silent:
    """The progress of a run that is not shown: it takes all news and does nothing with it."""

    def losses(self, step: int, latest: Sequence[float], speed: float) -> None:
        """Ignore the losses."""

    def validation(self, step: int, loss: float) -> None:
        """Ignore the validation loss."""

    def finish(self, reason: str) -> None:
        """Ignore the end of the run."""


class Line:
    """A run as one tqdm line: a bar of steps, the newest loss, the newest validation loss."""

    def __init__(self, title: str, steps: int, done: int, floor: float | None) -> None:
        from tqdm import tqdm
        self.bar = tqdm(total=steps, initial=done, desc=title, unit="step", mininterval=0.2)
        self.held_out = ""
        self.floor = "" if floor is None else f" (floor {floor:.3f})"

    def losses(self, step: int, latest: Sequence[float], speed: float) -> None:
        """Move the bar on to ``step`` and show the last of the losses."""
        self.bar.set_postfix_str(f"loss {latest[-1]:.3f}{self.floor}{self.held_out}, {speed:,.0f} tokens/s",
                                 refresh=False)
        self.bar.update(step - self.bar.n)

    def validation(self, step: int, loss: float) -> None:
        """Show this validation loss beside every loss to come."""
        self.held_out = f", validation {loss:.3f}"

    def finish(self, reason: str) -> None:
        """Close the line; it stays, with the reason why the run ended."""
        self.bar.set_postfix_str(reason)
        self.bar.close()


class Live:
    """A run as the `Curve` lab in a notebook, which draws no oftener than the eye needs.

    The newest loss waits for the next call, because a validation loss may belong to its step.
    """

    def __init__(self, title: str, steps: int, floor: float | None) -> None:
        from IPython.display import display

        from plmlab.labs.curve.lab import Curve
        self.curve = Curve(title, floor=floor, steps=steps)
        self.newest: tuple[int, float] | None = None
        display(self.curve)

    def losses(self, step: int, latest: Sequence[float], speed: float) -> None:
        """Hand each loss to the lab, but for the newest, which waits."""
        for at, loss in enumerate(latest, step - len(latest) + 1):
            self.draw()
            self.newest = at, loss

    def validation(self, step: int, loss: float) -> None:
        """Hand the validation loss to the lab together with the loss that waits, which is of the same step."""
        self.draw(loss)

    def draw(self, validation: float | None = None) -> None:
        """Hand the loss that waits, if any, to the lab, with the validation loss of its step."""
        if self.newest:
            self.curve.add(*self.newest, validation=validation)
        self.newest = None

    def finish(self, reason: str) -> None:
        """Draw the loss that waits, and show why the run ended."""
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
    """A progress for where the code runs: `Live` in a notebook, else `Line`; always `Line` if ``line`` is True."""
    if in_notebook() and not line:
        return Live(title, steps, floor)
    return Line(title, steps, done, floor)
