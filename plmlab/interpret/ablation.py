"""Ablations: switch off attention heads, or mask single cells of the attention matrix."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from plmlab.interpret import ablate_heads
from plmlab.layers.hooks import Change

TO_SPANS = "word_layer.to_spans.weights"
"""End of the hook point of the words' attention to entity-spans."""


@dataclass(frozen=True)
class Ablation:
    """An ablation to apply in a forward pass.

    ``off`` lists heads (map, layer, head) whose output is set to zero; ``closed`` lists cells (map, query, key) that
    are masked in all heads of all layers.
    """

    off: tuple[tuple[str, int, int], ...] = ()
    closed: tuple[tuple[str, int, int], ...] = ()

    def changes(self, points: Iterable[str]) -> dict[str, Change]:
        """The interventions that implement the ablation, by hook point. Raises ValueError if a layer does not exist."""
        attentions, changes = attentions_of(points), {}
        for name, layer in sorted({(name, layer) for name, layer, _ in self.off}):
            if layer not in range(len(attentions.get(name, ()))):
                raise ValueError(f"cannot switch off heads in layer {layer} of {name!r}; this model has "
                                 + ", ".join(f"{n!r} layers 0 … {len(a) - 1}" for n, a in attentions.items() if a))
            heads = [h for n, at, h in self.off if (n, at) == (name, layer)]
            changes[f"{attentions[name][layer]}.mixed"] = heads_off(heads)
        for name, stems in attentions.items():
            cells = [(q, k) for n, q, k in self.closed if n == name]
            for stem in stems if cells else ():
                changes |= {f"{stem}.scores": close(cells), f"{stem}.weights": _nowhere_is_zero}
        return changes


def attentions_of(points: Iterable[str]) -> dict[str, list[str]]:
    """The attention modules of a model, grouped by map and in layer order, as prefixes of their hook point names. If
    the encoder or decoder of an encoder–decoder has no self-attention, its list is empty. The attention of the words to
    the entity-spans of each knowledge base (`plmlab.layers.kar`) is a map of its own: "spans 1", "spans 2", …"""
    stems = [name.removesuffix(".weights") for name in points if name.endswith(("attention.weights", TO_SPANS))]
    spans = [stem for stem in stems if f"{stem}.weights".endswith(TO_SPANS)]
    cross = [stem for stem in stems if stem.split(".")[-1] == "cross_attention"]
    own = [stem for stem in stems if stem not in cross and stem not in spans]
    if cross:
        sides = {side: [stem for stem in own if stem.startswith(f"{side}.")] for side in ("encoder", "decoder")}
        return sides | {"cross": cross}
    return {"self": own} | {f"spans {number}": [stem] for number, stem in enumerate(spans, 1)}


def heads_off(heads: Sequence[int]) -> Change:
    """Make an intervention that sets the outputs of these heads to zero. Raises ValueError if a head does not exist."""
    def change(mixed: Float[Tensor, "batch head query width"]) -> Float[Tensor, "batch head query width"]:
        if not all(head in range(mixed.shape[1]) for head in heads):
            raise ValueError(f"cannot switch off heads {sorted(heads)}; this model has heads 0 … "
                             f"{mixed.shape[1] - 1}")
        return ablate_heads(*heads)(mixed)
    return change


def close(cells: Sequence[tuple[int, int]]) -> Change:
    """Make an intervention that sets the attention scores of these (query, key) cells to −∞, for a single forward pass.

    Queries are counted across calls, because a decoder may process one position per call. Cells that do not exist are
    ignored.
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
    """Replace NaN by 0: a query that can attend to no key gets zero weights, as everywhere in plmlab."""
    return weights.nan_to_num(0.0)
