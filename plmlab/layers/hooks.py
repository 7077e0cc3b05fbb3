"""Hook points: named modules in a forward pass where activations can be recorded or changed.

A module exposes a tensor by passing it through a `HookPoint`, which is the identity unless a callback is registered
(`plmlab.interpret`). Without callbacks, attention uses the fused kernel.
"""

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

from torch import Tensor, nn

Change = Callable[[Tensor], Tensor]
"""An intervention: maps an activation to its replacement, of the same shape."""


class InTurn:
    """Cycle through several callbacks, one per pass through a shared layer.

    A shared layer has several names and runs once per name in a forward pass.
    """

    def __init__(self, changes: Sequence[Callable[[Tensor], Any]]) -> None:
        self.changes = changes
        self.restart()

    def restart(self, _: Tensor | None = None) -> None:
        """Begin with the first callback again: a forward pass that was interrupted has called only some of them."""
        self.rest = cycle(self.changes)

    def __call__(self, tensor: Tensor) -> Any:
        """Call the next callback on the tensor."""
        return next(self.rest)(tensor)


class HookPoint(nn.Module):
    """Identity module whose callbacks record the tensor (``records``) or replace it (``changes``)."""

    def __init__(self) -> None:
        super().__init__()
        self.changes: list[Change] = []
        self.records: list[Callable[[Tensor], object]] = []

    @property
    def open(self) -> bool:
        """Whether any callback is registered."""
        return bool(self.changes or self.records)

    def forward(self, tensor: Tensor) -> Tensor:
        """Apply the interventions, then the recording callbacks. Raises ValueError if an intervention returns something
        other than a tensor, or a tensor of another shape."""
        for change in self.changes:
            changed = change(tensor)
            if not isinstance(changed, Tensor):
                raise ValueError(f"an intervention returned a {type(changed).__name__}, not a tensor; end the function "
                                 "with return; to change nothing, return its argument")
            if changed.shape != tensor.shape:
                raise ValueError(
                    f"an intervention changed the shape from {tuple(tensor.shape)} to {tuple(changed.shape)}; "
                    "it must return a tensor of the same shape"
                )
            tensor = changed
        for record in self.records:
            record(tensor)
        return tensor


def hook_points(model: nn.Module) -> dict[str, HookPoint]:
    """The hook points of a model by name, in module order; a shared hook point is listed under each of its names."""
    return {name: module for name, module in model.named_modules(remove_duplicate=False)
            if isinstance(module, HookPoint)}
