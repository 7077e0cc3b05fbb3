"""Record and change a model's activations without editing its code.

A module exposes tensors by passing them through a `HookPoint`. ``watch`` records them; ``intervene`` replaces them. A
model of ``transformers`` gets temporary hook points.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from plmlab.layers.hooks import Change, HookPoint, InTurn, hook_points


class ActivationRecord(Mapping[str, Tensor]):
    """Recorded activations by hook point name, e.g. ``seen["layers.0.attention.weights"]``.

    If a hook point was called several times, this is the last tensor; ``calls(name)`` returns all of them in order.
    """

    def __init__(self, names: list[str]) -> None:
        self._calls: dict[str, list[Tensor]] = {name: [] for name in names}

    def __getitem__(self, name: str) -> Tensor:
        return self.calls(name)[-1]

    def __iter__(self) -> Iterator[str]:
        return (name for name, calls in self._calls.items() if calls)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def calls(self, name: str) -> list[Tensor]:
        """All tensors recorded at one hook point, in call order. Raises KeyError if none was recorded."""
        if not self._calls.get(name):
            known = ", ".join(self) or "none: was the model called inside the `with`?"
            raise KeyError(f"nothing was recorded at {name!r}. Recorded: {known}")
        return self._calls[name]

    def matching(self, pattern: str) -> list[Tensor]:
        """The tensors whose names match a pattern, such as ``"layers.*.attention.weights"``, in layer order."""
        return [self[name] for name in self if fnmatchcase(name, pattern)]

    def attention(self, kind: str = "attention") -> list[Float[Tensor, "batch head query key"]]:
        """The attention weights, one tensor per layer; ``kind`` is the name of the attention module within its layer
        (``"attention"``, or ``"cross_attention"`` in a decoder)."""
        return [self[name] for name in self if name.split(".")[-2:] == [kind, "weights"]]

    def hidden(self) -> list[Float[Tensor, "batch time model"]]:
        """The residual stream: the embeddings, then the output of each layer."""
        return [self[name] for name in self if name.split(".")[-1] in ("embedded", "hidden")]


@contextmanager
def hooked(model: nn.Module) -> Iterator[dict[str, HookPoint]]:
    """The hook points of a model: its own, or temporary ones for a model of ``transformers``."""
    points = hook_points(model)
    if points:
        yield points
        return
    from plmlab.hf.hooks import hook_hf_model

    with hook_hf_model(model) as points:
        yield points


@contextmanager
def watch(model: nn.Module, *patterns: str) -> Iterator[ActivationRecord]:
    """Context manager that records activations at the model's hook points.

    ``patterns`` select hook points by name (``"layers.*.attention.weights"``); by default all are recorded. The tensors
    keep their autograd graph. Inside an ``intervene``, the replaced activation is recorded. A hook point of a shared
    layer has one name per call, and each name records the corresponding call. Raises KeyError if a pattern matches no
    hook point.
    """
    with hooked(model) as points:
        chosen = _choose(points, patterns or ("*",))
        seen = ActivationRecord(list(chosen))
        placed = [(point, InTurn([seen._calls[name].append if name in chosen else _nothing for name in names]))
                  for point, names in _names_of(points).items() if any(name in chosen for name in names)]
        with ExitStack() as stack:
            for point, record in placed:
                _place(record, point.records, stack)
            _restart_each_pass(placed, points, stack)
            yield seen


@contextmanager
def intervene(model: nn.Module, changes: Mapping[str, Change]) -> Iterator[None]:
    """Context manager that replaces activations at the model's hook points.

    ``changes`` maps a hook point name or pattern to a function from the activation to its replacement, e.g.
    ``{"layers.0.attention.weights": ablate_heads(2)}``. In a shared layer, only the calls with matching names are
    changed. Raises KeyError if a pattern matches no hook point.
    """
    with hooked(model) as points:
        placed: list[tuple[HookPoint, InTurn]] = []
        for pattern, change in changes.items():
            chosen = _choose(points, (pattern,))
            placed += [(point, InTurn([change if name in chosen else _same for name in names]))
                       for point, names in _names_of(points).items() if any(name in chosen for name in names)]
        with ExitStack() as stack:
            for point, in_turn in placed:
                _place(in_turn, point.changes, stack)
            _restart_each_pass(placed, points, stack)
            yield


def _place(callback: Callable[[Tensor], object], callbacks: list[Any], stack: ExitStack) -> None:
    """Register a callback until the context ends."""
    callbacks.append(callback)
    stack.callback(callbacks.remove, callback)


def _restart_each_pass(placed: Sequence[tuple[HookPoint, InTurn]], points: Mapping[str, HookPoint],
                       stack: ExitStack) -> None:
    """Let the callbacks of a shared layer begin with the first one whenever its stack has embedded a text, so that a
    forward pass that raises an exception or stops early does not shift the names of the following ones."""
    names_of = _names_of(points)
    for point, in_turn in placed:
        stacks = {name.partition("layers.")[0] for name in names_of[point]}
        embedded = points.get(f"{min(stacks)}embedded")
        if len(names_of[point]) > 1 and len(stacks) == 1 and embedded is not None:
            _place(in_turn.restart, embedded.records, stack)


def _names_of(points: Mapping[str, HookPoint]) -> dict[HookPoint, list[str]]:
    """Each hook point with its names, in call order."""
    names: dict[HookPoint, list[str]] = {}
    for name, point in points.items():
        names.setdefault(point, []).append(name)
    return names


def _same(tensor: Tensor) -> Tensor:
    return tensor


def _nothing(tensor: Tensor) -> None:
    return None


def ablate_heads(*heads: int) -> Change:
    """Make an intervention that sets the attention weights, or the outputs, of these heads to zero."""
    def change(tensor: Float[Tensor, "batch head query _"]) -> Float[Tensor, "batch head query _"]:
        changed = tensor.clone()
        changed[:, list(heads)] = 0
        return changed
    return change


def _choose(points: Mapping[str, HookPoint], patterns: tuple[str, ...]) -> dict[str, HookPoint]:
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in points):
            raise KeyError(f"no hook point of this model matches {pattern!r}. It has: {', '.join(points) or 'none'}")
    return {name: p for name, p in points.items() if any(fnmatchcase(name, pattern) for pattern in patterns)}
