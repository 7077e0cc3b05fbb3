"""Optional use of ``torch.compile`` during training: only if it saves time, with a fallback to eager mode if it
fails."""

import importlib.util
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.train.source import Trainable

if TYPE_CHECKING:
    from accelerate import Accelerator

WARMUP_UPDATES, DECIDE_AFTER = 2, 10
"""Updates that "auto" excludes from its timing, and the update after which it decides."""
MIN_SECONDS_LEFT = 400.0
"""Minimum remaining training time for compilation to be worthwhile: compiling took 30 to 130 s on an H200 (torch 2.11),
and saves at most a third of the time."""


class CompiledLoss:
    """The loss function of a run, batch → loss, eager or compiled.

    ``compile=True`` compiles at once, for any shapes. "auto" compiles on a GPU after the first updates, if all their
    batches had the same shape, no module has ``loops_over_text`` (``torch.compile`` would unroll its Python loop), and
    the remaining updates take long enough; batches of another shape then run in eager mode. If there are several
    processes, they decide together. ``note`` is called with messages for the run's history.
    """

    def __init__(self, loss: nn.Module, compile: bool | Literal["auto"], accelerator: "Accelerator",
                 note: Callable[[str], None]) -> None:
        self.loss, self.accelerator, self.note = loss, accelerator, note
        self.compiled: Any = torch.compile(loss) if compile is True else None
        self.deciding = (compile == "auto" and accelerator.device.type == "cuda" and has_triton()
                         and not any(getattr(module, "loops_over_text", False) for module in loss.modules()))
        self.known: set[Hashable] | None = set() if self.deciding else None
        self.updates, self.seconds = 0, 0.0
        self.worked = False

    def __call__(self, batch: Trainable) -> Float[Tensor, ""]:
        """Compute the loss of a batch."""
        shape = shapes(batch) if self.known is not None else None
        if self.deciding and self.known is not None:
            self.known.add(shape)
        eager = self.compiled is None or (self.known is not None and shape not in self.known)
        return (self.loss if eager else self.compiled)(batch)

    def updated(self, left: int, start: float) -> None:
        """Call this after each update with the number of updates left and the update's start time; with "auto", it
        decides whether to compile."""
        self.worked = self.worked or self.compiled is not None
        if not self.deciding:
            return
        torch.cuda.synchronize(self.accelerator.device)
        self.updates += 1
        if self.updates > WARMUP_UPDATES:
            self.seconds += time.monotonic() - start
        if self.updates == DECIDE_AFTER:
            self.deciding = False
            worthwhile = self.seconds / (DECIDE_AFTER - WARMUP_UPDATES) * left > MIN_SECONDS_LEFT
            if self.all_agree(worthwhile and len(self.known or ()) == 1):
                self.compiled = torch.compile(self.loss, dynamic=False)
            else:
                self.known = None

    def all_agree(self, yes: bool) -> bool:
        """Whether ``yes`` is True in every process."""
        if self.accelerator.num_processes == 1:
            return yes
        votes = torch.tensor([float(yes)], device=self.accelerator.device)
        return bool(self.accelerator.gather(votes).min())

    def fall_back_to_eager(self, problem: Exception) -> bool:
        """Switch to eager mode and note the reason. Returns False if the compiler did not cause the problem.

        The compiler is held responsible for its own exceptions, and for any failure of the first compiled update except
        running out of memory. With several processes there is no fallback, because the other processes would wait
        forever for one that repeats its update.
        """
        from torch._dynamo.exc import TorchDynamoException
        from torch._inductor.exc import InductorError

        from_compiler = isinstance(problem, TorchDynamoException | InductorError)
        if (self.compiled is None or isinstance(problem, torch.OutOfMemoryError) or (self.worked and not from_compiler)
            or self.accelerator.num_processes > 1):
            return False
        self.compiled, self.known = None, None
        lines = str(problem).strip().splitlines()
        self.note(f"torch.compile failed, and training continues uncompiled ({type(problem).__name__}"
                  f"{f': {lines[0][:200]}' if lines else ''})")
        return True


def has_triton() -> bool:
    """Whether Triton, which ``torch.compile`` needs on a GPU, is installed."""
    return importlib.util.find_spec("triton") is not None


def shapes(value: Any) -> Hashable:
    """Signature of a batch for the compiler: the shapes and dtypes of its tensors, and all values other than
    tensors."""
    if isinstance(value, Tensor):
        return value.dtype, *value.shape
    if isinstance(value, Mapping):
        return tuple((name, shapes(part)) for name, part in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(map(shapes, value))
    if is_dataclass(value):
        return type(value), *(shapes(getattr(value, field.name)) for field in fields(value))
    if hasattr(value, "__dict__") and not isinstance(value, type):
        return type(value), shapes(vars(value))
    return value if isinstance(value, Hashable) else type(value)  # type: ignore[return-value]
