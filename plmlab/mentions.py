"""Entity mentions (实体提及) in a batch of texts, and their BIO tags: B for the first token of a mention, I for its
other tokens, O for tokens outside of all mentions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

OUTSIDE, BEGIN, INSIDE = 0, 1, 2
"""The three tags as labels of positions."""


def bio_tags(spans: Sequence[tuple[int, int]], time: int) -> Int[Tensor, "time"]:
    """The tags of ``time`` positions; ``spans`` are the mentions, (start, end) with exclusive end."""
    tags = torch.full((time,), OUTSIDE)
    for start, end in spans:
        tags[start] = BEGIN
        tags[start + 1:end] = INSIDE
    return tags


@dataclass(frozen=True)
class Mentions:
    """The mentions in a batch, in order of text and position: the index of the text (``rows``), and the positions of
    the ``first`` and the ``last`` token, which are equal for a mention of one token."""

    rows: Int[Tensor, "mention"]
    first: Int[Tensor, "mention"]
    last: Int[Tensor, "mention"]

    @classmethod
    def of(cls, tags: Int[Tensor, "batch time"]) -> Self:
        """Find the mentions in BIO tags; other labels, such as IGNORE at padding, are outside. An I that follows no
        mention begins one, as in seqeval's default mode."""
        within = (tags == BEGIN) | (tags == INSIDE)
        goes_on = torch.zeros_like(within)  # whether position t + 1 belongs to the same mention as position t
        goes_on[:, :-1] = within[:, :-1] & (tags[:, 1:] == INSIDE)
        begins = within & ~goes_on.roll(1, 1)
        rows, first = begins.nonzero().unbind(1)
        return cls(rows, first, (within & ~goes_on).nonzero()[:, 1])

    def __len__(self) -> int:
        """The number of mentions."""
        return len(self.rows)

    def __getitem__(self, chosen: Bool[Tensor, "mention"]) -> Self:
        """The mentions for which the mask is True."""
        return type(self)(self.rows[chosen], self.first[chosen], self.last[chosen])

    def at_first(self, values: Shaped[Tensor, " batch time *rest"]) -> Shaped[Tensor, " mention *rest"]:
        """The value at the first token of each mention."""
        return values[self.rows, self.first]

    def ends(self, hidden: Float[Tensor, "batch time model"]) -> Float[Tensor, "mention 2*model"]:
        """The hidden states of the first and the last token of each mention, concatenated: [x_start ∥ x_end]."""
        return torch.cat([self.at_first(hidden), hidden[self.rows, self.last]], 1)


def most_likely_tags(logits: Float[Tensor, "batch time 3"], padding_mask: Bool[Tensor, "batch time"],
                     ) -> Int[Tensor, "batch time"]:
    """The most likely sequence of BIO tags in which no I follows an O, by the Viterbi algorithm. Padding is outside.

    Tagging each position on its own would give the same tags, unless these contain an I without a B.
    """
    outside = logits.new_tensor([0, -torch.inf, -torch.inf])
    scores = torch.where(padding_mask[..., None], logits, outside)
    allowed = logits.new_zeros(3, 3)  # [from to]
    allowed[OUTSIDE, INSIDE] = -torch.inf
    best, steps = scores[:, 0] + allowed[OUTSIDE], list[Tensor]()  # [batch tag]
    for t in range(1, scores.shape[1]):
        best, previous = (best[:, :, None] + allowed).max(1)
        best = best + scores[:, t]
        steps.append(previous)
    tags = [best.argmax(1)]
    for previous in reversed(steps):
        tags.append(previous.gather(1, tags[-1][:, None])[:, 0])
    return torch.stack(tags[::-1], 1)
