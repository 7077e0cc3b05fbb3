"""A text in segments, and an XLNet that reads each behind the memory of those before it (Yang et al. 2019, §2.4)."""

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
    """Texts side by side, cut into segments that are read one after the other."""

    batches: tuple[Batch, ...]

    @classmethod
    def of(cls, cut: Sequence[Sequence[Example]], *, pad: int) -> Self:
        """Collate texts, each given as the Examples of its segments; ``pad`` is the id that fills up the last ones. All
        others are as long in each text, for what is remembered is seen whole."""
        return cls(tuple(Batch.of(segment, pad=pad) for segment in zip(*cut, strict=True)))

    @property
    def targets(self) -> Int[Tensor, "batch time"]:
        """What the positions of all segments must say, those of the first segment first."""
        return torch.cat([batch.targets for batch in self.batches], 1)

    def to(self, device: torch.device | str) -> Self:
        """The same on another device."""
        return replace(self, batches=tuple(batch.to(device) for batch in self.batches))


class SegmentReader(XLNetPretraining):
    """An XLNet that reads `Segments`, each behind the memory of those before it; its config says how much it holds."""

    encoder: XLNet

    def hidden(self, text: Segments) -> Float[Tensor, "batch time model"]:
        """What the last layer makes of each position of all segments."""
        memories = self.encoder.start()
        return torch.cat([self.encoder(batch, memories) for batch in text.batches], 1)

    def forward(self, text: Segments) -> Float[Tensor, "batch time vocab"]:  # type: ignore[override]
        """The logits of the token that belongs into each position."""
        return self.token_logits(self.hidden(text))

    def loss(self, text: Segments) -> Float[Tensor, ""]:  # type: ignore[override]
        """Mean over the asked positions of all segments of −log p(token), in nats."""
        asked = text.targets != IGNORE
        return F.cross_entropy(self.token_logits(self.hidden(text)[asked]), text.targets[asked])
