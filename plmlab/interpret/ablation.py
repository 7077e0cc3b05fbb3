"""What is taken away while a model reads: heads switched off, cells closed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from plmlab.interpret import switch_off
from plmlab.layers.hooks import Change


@dataclass(frozen=True)
class Ablation:
    """What is taken away while a model reads: ``off``, heads as (map, layer, head), whose output becomes zero;
    ``closed``, cells as (map, query, key), where no head of any layer may look any more."""

    off: tuple[tuple[str, int, int], ...] = ()
    closed: tuple[tuple[str, int, int], ...] = ()

    def changes(self, points: Iterable[str]) -> dict[str, Change]:
        """The interventions that do it, by the names of a model's points; a ValueError for a layer there is not."""
        attentions, changes = attentions_of(points), {}
        for name, layer in sorted({(name, layer) for name, layer, _ in self.off}):
            if layer not in range(len(attentions.get(name, ()))):
                raise ValueError(f"layer {layer} of {name!r} is to be switched off; this model has "
                                 + ", ".join(f"{n!r} layers 0 … {len(a) - 1}" for n, a in attentions.items()))
            heads = [h for n, at, h in self.off if (n, at) == (name, layer)]
            changes[f"{attentions[name][layer]}.mixed"] = heads_off(heads)
        for name, stems in attentions.items():
            cells = [(q, k) for n, q, k in self.closed if n == name]
            for stem in stems if cells else ():
                changes |= {f"{stem}.scores": close(cells), f"{stem}.weights": _nowhere_is_zero}
        return changes


def attentions_of(points: Iterable[str]) -> dict[str, list[str]]:
    """The attentions of a model, by map, in layer order: the names of their points without the last part."""
    stems = [name.removesuffix(".weights") for name in points if name.endswith("attention.weights")]
    crossing = [stem for stem in stems if stem.endswith(".cross_attention")]
    own = [stem for stem in stems if stem not in crossing]
    if not crossing:
        return {"self": own}
    sides = {side: [stem for stem in own if stem.startswith(f"{side}.")] for side in ("encoder", "decoder")}
    return sides | {"cross": crossing}


def heads_off(heads: Sequence[int]) -> Change:
    """An intervention on heads' outputs: these become zero. A ValueError for a head that there is not."""
    def change(mixed: Float[Tensor, "batch head query width"]) -> Float[Tensor, "batch head query width"]:
        if not all(head in range(mixed.shape[1]) for head in heads):
            raise ValueError(f"heads {sorted(heads)} are to be switched off; this model has heads 0 … "
                             f"{mixed.shape[1] - 1}")
        return switch_off(*heads)(mixed)
    return change


def close(cells: Sequence[tuple[int, int]]) -> Change:
    """An intervention on scores: −∞ for these (query, key). A ValueError for a cell that there is not."""
    def change(scores: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch head query key"]:
        closed = scores.clone()
        for q, k in cells:
            if q not in range(scores.shape[2]) or k not in range(scores.shape[3]):
                raise ValueError(f"there is no cell ({q}, {k}) in a map of {scores.shape[2]} queries × "
                                 f"{scores.shape[3]} keys")
            closed[:, :, q, k] = float("-inf")
        return closed
    return change


def _nowhere_is_zero(weights: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch head query key"]:
    """A query that may look nowhere gets zeros, as everywhere in the course."""
    return weights.nan_to_num(0.0)
