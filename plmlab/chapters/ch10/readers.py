"""Rivals of a Transformer-XL, each with one thing changed: other positions, and a memory that is taught."""

from dataclasses import replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.example import Batch
from plmlab.layers.attention import MultiHeadAttention
from plmlab.layers.memory import Memory
from plmlab.layers.positions import Sinusoidal
from plmlab.models.transformer_xl import TransformerXL, TransformerXLConfig, TransformerXLEmbeddings
from plmlab.visibility import AttentionMask


class PlacedTokens(TransformerXLEmbeddings):
    """A token's vector times √d, plus the sinusoid of its position (Vaswani et al. 2017, §3.5)."""

    def __init__(self, config: TransformerXLConfig) -> None:
        super().__init__(config)
        self.sinusoid = Sinusoidal(config.model)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """The vector that each position starts with."""
        return super().forward(batch) + self.sinusoid(batch.position_ids[:, 0])


class UnplacedTransformerXL(TransformerXL):
    """A memory without any positions: only the causal mask tells earlier from later."""

    attention_class = MultiHeadAttention  # type: ignore[assignment]


class PlacedTransformerXL(TransformerXL):
    """A memory under absolute positions: those that a batch has."""

    embeddings_class = PlacedTokens
    attention_class = MultiHeadAttention  # type: ignore[assignment]


class AbsoluteTransformerXL(PlacedTransformerXL):
    """Absolute positions that begin anew in each segment: of a remembered position and of one that is read now, both
    the third of their segment, the positions are the same (Dai et al. 2019, §3.3)."""

    def hidden_states(self, batch: Batch, memories: list[Memory] | None = None,  # type: ignore[override]
                      ) -> Float[Tensor, "batch time model"]:
        """What the last layer makes of each position."""
        return super().hidden_states(replace(batch, position_ids=batch.position_ids % self.config.segment), memories)

    def following(self, tokens: Int[Tensor, "batch time"], before: int) -> Batch:
        """A segment that follows ``before`` remembered positions, with its mask; its positions begin at 0."""
        return replace(super().following(tokens, before), position_ids=Batch.continuing(tokens, 0).position_ids)


class CountingTransformerXL(PlacedTransformerXL):
    """Absolute positions that count on, from the first word of the text to its last."""

    def hidden_states(self, batch: Batch, memories: list[Memory] | None = None,  # type: ignore[override]
                      ) -> Float[Tensor, "batch time model"]:
        """What the last layer makes of each position of a text from its beginning. ValueError where ``memories`` are
        given: they don't tell how many words were read."""
        refuse(memories)
        if not batch.visible.only_causal:
            return super().hidden_states(batch)
        memories = self.start().memories
        read, begin = [], 0
        for tokens in batch.tokens.split(self.config.segment, dim=1):
            segment = self.following(tokens, memories[0].time)
            read.append(self.continued(replace(segment, position_ids=Batch.continuing(tokens, begin).position_ids),
                                       memories))
            begin += tokens.shape[1]
        return torch.cat(read, dim=1)


class TaughtTransformerXL(TransformerXL):
    """A memory that is taught: the text is read in one pass under the mask that segments and memory come to. All
    vectors are the same, but what a position needed flows back, as a gradient, into the positions that it remembers."""

    def hidden_states(self, batch: Batch, memories: list[Memory] | None = None,  # type: ignore[override]
                      ) -> Float[Tensor, "batch time model"]:
        """What the last layer makes of each position of a text from its beginning. ValueError where ``memories`` are
        given: no gradient flows into them."""
        refuse(memories)
        if batch.visible.only_causal:
            looks = self.visibility(batch.size[1]).dense().to(batch.tokens.device)
            batch = replace(batch, visible=AttentionMask(pairs=looks[None]))
        return super().hidden_states(batch)


def refuse(memories: object) -> None:
    """ValueError for memories, where a model can only read whole texts."""
    if memories is not None:
        raise ValueError("this model reads a text from its beginning, in one call; it can't go on from memories")
