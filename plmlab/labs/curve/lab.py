"""A training curve that is updated during the run."""

import math
import time

from plmlab.labs.base import Lab
from plmlab.labs.curve.state import Fixed, Now, State

PAUSE = 0.1
"""Minimum time between two messages to the browser, in seconds."""


class Thinned:
    """A series of at most ``most`` points: when it is full, adjacent points are averaged in pairs."""

    def __init__(self, most: int = 240) -> None:
        self.most, self.together = most, 1
        self._groups: list[list[float]] = []

    def add(self, step: int, value: float) -> None:
        """Add the value at the next step."""
        if not self._groups or self._groups[-1][2] >= self.together:
            if len(self._groups) == self.most:
                self._halve()
            self._groups.append([step, 0.0, 0])
        group = self._groups[-1]
        group[0], group[1], group[2] = step, group[1] + value, group[2] + 1

    def _halve(self) -> None:
        left, right = self._groups[::2], self._groups[1::2]
        self._groups = [[b[0], a[1] + b[1], a[2] + b[2]] for a, b in zip(left, right, strict=True)]
        self.together *= 2

    def points(self) -> list[tuple[int, float]]:
        """The points to draw: (last step, mean value) of each group of steps."""
        return [(int(step), total / count) for step, total, count in self._groups]


class Curve(Lab):
    """A live training curve: the loss at each step, the floor (entropy lower bound), and the gap between them.

    The overhead for the training loop is small: values are averaged and sent at most ten times per second.

    Args:
        title: a name for the run.
        floor: the lowest possible loss, if known, in the same unit.
        steps: the total number of steps, if known (for the progress bar).
        floor_name: the label of the floor.
        unit: the unit of the loss.
    """

    module = "curve/lab.js"

    def __init__(self, title: str, floor: float | None = None, steps: int | None = None, *,
                 floor_name: str = "floor", unit: str = "nats per token") -> None:
        super().__init__()
        self.title = title
        self._fixed: Fixed = {"floor": floor, "floor_name": floor_name, "steps": steps, "unit": unit}
        self._training, self._validation = Thinned(), Thinned()
        self._now: Now = {"step": 0, "loss": None, "held_out": None, "note": "", "done": False}
        self._sent = 0.0
        self._show()

    def add(self, step: int, loss: float, validation: float | None = None, note: str = "") -> None:
        """Add the training loss of one step and, if measured, the validation loss; ``note`` is shown next to the
        losses.

        For a loss that is not finite, the lab shows a message instead of drawing it.
        """
        if not math.isfinite(loss):
            self.message, self.stale = f"the loss is {loss} at step {step}: training has diverged", False
            return
        self._training.add(step, loss)
        self._now["step"], self._now["loss"] = step, loss
        if note:
            self._now["note"] = note
        if validation is not None and math.isfinite(validation):
            self._validation.add(step, validation)
            self._now["held_out"] = validation
        if validation is not None or time.monotonic() - self._sent >= PAUSE:
            self._show()

    def finish(self, note: str = "") -> None:
        """Show that the run has finished, with a closing ``note``, and send all remaining values."""
        self._now["done"], self._now["note"] = True, note or self._now["note"]
        self._show()

    def summary(self) -> str:
        """The title, and whether the run has finished; the text contains nothing that differs between machines."""
        return f"{self.title}, {'finished' if self._now['done'] else 'running'}"

    def _show(self) -> None:
        self._sent = time.monotonic()
        state: State = {
            "title": self.title, **self._fixed, **self._now, "together": self._training.together,
            "training": [(step, round(loss, 4)) for step, loss in self._training.points()],
            "validation": [(step, round(loss, 4)) for step, loss in self._validation.points()],
        }
        self.state = dict(state)
