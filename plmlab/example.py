"""Examples and batches: the output of an objective and the input of a model."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self, TypeAlias

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from plmlab.visibility import AttentionMask, Visibility

IGNORE = -100
"""Target of a position without a loss; the default ``ignore_index`` of ``cross_entropy``."""


@dataclass(frozen=True)
class Example:
    """One training example, in the same format for every objective.

    ``tokens``, ``position_ids`` (two per token in GLM) and ``segments`` are ids. ``targets[t]`` is the token to predict
    at position t, already shifted for next-token prediction, or IGNORE. ``labels`` holds further targets, such as a
    class. ``visible`` is the attention mask; ``query_stream_mask`` is that of XLNet's query stream. Raises ValueError
    if the lengths differ.
    """

    tokens: Int[Tensor, "time"]
    position_ids: Int[Tensor, "axis time"]
    segments: Int[Tensor, "time"]
    visible: Visibility
    targets: Int[Tensor, "time"]
    labels: dict[str, Tensor] = field(default_factory=dict)
    query_stream_mask: Visibility | None = None

    def __post_init__(self) -> None:
        time, (queries, keys) = self.tokens.shape[0], self.visible.shape  # len() of a tensor is slow
        sizes = {
            "position_ids": self.position_ids.shape[-1], "segments": self.segments.shape[0],
            "targets": self.targets.shape[0], "visible's queries": queries, "visible's keys": keys,
        }
        for name, size in sizes.items():
            if size != time:
                raise ValueError(f"an Example of {time} tokens has {size} {name}; they must be equal")


@dataclass(frozen=True)
class PairExample:
    """An encoder–decoder example: encoder input, decoder input with targets, and the cross-attention mask."""

    source: Example
    target: Example
    cross: Visibility


@dataclass(frozen=True)
class BidirectionalExample:
    """An example for a bidirectional language model: a forward and a backward Example, which do not attend to each
    other."""

    forwards: Example
    backwards: Example

    @property
    def tokens(self) -> Int[Tensor, "time"]:
        """The tokens of the forward input."""
        return self.forwards.tokens


def collate_label(rows: list[Tensor]) -> Tensor:
    """Collate one label over a batch: scalars are stacked, vectors are padded with IGNORE."""
    return torch.stack(rows) if rows[0].dim() == 0 else pad_sequence(rows, True, IGNORE)


@dataclass(frozen=True)
class Batch:
    """A batch of Examples, padded on the right to the longest.

    ``position_ids`` has a single row if all Examples have the same position ids, so that the embeddings are looked up
    only once.
    """

    tokens: Int[Tensor, "batch time"]
    position_ids: Int[Tensor, "#batch axis time"]
    segments: Int[Tensor, "batch time"]
    visible: AttentionMask
    targets: Int[Tensor, "batch time"]
    labels: dict[str, Tensor] = field(default_factory=dict)
    query_stream_mask: AttentionMask | None = None

    @classmethod
    def of(cls, examples: Sequence[Example], *, pad: int) -> Self:
        """Collate Examples; ``pad`` is the id of the padding token."""
        if not examples:
            raise ValueError("a batch needs at least one example; the list is empty")

        def stack(rows: list[Tensor], fill: int) -> Tensor:
            return pad_sequence(rows, batch_first=True, padding_value=fill)

        position_ids = stack([e.position_ids.T for e in examples], 0).transpose(1, 2)
        second = [e.query_stream_mask for e in examples if e.query_stream_mask is not None]
        return cls(
            tokens=stack([e.tokens for e in examples], pad),
            position_ids=position_ids,
            segments=stack([e.segments for e in examples], 0),
            visible=AttentionMask.of([e.visible for e in examples]),
            targets=stack([e.targets for e in examples], IGNORE),
            labels={name: collate_label([e.labels[name] for e in examples]) for name in examples[0].labels},
            query_stream_mask=AttentionMask.of(second) if second else None,
        )

    @property
    def padding_mask(self) -> Bool[Tensor, "batch time"]:
        """Padding mask: False at padding, True at every position that some query can attend to."""
        mask = self.visible.dense(self.size[1], self.size[1])
        if mask is None:
            return torch.ones_like(self.tokens, dtype=torch.bool)
        return mask.any(-2)[:, 0].expand(self.size)

    @classmethod
    def causal(cls, windows: Int[Tensor, "batch window"]) -> Self:
        """Build a batch for next-token prediction from windows of a token stream, ``window = time + 1``."""
        tokens, targets = windows[:, :-1].contiguous(), windows[:, 1:].contiguous()
        place = torch.arange(tokens.shape[1], device=windows.device)
        return cls(tokens, place[None, None], torch.zeros_like(tokens), AttentionMask(causal=True), targets)

    @classmethod
    def continuing(cls, tokens: Int[Tensor, "batch time"], before: int | Int[Tensor, "batch"]) -> Self:
        """Build a batch without targets that continues ``before`` cached positions, one number or one per row."""
        begin = before if isinstance(before, int) else before[:, None, None]
        place = (begin + torch.arange(tokens.shape[1], device=tokens.device)).view(-1, 1, tokens.shape[1])
        return cls(tokens, place, torch.zeros_like(tokens), AttentionMask(causal=True),
                   torch.full_like(tokens, IGNORE))

    @property
    def size(self) -> tuple[int, int]:
        """(number of examples, positions per example)."""
        return self.tokens.shape[0], self.tokens.shape[1]

    def to(self, device: torch.device | str) -> Self:
        """Copy to a device."""
        def move(t: Tensor) -> Tensor:
            return t.to(device, non_blocking=True)

        return replace(
            self, tokens=move(self.tokens), position_ids=move(self.position_ids), segments=move(self.segments),
            visible=self.visible.to(device), targets=move(self.targets),
            labels={name: move(t) for name, t in self.labels.items()},
            query_stream_mask=None if self.query_stream_mask is None else self.query_stream_mask.to(device),
        )


@dataclass(frozen=True)
class PairBatch:
    """A batch of encoder–decoder examples."""

    source: Batch
    target: Batch
    cross: AttentionMask

    @classmethod
    def of(cls, examples: Sequence[PairExample], *, pad: int) -> Self:
        """Collate examples; ``pad`` is the id of the padding token."""
        return cls(
            Batch.of([e.source for e in examples], pad=pad),
            Batch.of([e.target for e in examples], pad=pad),
            AttentionMask.of([e.cross for e in examples]),
        )

    @property
    def targets(self) -> Int[Tensor, "batch time"]:
        """Targets of the decoder."""
        return self.target.targets

    @property
    def size(self) -> tuple[int, int]:
        """(number of examples, decoder positions per example)."""
        return self.target.size

    def to(self, device: torch.device | str) -> Self:
        """Copy to a device."""
        return replace(self, source=self.source.to(device), target=self.target.to(device),
                       cross=self.cross.to(device))


@dataclass(frozen=True)
class BidirectionalBatch:
    """A batch of examples of a bidirectional language model."""

    forwards: Batch
    backwards: Batch

    @classmethod
    def of(cls, examples: Sequence[BidirectionalExample], *, pad: int) -> Self:
        """Collate; ``pad`` is the id of the padding token."""
        sides = [e.forwards for e in examples], [e.backwards for e in examples]
        return cls(*(Batch.of(side, pad=pad) for side in sides))

    @property
    def targets(self) -> Int[Tensor, "batch time"]:
        """Targets, forward before backward, [batch, 2 · time]."""
        return torch.cat([self.forwards.targets, self.backwards.targets], 1)

    @property
    def size(self) -> tuple[int, int]:
        """(number of examples, positions per example and direction)."""
        return self.forwards.size

    def to(self, device: torch.device | str) -> Self:
        """Copy to a device."""
        return replace(self, forwards=self.forwards.to(device), backwards=self.backwards.to(device))


AnyExample: TypeAlias = Example | PairExample | BidirectionalExample
"""The output of any objective."""
AnyBatch: TypeAlias = Batch | PairBatch | BidirectionalBatch
"""The input of any model."""
