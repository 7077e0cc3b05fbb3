"""Texts cut into segments, and an XLNet that processes each segment with a memory of the previous ones (Yang et al.
2019, §2.4)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch, Example
from plmlab.models.xlnet import XLNet, XLNetPretraining


@dataclass(frozen=True)
class Segments:
    """A batch of texts cut into segments, which are processed one after the other."""

    batches: tuple[Batch, ...]

    @classmethod
    def of(cls, cut: Sequence[Sequence[Example]], *, pad: int) -> Self:
        """Collate texts, each given as the Examples of its segments. The last segments are padded with the id ``pad``;
        all other segments must have the same length in every text, because the whole memory is visible."""
        return cls(tuple(Batch.of(segment, pad=pad) for segment in zip(*cut, strict=True)))

    @property
    def targets(self) -> Int[Tensor, "batch time"]:
        """The targets of all segments, concatenated along time."""
        return torch.cat([batch.targets for batch in self.batches], 1)

    def to(self, device: torch.device | str) -> Self:
        """A copy of the batch on another device."""
        return replace(self, batches=tuple(batch.to(device) for batch in self.batches))


class SegmentedXLNet(XLNetPretraining):
    """An XLNet for `Segments`, with a memory of the previous segments; its configuration sets the length of the
    memory."""

    encoder: XLNet

    def hidden(self, text: Segments) -> Float[Tensor, "batch time model"]:
        """Final hidden states of all segments, concatenated along time."""
        memories = self.encoder.start()
        return torch.cat([self.encoder(batch, memories) for batch in text.batches], 1)

    def forward(self, text: Segments) -> Float[Tensor, "batch time vocab"]:  # type: ignore[override]
        """Logits of the token at each position."""
        return self.token_logits(self.hidden(text))

    def loss(self, text: Segments) -> Float[Tensor, ""]:  # type: ignore[override]
        """Mean of −log p(token) over the targets of all segments, in nats."""
        asked = text.targets != IGNORE
        return F.cross_entropy(self.token_logits(self.hidden(text)[asked]), text.targets[asked])
