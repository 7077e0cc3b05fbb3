"""Hook points: named places that a tensor passes through, where a model can be looked into and reached into.

A module names the tensors worth seeing by passing them through a `HookPoint`. As long as nobody watches or intervenes
(`plmlab.interpret`), it does nothing, and attention takes its fused path.
"""

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

from torch import Tensor, nn

Change = Callable[[Tensor], Tensor]
"""An intervention: what becomes of a tensor on its way; the shape stays."""


class InTurn:
    """A change, or a record, that is another one at each passage, in turn.

    A layer that is shared is passed once under each of its names.
    """

    def __init__(self, changes: Sequence[Callable[[Tensor], Any]]) -> None:
        self.changes = cycle(changes)

    def __call__(self, tensor: Tensor) -> Any:
        """What the change whose turn it is makes of the tensor."""
        return next(self.changes)(tensor)


class HookPoint(nn.Module):
    """A named place that a tensor passes through."""

    def __init__(self) -> None:
        super().__init__()
        self.changes: list[Change] = []
        self.records: list[Callable[[Tensor], object]] = []

    @property
    def open(self) -> bool:
        """Whether anybody looks or reaches in here."""
        return bool(self.changes or self.records)

    def forward(self, tensor: Tensor) -> Tensor:
        """The tensor itself, or what the interventions make of it. ValueError for one that gives no tensor, or one of
        another shape."""
        for change in self.changes:
            changed = change(tensor)
            if not isinstance(changed, Tensor):
                raise ValueError(f"an intervention returned a {type(changed).__name__}, not a tensor; end the function "
                                 "with return, and to change nothing return the tensor that it was given")
            if changed.shape != tensor.shape:
                raise ValueError(
                    f"an intervention was given a tensor of shape {tuple(tensor.shape)} and returned one of "
                    f"{tuple(changed.shape)}; it must keep the shape"
                )
            tensor = changed
        for record in self.records:
            record(tensor)
        return tensor


def hook_points(model: nn.Module) -> dict[str, HookPoint]:
    """The hook points of a model by name, in the order of its modules; one that is shared has several names."""
    return {name: module for name, module in model.named_modules(remove_duplicate=False)
            if isinstance(module, HookPoint)}
