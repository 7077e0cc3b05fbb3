"""Looking inside a model, and reaching in, without editing it.

A module names the tensors worth seeing by passing them through a `Point`. ``watch`` records what passes;
``intervene`` changes it on its way. Outside both, a Point does nothing, and attention takes its fused path.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase

from jaxtyping import Float
from torch import Tensor, nn

Change = Callable[[Tensor], Tensor]


class Point(nn.Module):
    """A named place that a tensor passes through."""

    def __init__(self) -> None:
        super().__init__()
        self.changes: list[Change] = []
        self.records: list[list[Tensor]] = []

    @property
    def open(self) -> bool:
        """Whether anybody looks or reaches in here."""
        return bool(self.changes or self.records)

    def forward(self, tensor: Tensor) -> Tensor:
        """The tensor itself, or what the interventions make of it."""
        for change in self.changes:
            changed = change(tensor)
            if changed.shape != tensor.shape:
                raise ValueError(
                    f"an intervention was given a tensor of shape {tuple(tensor.shape)} and returned one of "
                    f"{tuple(changed.shape)}; it must keep the shape"
                )
            tensor = changed
        for record in self.records:
            record.append(tensor)
        return tensor


class Seen(Mapping[str, Tensor]):
    """What passed through the points of a model, by name, e.g. ``seen["layers.0.attention.weights"]``.

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
        return self.matching(f"*.{kind}.weights")

    def hidden(self) -> list[Float[Tensor, "batch time model"]]:
        """The residual stream: the embedded input, then the output of each layer."""
        return [self[name] for name in self if name.split(".")[-1] in ("embedded", "hidden")]


def points_of(model: nn.Module) -> dict[str, Point]:
    """The points of a model by name, in the order of its modules."""
    return {name: module for name, module in model.named_modules() if isinstance(module, Point)}


@contextmanager
def opened(model: nn.Module) -> Iterator[dict[str, Point]]:
    """The points of a model of ours; or of one of Hugging Face's, which is lent points for as long as this lasts."""
    points = points_of(model)
    if points:
        yield points
        return
    from plmlab.hf.points import lend_points

    with lend_points(model) as points:
        yield points


@contextmanager
def watch(model: nn.Module, *patterns: str) -> Iterator[Seen]:
    """Record what passes through the model's points while the ``with`` lasts.

    ``patterns`` choose points by name (``"layers.*.attention.weights"``); without any, all are watched.
    The tensors keep their gradients' history. Where an ``intervene`` is also open, its result is recorded.
    """
    with opened(model) as points:
        chosen = _choose(points, patterns or ("*",))
        seen = Seen(list(chosen))
        for name, point in chosen.items():
            point.records.append(seen._calls[name])
        try:
            yield seen
        finally:
            for name, point in chosen.items():
                point.records[:] = [r for r in point.records if r is not seen._calls[name]]


@contextmanager
def intervene(model: nn.Module, changes: Mapping[str, Change]) -> Iterator[None]:
    """Change what passes through the model's points while the ``with`` lasts.

    ``changes`` maps a name, or a pattern of names, to a function from the tensor to its replacement, e.g.
    ``{"layers.0.attention.weights": switch_off(2)}``.
    """
    with opened(model) as points:
        placed = [(point, change) for pattern, change in changes.items()
                  for point in _choose(points, (pattern,)).values()]
        for point, change in placed:
            point.changes.append(change)
        try:
            yield
        finally:
            for point, change in placed:
                point.changes.remove(change)


def switch_off(*heads: int) -> Change:
    """An intervention on attention weights, or on heads' outputs: these heads contribute nothing."""
    def change(tensor: Float[Tensor, "batch head query _"]) -> Float[Tensor, "batch head query _"]:
        changed = tensor.clone()
        changed[:, list(heads)] = 0
        return changed
    return change


def _choose(points: Mapping[str, Point], patterns: tuple[str, ...]) -> dict[str, Point]:
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in points):
            raise KeyError(f"no point of this model is called {pattern!r}. It has: {', '.join(points) or 'none'}")
    return {name: p for name, p in points.items() if any(fnmatchcase(name, pattern) for pattern in patterns)}
