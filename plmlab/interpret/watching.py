"""Looking inside a model, and reaching in, without editing it.

A module names the tensors worth seeing by passing them through a `HookPoint`. ``watch`` records what passes;
``intervene`` changes it on its way. A model of ``transformers`` is given hook points for as long as either lasts.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase

from jaxtyping import Float
from torch import Tensor, nn

from plmlab.layers.hooks import Change, HookPoint, InTurn, hook_points


class ActivationRecord(Mapping[str, Tensor]):
    """What passed through the hook points of a model, by name, e.g. ``seen["layers.0.attention.weights"]``.

    A point that was passed several times gives its last tensor; ``calls(name)`` gives all, in order.
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
        """Every tensor that passed through one point."""
        if not self._calls.get(name):
            known = ", ".join(self) or "none: was the model called inside the `with`?"
            raise KeyError(f"nothing was seen at {name!r}. Seen: {known}")
        return self._calls[name]

    def matching(self, pattern: str) -> list[Tensor]:
        """The tensors whose names match a pattern such as ``"layers.*.attention.weights"``, in layer order."""
        return [self[name] for name in self if fnmatchcase(name, pattern)]

    def attention(self, kind: str = "attention") -> list[Float[Tensor, "batch head query key"]]:
        """The attention weights, one tensor a layer; ``kind`` is the attention's name in its layer
        (``"attention"``, or ``"cross_attention"`` in a decoder)."""
        return [self[name] for name in self if name.split(".")[-2:] == [kind, "weights"]]

    def hidden(self) -> list[Float[Tensor, "batch time model"]]:
        """The residual stream: the embedded input, then the output of each layer."""
        return [self[name] for name in self if name.split(".")[-1] in ("embedded", "hidden")]


@contextmanager
def hooked(model: nn.Module) -> Iterator[dict[str, HookPoint]]:
    """The hook points of a model: its own, or those that a model of ``transformers`` is given while this lasts."""
    points = hook_points(model)
    if points:
        yield points
        return
    from plmlab.hf.hooks import hook_hf_model

    with hook_hf_model(model) as points:
        yield points


@contextmanager
def watch(model: nn.Module, *patterns: str) -> Iterator[ActivationRecord]:
    """Record what passes through the model's hook points while the ``with`` lasts.

    ``patterns`` choose points by name (``"layers.*.attention.weights"``); without any, all are watched.
    The tensors keep their gradients' history. Where an ``intervene`` is also open, its result is recorded.
    A point of a shared layer has a name for each passage: each name records its own.
    """
    with hooked(model) as points:
        chosen = _choose(points, patterns or ("*",))
        seen = ActivationRecord(list(chosen))
        placed = [(point, InTurn([seen._calls[name].append if name in chosen else _nothing for name in names]))
                  for point, names in _names_of(points).items() if any(name in chosen for name in names)]
        for point, record in placed:
            point.records.append(record)
        try:
            yield seen
        finally:
            for point, record in placed:
                point.records.remove(record)


@contextmanager
def intervene(model: nn.Module, changes: Mapping[str, Change]) -> Iterator[None]:
    """Change what passes through the model's hook points while the ``with`` lasts.

    ``changes`` maps a name, or a pattern of names, to a function from the tensor to its replacement, e.g.
    ``{"layers.0.attention.weights": ablate_heads(2)}``. A point of a shared layer is changed at the passages whose
    names are meant.
    """
    with hooked(model) as points:
        placed: list[tuple[HookPoint, Change]] = []
        for pattern, change in changes.items():
            chosen = _choose(points, (pattern,))
            placed += [(point, InTurn([change if name in chosen else _same for name in names]))
                       for point, names in _names_of(points).items() if any(name in chosen for name in names)]
        for point, change in placed:
            point.changes.append(change)
        try:
            yield
        finally:
            for point, change in placed:
                point.changes.remove(change)


def _names_of(points: Mapping[str, HookPoint]) -> dict[HookPoint, list[str]]:
    """Each point with its names, in the order in which a pass meets them."""
    names: dict[HookPoint, list[str]] = {}
    for name, point in points.items():
        names.setdefault(point, []).append(name)
    return names


def _same(tensor: Tensor) -> Tensor:
    return tensor


def _nothing(tensor: Tensor) -> None:
    return None


def ablate_heads(*heads: int) -> Change:
    """An intervention on attention weights, or on heads' outputs: these heads contribute nothing."""
    def change(tensor: Float[Tensor, "batch head query _"]) -> Float[Tensor, "batch head query _"]:
        changed = tensor.clone()
        changed[:, list(heads)] = 0
        return changed
    return change


def _choose(points: Mapping[str, HookPoint], patterns: tuple[str, ...]) -> dict[str, HookPoint]:
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in points):
            raise KeyError(f"no point of this model is called {pattern!r}. It has: {', '.join(points) or 'none'}")
    return {name: p for name, p in points.items() if any(fnmatchcase(name, pattern) for pattern in patterns)}
