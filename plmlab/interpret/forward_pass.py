"""One forward pass on a text: what every head did, and what came out, with heads off and cells closed."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import sqrt
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from plmlab.interpret.ablation import Ablation, attentions_of
from plmlab.interpret.attention_maps import Map, attention_maps, attention_model, collect_calls
from plmlab.interpret.readable import Words
from plmlab.interpret.watching import ActivationRecord, hooked, intervene, watch
from plmlab.visibility import Visibility


@dataclass(frozen=True)
class Head:
    """All that one head computed, for the arithmetic of its cells.

    ``scale`` is what q·k is multiplied with; whatever else is in ``scores`` comes from a term of the model's own,
    such as relative positions; likewise for what is in ``mixed`` besides Σ α v. Where the score is no inner product,
    ``scale`` is None; ``formula`` says what the score is.
    """

    q: Float[Tensor, "query width"]
    k: Float[Tensor, "key width"]
    v: Float[Tensor, "key width"]
    scores: Float[Tensor, "query key"]
    weights: Float[Tensor, "query key"]
    mixed: Float[Tensor, "query width"]
    scale: float | None
    formula: str = "q·k"


@dataclass(frozen=True, eq=False)
class ForwardPass:
    """A text as a model read it. ``logits`` is what it says at each position, None of an encoder. ``own_scores`` are
    the scale and the formula of those attentions that tell how their score is made, by the names of their points
    without the last part; others are scaled by 1/√width where ``scaled``."""

    maps: list[Map]
    seen: ActivationRecord
    logits: Float[Tensor, "time vocab"] | None
    scaled: bool
    own_scores: Mapping[str, tuple[float | None, str]]

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
        return self.map(name).visible

    def head(self, name: str, layer: int, head: int) -> Head:
        """What one head computed; a ValueError says which heads there are."""
        layers = self.map(name).weights
        if layer not in range(len(layers)) or head not in range(len(layers[0])):
            raise ValueError(f"there is no head {head} in layer {layer}: this model has layers 0 … {len(layers) - 1} "
                             f"and heads 0 … {len(layers[0]) - 1}")
        stem = attentions_of(self.seen)[name][layer]
        parts = {part: collect_calls(self.seen, f"{stem}.{point}")[0, head] for part, point in (
            ("q", "queries"), ("scores", "scores"), ("weights", "weights"), ("mixed", "mixed"))}
        parts |= {part: self.seen[f"{stem}.{point}"][0, head] for part, point in (("k", "keys"), ("v", "values"))}
        usual = (1 / sqrt(parts["q"].shape[-1]) if self.scaled else 1.0, "q·k")
        scale, formula = self.own_scores.get(stem, usual)
        return Head(**parts, scale=scale, formula=formula)


def forward_pass(model: nn.Module, words: Words, text: str, second: str | None = None, *,
                 ablation: Ablation | None = None, mask: str = "", max_tokens: int = 64) -> ForwardPass:
    """Let a model read a text, with nothing hidden from us; the arguments are those of `attention_maps`.

    ValueError: what `attention_maps` refuses, and heads or cells in ``ablation`` that there are not.
    """
    reads = attention_model(model)
    with ExitStack() as stack:
        points = stack.enter_context(hooked(model))
        said = stack.enter_context(_saying(model))
        stack.enter_context(intervene(model, (ablation or Ablation()).changes(points)))
        seen = stack.enter_context(watch(model))
        maps = attention_maps(model, words, text, second, mask=mask, max_tokens=max_tokens)
    _check_closed(ablation or Ablation(), maps)
    own = {stem: (module.scale, module.formula) for stem, module in model.named_modules(remove_duplicate=False)
           if hasattr(module, "formula")}
    next_words = said and said[-1].dim() == 2 and reads.architecture != "encoder"
    logits = said[-1] if next_words else None
    return ForwardPass(maps, seen, logits, reads.scaled, own)


def _check_closed(ablation: Ablation, maps: list[Map]) -> None:
    for name, q, k in ablation.closed:
        for queries, keys in [(len(m.queries), len(m.keys)) for m in maps if m.name == name]:
            if q not in range(queries) or k not in range(keys):
                raise ValueError(f"there is no cell ({q}, {k}) in a map of {queries} queries × {keys} keys")


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
