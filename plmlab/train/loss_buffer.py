"""Deferred transfer of losses from the device, which avoids synchronization, and detection of divergence."""

from math import isfinite

import torch

from plmlab.train.history import History
from plmlab.train.settings import Settings
from plmlab.train.update import StepResult, Update

READ_EVERY = 10
"""Steps between two transfers on a GPU; on a CPU, losses are read after each step."""


class Diverged(ValueError):
    """Raised when a loss or gradient becomes infinite or NaN at ``step`` (from 1). ``history`` has the previous
    steps."""

    def __init__(self, message: str, step: int, history: History) -> None:
        super().__init__(message)
        self.step, self.history = step, history


class LossBuffer:
    """Buffers the results of updates on their device and moves them into the history at intervals."""

    def __init__(self, history: History, settings: Settings, update: Update) -> None:
        self.history, self.settings, self.update = history, settings, update
        self.accelerator = update.accelerator
        self.every = 1 if self.accelerator.device.type == "cpu" else READ_EVERY
        self.waiting: list[tuple[StepResult, float]] = []

    def record(self, result: StepResult, lr: float) -> None:
        """Buffer the result of one update and its learning rate."""
        self.waiting.append((result, lr))

    @property
    def full(self) -> bool:
        """Whether it is time to read the buffer: after every update on a CPU, after every tenth on a GPU."""
        return len(self.waiting) >= self.every

    def read(self, stop: bool) -> tuple[bool, list[float]]:
        """Move the buffered losses into the history. Returns whether a stop was requested in any process, and the
        losses.

        All processes must call this after the same steps. Raises Diverged if a loss or gradient norm is not finite.
        """
        values = [result.loss.double() for result, _ in self.waiting] + [self.update.bad.new_tensor(stop).double()]
        *losses, stops = self.accelerator.reduce(torch.stack(values)).tolist()
        norms = torch.stack([result.norm for result, _ in self.waiting]).tolist() if losses else []
        new_losses = []
        for (result, lr), loss, norm in zip(self.waiting, losses, norms, strict=True):
            if not (isfinite(loss) and isfinite(norm)):
                self.waiting = []
                raise self.diverged(loss, norm)
            self.history.losses.append(loss)
            self.history.rates.append(lr)
            self.history.norms.append(norm)
            self.history.tokens += result.tokens
            new_losses.append(loss)
        self.waiting = []
        return stops > 0, new_losses

    def diverged(self, loss: float, norm: float) -> Diverged:
        """Build the error for a non-finite update. If the loss is not finite, the last good weights are restored."""
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
            f"longer warmup (now {settings.warmup} steps); if it happens at once, check that the batch has "
            "targets and that its values are finite", step, self.history)
