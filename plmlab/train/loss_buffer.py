"""Losses read from the device, seldom where reading would make it wait, and a run that diverges."""

from math import isfinite

import torch

from plmlab.train.history import History
from plmlab.train.settings import Settings
from plmlab.train.update import StepResult, Update

READ_EVERY = 10
"""Steps between two readings on a GPU; a CPU's losses are read at once."""


class Diverged(ValueError):
    """A loss or gradient became infinite or not a number, at ``step`` (from 1). ``history`` tells the steps before."""

    def __init__(self, message: str, step: int, history: History) -> None:
        super().__init__(message)
        self.step, self.history = step, history


class LossBuffer:
    """Keeps the results of updates on their device, and moves them into the history from time to time."""

    def __init__(self, history: History, settings: Settings, update: Update) -> None:
        self.history, self.settings, self.update = history, settings, update
        self.accelerator = update.accelerator
        self.every = 1 if self.accelerator.device.type == "cpu" else READ_EVERY
        self.waiting: list[tuple[StepResult, float]] = []

    def record(self, made: StepResult, lr: float) -> None:
        """Keep the result of one update, and the learning rate that it was made with."""
        self.waiting.append((made, lr))

    @property
    def full(self) -> bool:
        """Whether it is time to read: after every update on a CPU, after every tenth on a GPU."""
        return len(self.waiting) >= self.every

    def read(self, stop: bool) -> tuple[bool, list[float]]:
        """Move the waiting losses into the history; returns whether any process was asked to stop, and the losses.

        All processes must read after the same steps. Diverged if a loss or gradient norm is not finite.
        """
        told = [made.loss.double() for made, _ in self.waiting] + [self.update.bad.new_tensor(stop).double()]
        *losses, stops = self.accelerator.reduce(torch.stack(told)).tolist()
        norms = torch.stack([made.norm for made, _ in self.waiting]).tolist() if losses else []
        fresh = []
        for (made, lr), loss, norm in zip(self.waiting, losses, norms, strict=True):
            if not (isfinite(loss) and isfinite(norm)):
                self.waiting = []
                raise self.diverged(loss, norm)
            self.history.losses.append(loss)
            self.history.rates.append(lr)
            self.history.norms.append(norm)
            self.history.tokens += made.tokens
            fresh.append(loss)
        self.waiting = []
        return stops > 0, fresh

    def diverged(self, loss: float, norm: float) -> Diverged:
        """The error for an update that is not finite. Where its loss is not, the model first gets good weights back."""
        settings, good = self.settings, self.history.losses
        if not isfinite(loss):
            self.update.fall_back()
        clip = "clip=1.0 (now off)" if settings.clip is None else f"a smaller clip (now {settings.clip:g})"
        last = "This is the first step"
        if good:
            last = f"The last good loss was {good[-1]:.3f}, at step {len(good)}"
        step = len(good) + 1
        return Diverged(
            f"training diverged at step {step}: the loss is {loss:g}, the gradient norm {norm:g}. {last}; the "
            f"model has the last weights known to be good. Try a lower lr (now {settings.lr:g}), {clip}, a "
            f"longer warmup (now {settings.warmup} steps); if it happens at once, look whether the batch has "
            "targets, and whether its numbers are finite", step, self.history)
