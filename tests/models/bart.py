"""BART (Lewis et al. 2020) in one file: a Transformer with learned positions, a norm behind the embeddings, GELU, and a
bias on the output."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.layers.positions import LearnedPositions
from plmlab.layers.shape import LayerShape
from plmlab.layers.stack import TokenEmbeddings
from plmlab.models.architectures import ENCODER_DECODER
from plmlab.models.registry import model
from plmlab.models.transformer import Decoder, Encoder, Transformer, TransformerConfig


@dataclass(frozen=True)
class BARTConfig(TransformerConfig):
    """The size of a BART; ``time`` is the number of positions that each side learns."""

    smoothing: float = 0.0
    time: int = 128

    @property
    def shape(self) -> LayerShape:
        """Of each layer."""
        return LayerShape(self.model, self.heads, self.inner, "gelu", self.dropout, attention_dropout=0.0)


class BARTEmbeddings(TokenEmbeddings):
    """What a token is, plus where it stands, normed."""

    def __init__(self, config: BARTConfig, token: nn.Embedding) -> None:
        super().__init__(config, token)
        self.position, self.norm = LearnedPositions(config.time, config.model), nn.LayerNorm(config.model)

    def forward(self, batch: Batch) -> Tensor:
        """The vector that each position starts with."""
        return self.dropout(self.norm(self.token(batch.tokens) + self.position(batch.position_ids[:, 0])))


class BARTEncoder(Encoder):
    embeddings_class = BARTEmbeddings


class BARTDecoder(Decoder):
    embeddings_class = BARTEmbeddings


@model("bart", BARTConfig, ENCODER_DECODER)
class BART(Transformer):
    encoder_class, decoder_class = BARTEncoder, BARTDecoder

    def __init__(self, config: BARTConfig) -> None:
        super().__init__(config)
        self.output_bias = nn.Parameter(torch.zeros(config.vocab))

    def token_logits(self, hidden: Tensor) -> Tensor:
        """The embedding's own weights, with a bias."""
        return super().token_logits(hidden) + self.output_bias
