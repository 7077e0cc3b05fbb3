"""A text as a model reads it in segments, and one of its segments read again with other memories."""

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
from plmlab.labs.memory.lesions import TERMS, blind, by_row, unshifted
from plmlab.layers.hooks import Change, hook_points
from plmlab.text.tokenizers import Tokenizer
from plmlab.visibility import AttentionMask, Visibility


@runtime_checkable
class RememberingModel(Protocol):
    """What the lab asks of a model: to read a text in segments, with what its layers remember."""

    config: Any
    layers: nn.ModuleList

    def remembering(self, **changes: Any) -> "RememberingModel":
        """The same weights with another segment or memory."""

    def visibility(self, time: int) -> Visibility:
        """Who may look at whom, and why, in a text of so many positions that is read in segments."""

    def start(self) -> Any:
        """A state with a memory for each layer."""

    def hidden_states(self, batch: Batch, memories: Any = None) -> Tensor:
        """[batch time model]: what the last layer makes of each position."""

    def token_logits(self, hidden: Tensor) -> Tensor:
        """[… vocab]: the logits of the token that follows a position."""


def remembering_model(model: nn.Module, tokenizer: Any) -> tuple[RememberingModel, Tokenizer]:
    """The model and its tokenizer; a ValueError for what keeps no memory of the segments before."""
    made, words = language_model(model, tokenizer)
    config = getattr(made, "config", None)
    terms = {name.rpartition(".")[2] for name in hook_points(cast(nn.Module, made))}
    if not (isinstance(made, RememberingModel) and hasattr(config, "memory") and hasattr(config, "segment")
            and terms.issuperset(TERMS)):
        raise ValueError("the Memory Lab needs a model that reads in segments and remembers those before, with scores "
                         f"of four terms, such as a Transformer-XL; a {type(model).__name__} was given, whose config "
                         "has no segment and no memory, or which cannot be `remembering(memory=…)`")
    return made, words


@dataclass(frozen=True, eq=False)
class Reading:
    """A text read in several ways, a row each.

    Attributes:
        inputs: what each layer reads of each position, which is what its memory holds.
        hidden: what the last layer makes of each position.
    """

    inputs: Float[Tensor, "layer row time model"]
    hidden: Float[Tensor, "row time model"]


def read(model: RememberingModel, ids: Sequence[int], ways: Sequence[str] = ("",)) -> Reading:
    """Read a text once for each of the ``ways`` ("" for as the model is, or one of `WITHOUT`, throughout the text).

    It is read in one pass, under the mask that segments and memory come to: that gives the same numbers as segment by
    segment, and sooner. Where nothing is changed, terms are computed two by two.
    """
    mask = AttentionMask(pairs=model.visibility(len(ids)).dense()[None])
    parts = [_passed(model, ids, some, mask) for some in ([way for way in ways if not way],
                                                          [way for way in ways if way]) if some]
    inputs, hidden = (torch.cat(found, -3) for found in zip(*parts, strict=True))
    rows = torch.tensor(sorted(range(len(ways)), key=lambda row: bool(ways[row]))).argsort()
    return Reading(inputs[:, rows], hidden[rows])


def _passed(model: RememberingModel, ids: Sequence[int], ways: Sequence[str], mask: AttentionMask,
            ) -> tuple[Float[Tensor, "layer row time model"], Float[Tensor, "row time model"]]:
    """What each layer reads of a text, and what the last one makes of it."""
    module = cast(nn.Module, model)
    tokens = torch.tensor([ids] * len(ways), device=next(module.parameters()).device)
    batch = replace(Batch.continuing(tokens, 0), visible=mask)
    changes = by_row(ways, unshifted(model.config.segment, model.config.memory))
    with inference(module), intervene(module, changes), watch(module, "embedded", "layers.*.hidden") as seen:
        hidden = model.hidden_states(batch)
    return torch.stack([seen[name] for name in seen][:len(model.layers)]), hidden


@dataclass(frozen=True)
class Sight:
    """The part of a text that is read where a position is asked: its segment up to itself, and the memory before it.

    Positions are counted in the text: the memory is ``oldest`` … ``begin`` − 1, the segment ``begin`` … ``position``.
    """

    oldest: int
    begin: int
    position: int

    @classmethod
    def before(cls, position: int, segment: int, memory: int) -> "Sight":
        """Where a position stands in a text that is read ``segment`` positions at once."""
        begin = position // segment * segment
        return cls(max(0, begin - memory), begin, position)

    @property
    def keys(self) -> int:
        """How many positions are read or remembered."""
        return self.position + 1 - self.oldest

    def mask(self, cuts: Sequence[Sequence[int]]) -> Bool[Tensor, "key"]:
        """The keys that stand in one of the ``cuts``, each from a position up to another one."""
        positions = torch.arange(self.oldest, self.position + 1)
        found = torch.zeros_like(positions, dtype=torch.bool)
        for first, end in cuts:
            found |= (positions >= first) & (positions < end)
        return found


def read_again(model: RememberingModel, ids: Sequence[int], at: Sight,
               inputs: Float[Tensor, "layer #row time model"], cut: Bool[Tensor, "row key"],
               changes: Mapping[str, Change] | None = None) -> Float[Tensor, "row model"]:
    """What the last layer makes of the position ``at.position`` when its segment is read once more, a row each: nobody
    in the segment looks at the keys that are ``cut``. Segments before are as they were read."""
    module = cast(nn.Module, model)
    memories = model.start().memories
    for memory, states in zip(memories, inputs[:, :, at.oldest:at.begin], strict=True):
        memory.states = states.expand(len(cut), -1, -1)
    tokens = torch.tensor([ids[at.begin:at.position + 1]], device=inputs.device).expand(len(cut), -1)
    points = {"layers.*.attention.scores": blind(cut.to(inputs.device)), **(changes or {})}
    with inference(module), intervene(module, points):
        return model.hidden_states(Batch.continuing(tokens, at.begin - at.oldest), memories)[:, -1]


@dataclass(frozen=True, eq=False)
class Looked:
    """Where the asked position looked, a row a way of reading.

    Attributes:
        hidden: what the last layer made of it.
        weights: its attention weights.
        terms: its scores, in the four terms of `TERMS`.
    """

    hidden: Float[Tensor, "row model"]
    weights: Float[Tensor, "layer row head key"]
    terms: Float[Tensor, "term layer row head key"]


def look(model: RememberingModel, ids: Sequence[int], at: Sight, inputs: Float[Tensor, "layer row time model"],
         cut: Bool[Tensor, "row key"], ways: Sequence[str]) -> Looked:
    """Read the segment of a position once more in several ``ways``, a row each, and record where the position
    looked."""
    with watch(cast(nn.Module, model), "layers.*.attention.weights",
               *(f"layers.*.attention.{term}" for term in TERMS)) as seen:
        hidden = read_again(model, ids, at, inputs, cut, by_row(ways, unshifted()))

    def last(point: str) -> Tensor:
        return torch.stack([tensor[:, :, -1] for tensor in seen.matching(f"layers.*.attention.{point}")])

    return Looked(hidden, last("weights"), torch.stack([last(term) for term in TERMS]))


def groups(count: int, most: int) -> list[tuple[int, int]]:
    """``count`` neighbours in at most so many groups of equal size, the last one smaller, as (first, end)."""
    size = max(1, -(-count // most))
    return [(first, min(first + size, count)) for first in range(0, count, size)]
