"""One reading of a text by a model: what every head did, and what came out, with heads off and cells closed."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import sqrt
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from plmlab.interpret import Seen, intervene, switch_off, watch
from plmlab.interpret.attention_maps import Map, attention_maps
from plmlab.interpret.readable import Words, readable
from plmlab.interpret.watching import opened
from plmlab.layers.hooks import Change
from plmlab.visibility import Visibility


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


@dataclass(frozen=True)
class Head:
    """All that one head computed, for the arithmetic of its cells.

    ``scale`` is what q·k is multiplied with; whatever else is in ``scores`` comes from a term of the model's own,
    such as relative positions; likewise for what is in ``mixed`` besides Σ α v.
    """

    q: Float[Tensor, "query width"]
    k: Float[Tensor, "key width"]
    v: Float[Tensor, "key width"]
    scores: Float[Tensor, "query key"]
    weights: Float[Tensor, "query key"]
    mixed: Float[Tensor, "query width"]
    scale: float


@dataclass(frozen=True, eq=False)
class ForwardPass:
    """A text as a model read it. ``logits`` is what it says at each slot, None of an encoder."""

    maps: list[Map]
    seen: Seen
    logits: Float[Tensor, "time vocab"] | None
    architecture: str
    scaled: bool

    @property
    def vectors(self) -> Float[Tensor, "time model"]:
        """What the last layer made of each token."""
        return self.seen.hidden()[-1][0]

    def map(self, name: str) -> Map:
        """One of the maps: ``self``, or ``encoder``, ``decoder`` and ``cross``."""
        for found in self.maps:
            if found.name == name:
                return found
        raise ValueError(f"this model has no map {name!r}; it has {', '.join(m.name for m in self.maps)}")

    def visible(self, name: str) -> Visibility:
        """Who may look at whom in one map, before anybody closed a cell."""
        found = self.map(name)
        if name == "decoder" or (name == "self" and self.architecture == "decoder"):
            return Visibility.causal(len(found.queries))
        return Visibility.full(len(found.queries), len(found.keys))

    def head(self, name: str, layer: int, head: int) -> Head:
        """What one head computed; a ValueError says which heads there are."""
        layers = self.map(name).weights
        if layer not in range(len(layers)) or head not in range(len(layers[0])):
            raise ValueError(f"there is no head {head} in layer {layer}: this model has layers 0 … {len(layers) - 1} "
                             f"and heads 0 … {len(layers[0]) - 1}")
        stem = attentions_of(self.seen)[name][layer]
        parts = {part: self.seen[f"{stem}.{point}"][0, head] for part, point in (
            ("q", "queries"), ("k", "keys"), ("v", "values"), ("scores", "scores"), ("weights", "weights"),
            ("mixed", "mixed"))}
        return Head(**parts, scale=1 / sqrt(parts["q"].shape[-1]) if self.scaled else 1.0)


def forward_pass(model: nn.Module, words: Words, text: str, second: str | None = None, *,
                 ablation: Ablation | None = None, max_tokens: int = 64) -> ForwardPass:
    """Let a model read a text, with nothing hidden from us; the arguments are those of `attention_maps`.

    ValueError: what `attention_maps` refuses, and heads or cells in ``ablation`` that there are not.
    """
    reads = readable(model)
    architecture = reads.architecture
    with ExitStack() as stack:
        points = stack.enter_context(opened(model))
        said = stack.enter_context(_saying(model))
        stack.enter_context(intervene(model, (ablation or Ablation()).changes(points)))
        seen = stack.enter_context(watch(model))
        maps = attention_maps(model, words, text, second, max_tokens=max_tokens)
    logits = said[-1] if said and architecture != "encoder" else None
    return ForwardPass(maps, seen, logits, architecture, reads.scaled)


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


@contextmanager
def _saying(model: nn.Module) -> Iterator[list[Float[Tensor, "time vocab"]]]:
    """Keep the logits that the model gives for its one text; nothing where it gives hidden vectors only."""
    said: list[Tensor] = []

    def keep(_: nn.Module, given: Any, output: Any) -> None:
        logits = output if isinstance(output, Tensor) else getattr(output, "logits", None)
        if logits is not None:
            said.append(logits[0])

    hook = model.register_forward_hook(keep)
    try:
        yield said
    finally:
        hook.remove()
