"""One optimizer update, over any number of batches and processes."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.example import IGNORE
from plmlab.train.compiling import CompiledLoss
from plmlab.train.optimizers import OPTIMIZERS
from plmlab.train.settings import Settings
from plmlab.train.source import Trainable
from plmlab.weights import load_tensors, snapshot, weights

if TYPE_CHECKING:
    from accelerate import Accelerator

KEEP_EVERY = 50
"""Updates between two copies of the weights, which are restored if the run diverges."""


class Loss(nn.Module):
    """A model's loss as a module, so that DDP and ``torch.compile`` can wrap it; with optional bf16 autocast."""

    def __init__(self, model: nn.Module, device: torch.device, settings: Settings) -> None:
        super().__init__()
        self.model, self.device_type, self.bf16 = model, device.type, settings.precision == "bf16"

    def forward(self, batch: Trainable) -> Float[Tensor, ""]:
        """Compute the mean loss over the batch's targets."""
        with torch.autocast(self.device_type, torch.bfloat16, enabled=self.bf16):
            return self.model.loss(batch)  # type: ignore[operator]


class StepResult(NamedTuple):
    """Result of one update, left on the device to avoid synchronization.

    ``loss`` is this process's part of the mean over all targets, in nats; the sum over processes is the mean. ``norm``
    is the norm of the unclipped gradient, ``tokens`` the number of input tokens in all processes.
    """

    loss: Float[Tensor, ""]
    norm: Float[Tensor, ""]
    tokens: int


def measure(batch: Trainable) -> Float[Tensor, "2"]:
    """The weights of a batch: [number of targets, number of examples]."""
    targets = batch.targets
    count = (targets != IGNORE).sum()
    return torch.stack([count, count.new_tensor(len(targets))]).double()


class Update:
    """Performs the updates of a run, ``update(batches, lr)``; holds the optimizer and a copy of the last good
    weights."""

    def __init__(self, model: nn.Module, settings: Settings, accelerator: "Accelerator",
                 compile: bool | Literal["auto"], note: Callable[[str], None]) -> None:
        self.model, self.accelerator, self.clip = model, accelerator, settings.clip
        self.loss = Loss(model, accelerator.device, settings)
        self.shared: Any = accelerator.prepare_model(self.loss)
        self.compiled = CompiledLoss(self.shared, compile, accelerator, note)
        self.optimizer = OPTIMIZERS[settings.optimizer](model, settings)
        self.trained = [p for group in self.optimizer.param_groups for p in group["params"]]
        self.bad = torch.zeros((), device=accelerator.device)
        self.kept, self.made = snapshot(model), 0
        self.skips_bad_steps = isinstance(self.optimizer, torch.optim.AdamW)
        if self.skips_bad_steps:
            self.optimizer.found_inf = self.bad  # type: ignore[attr-defined]

    def __call__(self, batches: Sequence[Trainable], lr: float) -> StepResult:
        """Perform one update with the gradient of the mean loss over all targets of all batches, in all processes.

        After a non-finite loss or gradient, the weights are no longer changed.
        """
        total = None
        try:
            total = self.backward(batches)
        except Exception as problem:
            if not self.compiled.fall_back_to_eager(problem):
                raise
        if total is None:  # outside of the handler, whose traceback keeps the failed attempt's tensors
            self.optimizer.zero_grad(set_to_none=True)
            total = self.backward(batches)
        norm = self.gradient_norm()
        self.bad.copy_(torch.maximum(self.bad, (~torch.isfinite(norm + total)).float()))
        if self.made % KEEP_EVERY == 0:
            self.keep()
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        if not self.skips_bad_steps:
            self.erase_bad_gradients()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.made += 1
        tokens = sum(batch.targets.numel() for batch in batches)
        return StepResult(total, norm, tokens * self.accelerator.num_processes)

    def backward(self, batches: Sequence[Trainable]) -> Float[Tensor, ""]:
        """Accumulate the gradient of the mean loss over all targets. Returns this process's part of that mean."""
        total = torch.zeros((), device=self.accelerator.device)
        for i, (batch, share) in enumerate(zip(batches, self.shares(batches), strict=True)):
            last = i == len(batches) - 1
            with nullcontext() if last else self.accelerator.no_sync(self.shared):
                loss = self.compiled(batch.to(self.accelerator.device))
                part = torch.where(share > 0, loss * share, 0.0)
                (part * self.accelerator.num_processes).backward()
            total += part.detach()
        return total

    def shares(self, batches: Sequence[Trainable]) -> Float[Tensor, "batches"]:
        """Weight of each batch in the overall mean; the weights sum to 1 over all processes.

        If there are no targets and the loss depends on labels, batches are weighted by their number of examples. DDP
        divides gradients by the number of processes, so `backward` multiplies the loss by this number.
        """
        sizes = torch.stack([measure(batch) for batch in batches])
        if self.accelerator.num_processes == 1:
            whole = sizes.sum(0)
        else:
            whole = self.accelerator.reduce(sizes.sum(0).to(self.accelerator.device))
            sizes = sizes.to(self.accelerator.device)
        shares = torch.where(whole[0] > 0, sizes[:, 0] / whole[0], sizes[:, 1] / whole[1])
        return shares.float().to(self.accelerator.device, non_blocking=True)

    def gradient_norm(self) -> Float[Tensor, ""]:
        """Clip the gradient to the norm ``clip``. Returns the norm of the unclipped gradient."""
        if self.clip is not None:
            return nn.utils.clip_grad_norm_(self.trained, self.clip)
        return nn.utils.get_total_norm([p.grad for p in self.trained if p.grad is not None])

    def erase_bad_gradients(self) -> None:
        """Set all gradients to zero after a non-finite loss or gradient."""
        for parameter in self.trained:
            if parameter.grad is not None:
                parameter.grad.masked_fill_(self.bad > 0, 0)

    @torch.no_grad()
    def keep(self) -> None:
        """Copy the current weights as a fallback, unless the loss or gradient is not finite."""
        for name, tensor in weights(self.model).items():
            self.kept[name].copy_(torch.where(self.bad > 0, self.kept[name], tensor))

    def fall_back(self) -> None:
        """Restore the last copied weights, whose loss was finite."""
        load_tensors(self.model, self.kept)
