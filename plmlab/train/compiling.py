"""Whether a run's loss goes through ``torch.compile``: where that pays, and with a way back where it fails."""

import importlib.util
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.train.source import Trainable

WARMING, WATCHED = 2, 10
"""The updates after which "auto" begins to take the time, and those after which it decides."""
PAYS = 180.0
"""Seconds that what is left must take for compiling to pay. Compiling took 30 to 130 s on an H200 (torch 2.11) and
saves a third of the time at best."""


class MaybeCompiled:
    """A run's loss, batch → loss: as it stands, or compiled.

    ``compile``: True compiles it at once, for whatever shapes come. "auto" does on a GPU, after the first updates,
    where these had one shape, no module is ``sequential`` (a Python loop over a text, which ``torch.compile`` would
    unroll), and the updates that are left take long enough; a batch of another shape then goes uncompiled. ``note``
    takes a line for the run's history.
    """

    def __init__(self, loss: nn.Module, compile: bool | Literal["auto"], device: torch.device,
                 note: Callable[[str], None]) -> None:
        self.loss, self.device, self.note = loss, device, note
        self.compiled: Any = torch.compile(loss) if compile is True else None
        self.watching = (compile == "auto" and device.type == "cuda" and importlib.util.find_spec("triton") is not None
                         and not any(getattr(module, "sequential", False) for module in loss.modules()))
        self.known: set[Hashable] | None = set() if self.watching else None
        self.updates, self.clock = 0, 0.0

    def __call__(self, batch: Trainable) -> Float[Tensor, ""]:
        """The loss of a batch."""
        shape = shapes(batch) if self.known is not None else None
        if self.watching and self.known is not None:
            self.known.add(shape)
        as_it_stands = self.compiled is None or (self.known is not None and shape not in self.known)
        return (self.loss if as_it_stands else self.compiled)(batch)

    def updated(self, left: int) -> None:
        """An update has been made, and so many are ``left``; "auto" decides after some."""
        if not self.watching:
            return
        self.updates += 1
        if self.updates in (WARMING, WATCHED):
            torch.cuda.synchronize(self.device)
            before, self.clock = self.clock, time.monotonic()
            if self.updates == WATCHED:
                self.watching = False
                ahead = left * (self.clock - before) / (WATCHED - WARMING)
                if len(self.known or ()) == 1 and ahead > PAYS:
                    self.compiled = torch.compile(self.loss, dynamic=False)

    def give_up(self, problem: Exception) -> bool:
        """Go on uncompiled after a problem, and note it; False where nothing was compiled, so that the problem is not
        the compiler's."""
        if self.compiled is None:
            return False
        self.compiled, self.known = None, None
        lines = str(problem).strip().splitlines()
        self.note(f"torch.compile failed, and training goes on without ({type(problem).__name__}"
                  f"{f': {lines[0][:200]}' if lines else ''})")
        return True


def shapes(value: Any) -> Hashable:
    """What a batch looks like to a compiler: the shapes and types of its tensors, and all else by value."""
    if isinstance(value, Tensor):
        return value.dtype, *value.shape
    if is_dataclass(value):
        return tuple(shapes(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, Mapping):
        return tuple((name, shapes(part)) for name, part in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(map(shapes, value))
    return value if isinstance(value, Hashable) else str(type(value))
