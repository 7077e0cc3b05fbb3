"""Run a segment-recurrent model on a text, and rerun a segment with a changed memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.interpret.logit_lens import language_model
from plmlab.interpret.readable import inference
from plmlab.interpret.watching import intervene, watch
from plmlab.labs.memory.interventions import TERMS, blind, by_row, unshifted
from plmlab.layers.hooks import Change, hook_points
from plmlab.text.tokenizers import Tokenizer
from plmlab.visibility import AttentionMask, Visibility


@runtime_checkable
class RememberingModel(Protocol):
    """The interface that the lab needs: a language model with segment-level recurrence."""

    config: Any
    layers: nn.ModuleList

    def remembering(self, **changes: Any) -> "RememberingModel":
        """A model with the same weights and another segment or memory length."""

    def visibility(self, time: int) -> Visibility:
        """The attention mask of a text with ``time`` positions that is processed in segments, with the reason for each
        cell."""

    def start(self) -> Any:
        """An initial state, with an empty memory for each layer."""

    def hidden_states(self, batch: Batch, memories: Any = None) -> Tensor:
        """Final hidden states, ``[batch time model]``."""

    def token_logits(self, hidden: Tensor) -> Tensor:
        """Next-token logits, ``[… vocab]``."""


def remembering_model(model: nn.Module, tokenizer: Any) -> tuple[RememberingModel, Tokenizer]:
    """The model and its tokenizer. Raises ValueError if the model has no segment-level recurrence."""
    checked, words = language_model(model, tokenizer)
    config = getattr(checked, "config", None)
    terms = {name.rpartition(".")[2] for name in hook_points(cast(nn.Module, checked))}
    if not (isinstance(checked, RememberingModel) and hasattr(config, "memory") and hasattr(config, "segment")
            and terms.issuperset(TERMS)):
        raise ValueError("the Memory Lab needs a model with segment-level recurrence and scores of four terms, such as "
                         f"a Transformer-XL; a {type(model).__name__} was given, whose config has no `segment` and "
                         "`memory`, or which has no method `remembering(memory=…)`")
    return checked, words


@dataclass(frozen=True, eq=False)
class Reading:
    """Forward passes over one text, one row per entry of `WAYS`.

    Attributes:
        inputs: the input of each layer at each position, which is what the memory of the layer stores.
        hidden: the final hidden states.
    """

    inputs: Float[Tensor, "layer row time model"]
    hidden: Float[Tensor, "row time model"]


def read(model: RememberingModel, ids: Sequence[int], interventions: Sequence[str] = ("",)) -> Reading:
    """Run the model on a text once for each of ``interventions`` ("" for the unchanged model, or an intervention of
    `WITHOUT`).

    The whole text is processed in one pass, with the attention mask that segments and memory define, which gives the
    same result as processing it segment by segment, but faster. Rows without an intervention are batched separately,
    because without hooks the model computes the terms in pairs.
    """
    mask = AttentionMask(pairs=model.visibility(len(ids)).dense()[None])
    parts = [_passed(model, ids, group, mask) for group in ([way for way in interventions if not way],
                                                            [way for way in interventions if way]) if group]
    inputs, hidden = (torch.cat(tensors, -3) for tensors in zip(*parts, strict=True))
    rows = torch.tensor(sorted(range(len(interventions)), key=lambda row: bool(interventions[row]))).argsort()
    return Reading(inputs[:, rows], hidden[rows])


def _passed(model: RememberingModel, ids: Sequence[int], interventions: Sequence[str], mask: AttentionMask,
            ) -> tuple[Float[Tensor, "layer row time model"], Float[Tensor, "row time model"]]:
    """The inputs of all layers, and the final hidden states."""
    module = cast(nn.Module, model)
    tokens = torch.tensor([ids] * len(interventions), device=next(module.parameters()).device)
    batch = replace(Batch.continuing(tokens, 0), visible=mask)
    changes = by_row(interventions, unshifted(model.config.segment, model.config.memory))
    with inference(module), intervene(module, changes), watch(module, "embedded", "layers.*.hidden") as seen:
        hidden = model.hidden_states(batch)
    return torch.stack([seen[name] for name in seen][:len(model.layers)]), hidden


@dataclass(frozen=True)
class VisibleContext:
    """The keys available to a query position: those of its segment up to and including its own, and the memory before
    the segment.

    All indices count from the start of the text: the memory is ``oldest`` … ``segment_start`` − 1, the segment
    ``segment_start`` … ``position``.
    """

    oldest: int
    segment_start: int
    position: int

    @classmethod
    def before(cls, position: int, segment: int, memory: int) -> "VisibleContext":
        """The keys available to ``position`` with the given segment and memory lengths."""
        segment_start = position // segment * segment
        return cls(max(0, segment_start - memory), segment_start, position)

    @property
    def keys(self) -> int:
        """The number of keys, including the query position."""
        return self.position + 1 - self.oldest

    def mask(self, cuts: Sequence[Sequence[int]]) -> Bool[Tensor, "key"]:
        """True for the keys inside one of the ``cuts``, half-open ranges ``[first, end)``."""
        positions = torch.arange(self.oldest, self.position + 1)
        is_cut = torch.zeros_like(positions, dtype=torch.bool)
        for first, end in cuts:
            is_cut |= (positions >= first) & (positions < end)
        return is_cut


def recompute(model: RememberingModel, ids: Sequence[int], at: VisibleContext,
              inputs: Float[Tensor, "layer #row time model"], cut: Bool[Tensor, "row key"],
              changes: Mapping[str, Change] | None = None) -> Float[Tensor, "row model"]:
    """Final hidden states at ``at.position`` after rerunning the segment of this position, one row per cut: no query of
    the segment attends to the keys that are ``cut``. The hidden states of earlier segments are unchanged."""
    module = cast(nn.Module, model)
    memories = model.start().memories
    for memory, states in zip(memories, inputs[:, :, at.oldest:at.segment_start], strict=True):
        memory.states = states.expand(len(cut), -1, -1)
    tokens = torch.tensor([ids[at.segment_start:at.position + 1]], device=inputs.device).expand(len(cut), -1)
    points = {"layers.*.attention.scores": blind(cut.to(inputs.device)), **(changes or {})}
    with inference(module), intervene(module, points):
        return model.hidden_states(Batch.continuing(tokens, at.segment_start - at.oldest), memories)[:, -1]


@dataclass(frozen=True, eq=False)
class QueryAttention:
    """Attention at the query position, with one row per entry of `WAYS`.

    Attributes:
        hidden: the final hidden state of the position.
        weights: the attention weights.
        terms: the attention scores, split into the four terms of `TERMS`.
    """

    hidden: Float[Tensor, "row model"]
    weights: Float[Tensor, "layer row head key"]
    terms: Float[Tensor, "term layer row head key"]


def query_attention(model: RememberingModel, ids: Sequence[int], at: VisibleContext,
                    inputs: Float[Tensor, "layer row time model"], cut: Bool[Tensor, "row key"],
                    interventions: Sequence[str]) -> QueryAttention:
    """Rerun the segment of the query position under several ``interventions``, one row each, and record the
    attention."""
    with watch(cast(nn.Module, model), "layers.*.attention.weights",
               *(f"layers.*.attention.{term}" for term in TERMS)) as seen:
        hidden = recompute(model, ids, at, inputs, cut, by_row(interventions, unshifted()))

    def last(point: str) -> Tensor:
        return torch.stack([tensor[:, :, -1] for tensor in seen.matching(f"layers.*.attention.{point}")])

    return QueryAttention(hidden, last("weights"), torch.stack([last(term) for term in TERMS]))


def groups(count: int, most: int) -> list[tuple[int, int]]:
    """Split ``count`` neighbours into at most ``most`` groups of equal size (the last may be smaller), returned as
    (first, end)."""
    size = max(1, -(-count // most))
    return [(first, min(first + size, count)) for first in range(0, count, size)]
