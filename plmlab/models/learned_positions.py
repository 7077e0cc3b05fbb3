"""The network of MASS and BART: the Transformer with the layers of BERT, which are post-norm layers with GELU, learned
positions, a LayerNorm after the embeddings, and a bias on the tied output layer."""

from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.layers.positions import LearnedPositions
from plmlab.layers.shape import LayerShape
from plmlab.layers.stack import TokenEmbeddings
from plmlab.models.transformer import Decoder, Encoder, Transformer, TransformerConfig


@dataclass(frozen=True)
class LearnedPositionConfig(TransformerConfig):
    """Configuration of an encoder–decoder with learned positions, ``time`` on each side."""

    smoothing: float = 0.0
    time: int = 512
    attention_dropout: float = 0.1
    eps: float = 1e-12

    @classmethod
    def tiny(cls, vocab: int, time: int = 128) -> Self:
        """A model that trains in seconds on two CPU cores, without dropout."""
        return replace(super().tiny(vocab), time=time, attention_dropout=0.0)

    @property
    def shape(self) -> LayerShape:
        """The shape of every layer."""
        return LayerShape(self.model, self.heads, self.inner, "gelu", self.dropout, self.attention_dropout, self.eps)


class LearnedEmbeddings(TokenEmbeddings):
    """Sum of token and position embeddings, with LayerNorm and dropout."""

    def __init__(self, config: LearnedPositionConfig, token: nn.Embedding | None = None) -> None:
        super().__init__(config, token)
        self.position = LearnedPositions(config.time, config.model)
        self.norm = nn.LayerNorm(config.model, eps=config.eps)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Input embedding of every position."""
        return self.dropout(self.norm(self.token(batch.tokens) + self.position(batch.position_ids[:, 0])))


class LearnedPositionEncoder(Encoder):
    """The Transformer's encoder with learned positions."""

    embeddings_class = LearnedEmbeddings


class LearnedPositionDecoder(Decoder):
    """The Transformer's decoder with learned positions."""

    embeddings_class = LearnedEmbeddings


class LearnedPositionTransformer(Transformer):
    """The Transformer with learned positions and an output bias."""

    encoder_class: type[Encoder] = LearnedPositionEncoder
    decoder_class: type[Decoder] = LearnedPositionDecoder

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.output_bias = nn.Parameter(torch.zeros(config.vocab))

    def token_logits(self, hidden: Float[Tensor, "*batch model"]) -> Float[Tensor, "*batch vocab"]:
        """Next-token logits from a decoder output: hW_eᵀ + b."""
        return super().token_logits(hidden) + self.output_bias
