"""The "Speed Transformer" of §5.2 of a study note: FAT with the "hybrid forward pass", without a known paper.

A target position is skipped if its input token does not occur in the source: its embedding is zero, and so are all its
attention weights. Repairs: [START] is kept, because otherwise nothing could be generated. The note does not say what a
skipped position predicts; here, its hidden state is the output of the layers for a zero vector without attention, a
constant that does not depend on the text. The threshold on word frequencies (§3.2) has no value in the note, and is
left out.

`SpeedTransformer` computes this with a mask, so every position is still computed. `GatheredSpeedTransformer` gathers
the other positions into a shorter batch, and computes the constant once; in evaluation both give the same outputs.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from plmlab.example import Batch
from plmlab.layers.attention import Cache
from plmlab.models.architectures import encoder_decoder
from plmlab.models.fat import FAT, FATConfig, FATDecoder
from plmlab.models.registry import model
from plmlab.models.transformer import Decoder, Embeddings, TransformerState
from plmlab.objectives.hybrid_pass import hybrid_forward_pass
from plmlab.visibility import AttentionMask


class SkippingEmbeddings(Embeddings):
    """The Transformer's embeddings, zero where the label ``kept`` of the batch is False."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Input embedding of every position."""
        return super().forward(batch) * batch.labels["kept"][..., None]


class SpeedDecoder(FATDecoder):
    """FAT's decoder with zero embeddings at skipped positions."""

    embeddings_class = SkippingEmbeddings


@dataclass(kw_only=True)
class SpeedState(TransformerState):
    """A state with the source ``tokens``, ``real`` (False at padding), and which cached target positions are
    ``kept``."""

    tokens: Int[Tensor, "batch key"]
    real: Bool[Tensor, "batch key"]
    kept: Bool[Tensor, "batch time"]

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep only the given rows of the batch, in the given order."""
        super().select(rows)
        self.tokens, self.real, self.kept = self.tokens[rows], self.real[rows], self.kept[rows]

    def occur(self, tokens: Int[Tensor, "batch new"]) -> Bool[Tensor, "batch new"]:
        """Whether each token occurs in its source."""
        return ((tokens[:, :, None] == self.tokens[:, None]) & self.real[:, None]).any(-1)


@model("speed-transformer", FATConfig, encoder_decoder(hybrid_forward_pass))
class SpeedTransformer(FAT):
    """Speed Transformer (a study note, no paper): a FAT that skips target tokens that do not occur in the source."""

    decoder_class: type[Decoder] = SpeedDecoder

    def encode(self, source: Batch, cross: AttentionMask) -> SpeedState:
        """Encode the source; ``cross`` is the cross-attention mask."""
        none = torch.zeros_like(source.tokens[:, :0], dtype=torch.bool)
        return SpeedState(**vars(super().encode(source, cross)), tokens=source.tokens, real=source.padding_mask,
                          kept=none)

    def logits(self, target: Batch, state: TransformerState) -> Float[Tensor, "batch time vocab"]:
        """Next-token logits at every position of a target, from an encoded source."""
        return self.predict(self.decoded(target, state, state.memory_mask), state)

    def decode(self, tokens: Int[Tensor, "batch time"], state: TransformerState) -> Float[Tensor, "batch time model"]:
        """Append ``tokens`` to ``state`` and return the decoder outputs."""
        target = Batch.continuing(tokens, state.first + state.time)
        return self.decoded(target, state, state.memory_mask.at(state.time, tokens.shape[1]), state.caches)

    def decoded(self, target: Batch, state: TransformerState, memory_mask: AttentionMask,
                caches: list[tuple[Cache, Cache]] | None = None) -> Float[Tensor, "batch time model"]:
        """Decoder outputs at new target positions, of which those are skipped whose token does not occur in the
        source."""
        assert isinstance(state, SpeedState)
        occur = state.occur(target.tokens)
        so_far = occur if caches is None else torch.cat([state.kept, occur], 1)
        so_far[:, :1] = True  # [START]
        if caches is not None:
            state.kept = so_far
        kept = so_far[:, -occur.shape[1]:]
        visible = allowing(target.visible, kept[:, :, None] & so_far[:, None])
        target = replace(target, visible=visible, labels={**target.labels, "kept": kept})
        keys = allowing(memory_mask, kept[:, :, None].expand(-1, -1, state.memory.shape[1]))
        return self.decoder(target, state.memory, keys, caches)


def allowing(mask: AttentionMask, pairs: Bool[Tensor, "batch query key"]) -> AttentionMask:
    """The mask without all pairs but the given ones."""
    return replace(mask, pairs=pairs if mask.pairs is None else mask.pairs & pairs)


class GatheredDecoder(SpeedDecoder):
    """The decoder that computes only the positions that are not skipped, and one skipped position.

    With caches, all positions are computed as in `SpeedDecoder`.
    """

    def forward(
        self, target: Batch, memory: Float[Tensor, "batch source model"], memory_mask: AttentionMask,
        caches: list[tuple[Cache, Cache]] | None = None,
    ) -> Float[Tensor, "batch time model"]:
        """Decoder output at each target position."""
        if caches is not None:
            return super().forward(target, memory, memory_mask, caches)
        kept, pairs, cross = target.labels["kept"], target.visible.pairs, memory_mask.pairs
        assert pairs is not None and cross is not None
        width = min(kept.shape[1], int(kept.sum(1).max()) + 1)
        rows = (~kept).long().argsort(stable=True)[:, :width]  # the kept positions in order, then skipped ones
        pairs = pairs.gather(1, rows[:, :, None].expand(-1, -1, pairs.shape[2]))
        short = replace(
            target, tokens=target.tokens.gather(1, rows), segments=target.segments.gather(1, rows),
            targets=target.targets.gather(1, rows), labels={"kept": kept.gather(1, rows)},
            position_ids=target.position_ids[:, 0].expand_as(kept).gather(1, rows)[:, None],
            visible=replace(target.visible, pairs=pairs.gather(2, rows[:, None].expand(-1, width, -1))))
        keys = replace(memory_mask, pairs=cross.gather(1, rows[:, :, None].expand(-1, -1, cross.shape[2])))
        hidden = super().forward(short, memory, keys)
        place = torch.where(kept, kept.cumsum(1) - 1, width - 1)  # the last row is skipped if any position is
        return hidden.gather(1, place[:, :, None].expand(-1, -1, hidden.shape[2]))


class GatheredSpeedTransformer(SpeedTransformer):
    """A Speed Transformer that gathers the positions to be computed instead of masking the others."""

    decoder_class: type[Decoder] = GatheredDecoder
