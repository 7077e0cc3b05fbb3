"""One forward pass on a text: all attention activations and the logits, with optional ablations."""

from collections.abc import Iterator, Mapping, Sequence
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
from plmlab.text.knowledge import KnowledgeBase
from plmlab.visibility import Visibility


@dataclass(frozen=True)
class Head:
    """All activations of one attention head.

    ``scale`` is the factor of q·k in the score. If q·k times ``scale`` differs from ``scores``, the model has further
    terms, such as relative positions; likewise for Σ α v and ``mixed``. If the score is not an inner product, ``scale``
    is None and ``formula`` describes the score.
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
    """The activations of one forward pass.

    ``logits`` are the next-token logits at each position, or None for an encoder. ``own_scores`` maps the hook point
    prefix of each attention module that defines its own score to the scale and the formula of that score; the other
    modules use 1/√width if ``scaled``.
    """

    maps: list[Map]
    seen: ActivationRecord
    logits: Float[Tensor, "time vocab"] | None
    scaled: bool
    own_scores: Mapping[str, tuple[float | None, str]]

    @property
    def vectors(self) -> Float[Tensor, "time model"]:
        """Final hidden states, one per token."""
        return self.seen.hidden()[-1][0]

    def map(self, name: str) -> Map:
        """The map ``self``, or ``encoder``, ``decoder`` or ``cross``, or ``spans 1``, …. Raises ValueError if there is
        no such map."""
        for attention in self.maps:
            if attention.name == name:
                return attention
        raise ValueError(f"this model has no map {name!r}; it has {', '.join(m.name for m in self.maps)}")

    def visible(self, name: str) -> Visibility:
        """The attention mask of one map, without ablations."""
        return self.map(name).visible

    def head(self, name: str, layer: int, head: int) -> Head:
        """The activations of one head. Raises ValueError if there is no such head."""
        layers = self.map(name).weights
        if layer not in range(len(layers)) or head not in range(len(layers[0])):
            raise ValueError(f"there is no head {head} in layer {layer}: this model has layers 0 … {len(layers) - 1} "
                             f"and heads 0 … {len(layers[0]) - 1}")
        stem = attentions_of(self.seen)[name][layer]
        parts = {part: collect_calls(self.seen, f"{stem}.{point}")[0, head] for part, point in (
            ("q", "queries"), ("scores", "scores"), ("weights", "weights"), ("mixed", "mixed"))}
        parts |= {part: self.seen[f"{stem}.{point}"][0, head] for part, point in (("k", "keys"), ("v", "values"))}
        default = (1 / sqrt(parts["q"].shape[-1]) if self.scaled else 1.0, "q·k")
        scale, formula = self.own_scores.get(stem, default)
        return Head(**parts, scale=scale, formula=formula)


def forward_pass(model: nn.Module, words: Words, text: str, second: str | None = None, *,
                 ablation: Ablation | None = None, mask: str = "", max_tokens: int = 64,
                 knowledge: Sequence[KnowledgeBase] = ()) -> ForwardPass:
    """Run a model on a text and record all activations; the arguments are those of `attention_maps`.

    Raises ValueError in the cases listed there, and if a head or cell of ``ablation`` does not exist.
    """
    reads = attention_model(model)
    with ExitStack() as stack:
        points = stack.enter_context(hooked(model))
        outputs = stack.enter_context(_recorded_logits(model))
        stack.enter_context(intervene(model, (ablation or Ablation()).changes(points)))
        seen = stack.enter_context(watch(model))
        maps = attention_maps(model, words, text, second, mask=mask, max_tokens=max_tokens,
                              knowledge=knowledge)
    _check_closed(ablation or Ablation(), maps)
    own = {stem: (module.scale, module.formula) for stem, module in model.named_modules(remove_duplicate=False)
           if hasattr(module, "formula")}
    is_language_model = outputs and outputs[-1].dim() == 2 and reads.architecture != "encoder"
    logits = outputs[-1] if is_language_model else None
    return ForwardPass(maps, seen, logits, reads.scaled, own)


def _check_closed(ablation: Ablation, maps: list[Map]) -> None:
    for name, q, k in ablation.closed:
        for queries, keys in [(len(m.queries), len(m.keys)) for m in maps if m.name == name]:
            if q not in range(queries) or k not in range(keys):
                raise ValueError(f"there is no cell ({q}, {k}) in a map of {queries} queries × {keys} keys")


@contextmanager
def _recorded_logits(model: nn.Module) -> Iterator[list[Float[Tensor, "time vocab"]]]:
    """Record the logits of the forward pass; the list stays empty if the model returns only hidden states."""
    recorded: list[Tensor] = []

    def record(_: nn.Module, inputs: Any, output: Any) -> None:
        logits = output if isinstance(output, Tensor) else getattr(output, "logits", None)
        if logits is not None:
            recorded.append(logits[0])

    hook = model.register_forward_hook(record)
    try:
        yield recorded
    finally:
        hook.remove()
