"""Validation: how well the model does on what it is not trained on, and when to stop."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from plmlab.train.history import History
from plmlab.train.source import Trainable
from plmlab.train.update import Loss, measure
from plmlab.weights import put, snapshot

if TYPE_CHECKING:
    from accelerate import Accelerator

HeldOut = Iterable[Trainable] | Callable[[], Iterable[Trainable]]


class Validator:
    """Measures the validation loss; with ``patience``, also keeps the best weights and says when to stop."""

    def __init__(self, held_out: HeldOut, patience: int | None, loss: Loss,
                 accelerator: "Accelerator") -> None:
        self.held_out, self.patience = held_out, patience
        self.loss, self.accelerator = loss, accelerator
        self.best: dict[str, Tensor] = {}

    @torch.no_grad()
    def evaluate(self) -> float:
        """The mean loss over all held-out targets, in nats. Random numbers drawn here leave the training's alone.
        ValueError where there is no batch to evaluate."""
        device, processes = self.accelerator.device, self.accelerator.num_processes
        batches = self.held_out() if callable(self.held_out) else self.held_out
        total = torch.zeros(3, dtype=torch.float64, device=device)
        self.loss.eval()
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            for batch in islice(batches, self.accelerator.process_index, None, processes):
                size = measure(batch).to(device)
                weight = torch.where(size[0] > 0, size[0], size[1])
                loss = self.loss(batch.to(device))
                total += torch.stack([loss.double() * weight, weight, torch.ones_like(weight)])
        self.loss.train()
        summed, weight, seen = self.accelerator.reduce(total).tolist()
        if not seen:
            raise ValueError("evaluate= gave no batch; give a list of batches, "
                             "or a function that makes them anew")
        return summed / weight

    def look(self, history: History, step: int) -> None:
        """Add the validation loss after ``step`` updates to the history; with ``patience``, keep the
        weights if it is the best."""
        history.validation.append((step, self.evaluate()))
        if self.patience is not None and history.best == history.validation[-1]:
            self.best = snapshot(self.loss.model)

    def enough(self, history: History) -> str | None:
        """Why to stop now: no validation loss better than the best in ``patience`` evaluations. None to go on."""
        if self.patience is None or history.best is None:
            return None
        step, loss = history.best
        since = sum(at > step for at, _ in history.validation)
        if since < self.patience:
            return None
        return (f"the validation loss was not better in the last {since} evaluations "
                f"than {loss:.3f} at step {step}")

    def settle(self) -> None:
        """Give the model the best weights that were kept; none are kept without ``patience``."""
        if self.best:
            put(self.loss.model, self.best)
