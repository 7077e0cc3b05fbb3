"""Progress display during training: a live curve in a notebook, a progress bar in a terminal."""

from collections.abc import Sequence
from typing import Protocol


class Progress(Protocol):
    """Interface of progress displays."""

    def losses(self, step: int, latest: Sequence[float], speed: float) -> None:
        """Show the latest losses, in nats; the last one belongs to ``step``. ``speed`` is in tokens per second."""

    def validation(self, step: int, loss: float) -> None:
        """Show a validation loss in nats, measured after ``step`` updates."""

    def finish(self, reason: str) -> None:
        """Show that the run has ended, and why."""


class Silent:
    """A progress display that shows nothing."""

    def losses(self, step: int, latest: Sequence[float], speed: float) -> None:
        """Ignore the losses."""

    def validation(self, step: int, loss: float) -> None:
        """Ignore the validation loss."""

    def finish(self, reason: str) -> None:
        """Do nothing at the end of the run."""


class Line:
    """A tqdm progress bar with the latest loss and validation loss."""

    def __init__(self, title: str, steps: int, done: int, floor: float | None) -> None:
        from tqdm import tqdm
        self.bar = tqdm(total=steps, initial=done, desc=title, unit="step", mininterval=0.2)
        self.held_out = ""
        self.floor = "" if floor is None else f" (floor {floor:.3f})"

    def losses(self, step: int, latest: Sequence[float], speed: float) -> None:
        """Advance the bar to ``step`` and show the latest loss."""
        self.bar.set_postfix_str(f"loss {latest[-1]:.3f}{self.floor}{self.held_out}, {speed:,.0f} tokens/s",
                                 refresh=False)
        self.bar.update(step - self.bar.n)

    def validation(self, step: int, loss: float) -> None:
        """Store the validation loss, which is shown next to all later losses."""
        self.held_out = f", validation {loss:.3f}"

    def finish(self, reason: str) -> None:
        """Close the bar, which stays visible with the reason why the run ended."""
        self.bar.set_postfix_str(reason)
        self.bar.close()


class Live:
    """A progress display in a notebook: the `Curve` lab, which limits how often it is redrawn.

    The latest loss is held back until the next call, because a validation loss may belong to the same step.
    Losses are in nats per token, question or pair, as the model defines its loss.
    """

    def __init__(self, title: str, steps: int, floor: float | None) -> None:
        from IPython.display import display

        from plmlab.labs.curve.lab import Curve
        self.curve = Curve(title, floor=floor, steps=steps, unit="nats")
        self.newest: tuple[int, float] | None = None
        display(self.curve)

    def losses(self, step: int, latest: Sequence[float], speed: float) -> None:
        """Pass the losses to the lab, except the latest, which is held back."""
        for at, loss in enumerate(latest, step - len(latest) + 1):
            self.draw()
            self.newest = at, loss

    def validation(self, step: int, loss: float) -> None:
        """Pass the validation loss to the lab together with the pending loss of the same step."""
        self.draw(loss)

    def draw(self, validation: float | None = None) -> None:
        """Pass the pending loss, if any, to the lab, together with the validation loss of the same step."""
        if self.newest:
            self.curve.add(*self.newest, validation=validation)
        self.newest = None

    def finish(self, reason: str) -> None:
        """Draw the pending loss and show why the run ended."""
        self.draw()
        self.curve.finish(reason)


def in_notebook() -> bool:
    """Whether the code runs in a Jupyter kernel, which can show widgets."""
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return type(get_ipython()).__name__ == "ZMQInteractiveShell"


def progress(title: str, *, steps: int, done: int, floor: float | None, line: bool = False) -> Progress:
    """Create the progress display: `Live` in a notebook, otherwise `Line`; always `Line` if ``line`` is True."""
    if in_notebook() and not line:
        return Live(title, steps, floor)
    return Line(title, steps, done, floor)
