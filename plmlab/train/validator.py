"""Validation: held-out loss or score, selection of the best weights, and early stopping."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from plmlab.train.history import History
from plmlab.train.source import Trainable
from plmlab.train.update import Loss, measure
from plmlab.weights import load_tensors, snapshot

if TYPE_CHECKING:
    from accelerate import Accelerator

HeldOut = Iterable[Trainable] | Callable[[], Iterable[Trainable]]
Score = Callable[[Any], float]
"""A function from the model to a score; higher is better."""


class Validator:
    """Computes the validation loss, a score, or both; with ``patience``, keeps the best weights and stops early."""

    def __init__(self, held_out: HeldOut | None, score: Score | None, patience: int | None, loss: Loss,
                 accelerator: "Accelerator", original_device: torch.device) -> None:
        self.held_out, self.score, self.patience = held_out, score, patience
        self.loss, self.accelerator = loss, accelerator
        self.original_device = original_device if accelerator.num_processes == 1 else accelerator.device
        self.best: dict[str, Tensor] = {}

    @torch.no_grad()
    def evaluate(self, held_out: HeldOut) -> float:
        """Compute the mean loss over all held-out targets, in nats. Raises ValueError if there are no batches."""
        device, processes = self.accelerator.device, self.accelerator.num_processes
        if callable(held_out):
            with self.on_original_device():
                held_out = list(held_out() or ())
        total = torch.zeros(3, dtype=torch.float64, device=device)
        with self.outside_training():
            for batch in islice(held_out, self.accelerator.process_index, None, processes):
                size = measure(batch).to(device)
                weight = torch.where(size[0] > 0, size[0], size[1])
                loss = self.loss(batch.to(device))
                total += torch.stack([loss.double() * weight, weight, torch.ones_like(weight)])
        summed, weight, count = self.accelerator.reduce(total).tolist()
        if not count:
            raise ValueError("evaluate= gave no batches; give a list of batches, "
                             "or a function that returns new ones")
        return summed / weight

    @torch.no_grad()
    def evaluate_score(self, score: Score) -> float:
        """Compute the model's score. Raises ValueError if the score function returns None."""
        with self.outside_training(), self.on_original_device():
            value = score(self.loss.model)
        if value is None:
            raise ValueError("score= gave None; the function must end with return, and return a number")
        return float(value)

    @contextmanager
    def on_original_device(self) -> Iterator[None]:
        """Context manager that moves the model back to the device where user functions expect it. It has no effect with
        several processes, because a parameter that changes its device loses DDP's hook."""
        self.loss.model.to(self.original_device)
        try:
            yield
        finally:
            self.loss.model.to(self.accelerator.device)

    @contextmanager
    def outside_training(self) -> Iterator[None]:
        """Context manager for evaluation mode that preserves the random state of training."""
        device = self.accelerator.device
        self.loss.eval()
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            yield
        self.loss.train()

    def evaluate_and_log(self, history: History, step: int) -> None:
        """Record the validation loss and the score after ``step`` updates; with ``patience``, keep a copy of the
        weights if they are the best so far."""
        if self.held_out is not None:
            history.validation.append((step, self.evaluate(self.held_out)))
        if self.score is not None:
            history.scores.append((step, self.evaluate_score(self.score)))
        if self.patience is not None and history.best and history.best[0] == step:
            self.best = snapshot(self.loss.model)

    def should_stop(self, history: History) -> str | None:
        """Early stopping: the reason to stop (no improvement in the last ``patience`` evaluations), or None."""
        if self.patience is None or history.best is None:
            return None
        step, best = history.best
        since = sum(at > step for at, _ in history.scores or history.validation)
        if since < self.patience:
            return None
        metric = "score" if history.scores else "validation loss"
        return f"the {metric} was not better in the last {since} evaluations than {best:.3f} at step {step}"

    def restore_best(self) -> None:
        """Load the best weights into the model, if any were kept (only with ``patience``)."""
        if self.best:
            load_tensors(self.loss.model, self.best)
