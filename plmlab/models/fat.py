"""The "Fast Autoregressive Transformer", FAT, of a study note, without a known paper.

FAT is the Transformer of chapter 06 with other attention scores. Repairs, each the smallest with which the equation can
be evaluated:

- Slow Multi-Head Attention: "MultiHeadMatMul", which combines four inputs "in a certain way", is read as multi-head
  attention: softmax of e_ij over j, weighted sum of the values, heads concatenated, output projection. The encoder's
  "hidden state h_{l−1}" is the input of the layer, which gives queries, keys and values.
- Fast Fully Connected Softmax has two formulas. Σ tanh/Σ exp does not sum to 1, and is negative where a score is.
  Here, it is the softmax of q_μ · k_ν + U_μν + b; the formula's other indices (μm, n) are those of no tensor.
  U has one element per pair of positions, so a text has a maximum length, and is shared by layers and heads.
- The scalar b is added to all scores, and therefore changes no softmax; its gradient is 0.
- §2.3 replaces the decoder's self-attention by this softmax, while §3.3 computes its keys from the source. Here it is
  the causal self-attention; the cross-attention is Slow Multi-Head Attention, as §3.4 says of the context vector.

Everything else, such as residual connections, norms and positional encoding, is the Transformer's; the note states
nothing of it. The scores q · k have no factor 1/√d_k, as in the note.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.layers.attention import UnscaledAttention
from plmlab.layers.slow_attention import SlowAttention
from plmlab.layers.transformer import DecoderLayer
from plmlab.models.architectures import ENCODER_DECODER
from plmlab.models.registry import model
from plmlab.models.transformer import Decoder, Encoder, Transformer, TransformerConfig


@dataclass(frozen=True)
class FATConfig(TransformerConfig):
    """Configuration of a FAT; ``time`` is the maximum number of target positions."""

    time: int = 512

    @classmethod
    def tiny(cls, vocab: int, time: int = 128) -> Self:
        """A model that trains in seconds on two CPU cores, without dropout."""
        return replace(super().tiny(vocab), time=time)


class FATEncoder(Encoder):
    """The Transformer's encoder with Slow Multi-Head Attention."""

    attention_class = SlowAttention


class FATDecoderLayer(DecoderLayer):
    """Decoder layer whose cross-attention is Slow Multi-Head Attention."""

    cross_attention_class = SlowAttention


class FATDecoder(Decoder):
    """The Transformer's decoder; self-attention is the Fast Fully Connected Softmax, softmax(q · k + U + b)."""

    layer_class = FATDecoderLayer
    attention_class = UnscaledAttention

    def __init__(self, config: FATConfig, token: nn.Embedding | None = None) -> None:
        super().__init__(config, token)
        self.pairs = nn.Parameter(torch.zeros(config.time, config.time))  # U
        self.constant = nn.Parameter(torch.zeros(()))  # b

    def bias(self, batch: Batch, caches: Sequence[Any]) -> Float[Tensor, "#batch head query key"]:
        """U_μν + b for the position ids μ of the queries and ν of the keys; the queries follow the cached positions.

        Raises ValueError if the text has more positions than U.
        """
        queries = batch.position_ids[:, 0]
        keys = queries if caches[0] is None else self.cached_positions(batch, caches)
        if keys.shape[1] > len(self.pairs):
            raise ValueError(f"a target of {keys.shape[1]} tokens is too long: U has {len(self.pairs)} positions; "
                             "shorten the target, or build a model with a larger `time`")
        return (self.pairs[queries[:, :, None], keys[:, None]] + self.constant)[:, None]

    @staticmethod
    def cached_positions(batch: Batch, caches: Sequence[Any]) -> Tensor:
        """Position ids of the cached positions and of the new ones, [#batch key]."""
        total = caches[0][0].time + batch.size[1]
        return batch.position_ids[:, 0, -1:] + torch.arange(1 - total, 1, device=batch.tokens.device)


@model("fat", FATConfig, ENCODER_DECODER)
class FAT(Transformer):
    """Fast Autoregressive Transformer (a study note, no paper): an encoder–decoder with Slow Multi-Head Attention, and
    a learned bias for every pair of target positions."""

    decoder: FATDecoder
    encoder_class: type[Encoder] = FATEncoder
    decoder_class: type[Decoder] = FATDecoder

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        nn.init.zeros_(self.decoder.pairs)
