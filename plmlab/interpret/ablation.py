"""What is taken away while a model reads: heads switched off, cells closed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from plmlab.interpret import ablate_heads
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
                                 + ", ".join(f"{n!r} layers 0 … {len(a) - 1}" for n, a in attentions.items() if a))
            heads = [h for n, at, h in self.off if (n, at) == (name, layer)]
            changes[f"{attentions[name][layer]}.mixed"] = heads_off(heads)
        for name, stems in attentions.items():
            cells = [(q, k) for n, q, k in self.closed if n == name]
            for stem in stems if cells else ():
                changes |= {f"{stem}.scores": close(cells), f"{stem}.weights": _nowhere_is_zero}
        return changes


def attentions_of(points: Iterable[str]) -> dict[str, list[str]]:
    """The attentions of a model, by map, in layer order: the names of their points without the last part. A side of an
    encoder-decoder that has no attention of its own has an empty list."""
    stems = [name.removesuffix(".weights") for name in points if name.endswith("attention.weights")]
    crossing = [stem for stem in stems if stem.split(".")[-1] == "cross_attention"]
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
        return ablate_heads(*heads)(mixed)
    return change


def close(cells: Sequence[tuple[int, int]]) -> Change:
    """An intervention on the scores of one reading: −∞ for these (query, key).

    Queries are counted on from pass to pass, for a decoder may look position by position. A key that there is not
    changes nothing, nor does a query.
    """
    before = 0

    def change(scores: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch head query key"]:
        nonlocal before
        closed = scores.clone()
        for q, k in cells:
            if q - before in range(scores.shape[2]) and k in range(scores.shape[3]):
                closed[:, :, q - before, k] = float("-inf")
        before += scores.shape[2]
        return closed
    return change


def _nowhere_is_zero(weights: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch head query key"]:
    """A query that may look nowhere gets zeros, as everywhere in the course."""
    return weights.nan_to_num(0.0)
