"""MASS (Song et al. 2019): an encoder–decoder pretrained to predict one masked span of a text.

The network is that of the authors' code: post-norm layers, learned positions, a LayerNorm after the embeddings, GELU,
and a bias on the tied output layer. The objective is `plmlab.objectives.masked_span`; a text is delimited by [START]
and [END] on both sides. Differences from that code: there is one language, so no language embeddings and no output
projection per language in cross-attention; encoder and decoder share one token embedding, as in the authors' code for
summarization; weights are initialized as in `Transformer`, the projections not with PyTorch's default.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.example import Batch, PairExample
from plmlab.layers.positions import LearnedPositions
from plmlab.layers.shape import LayerShape
from plmlab.layers.stack import TokenEmbeddings
from plmlab.models.architectures import Architecture, require_second
from plmlab.models.registry import Pretraining, model
from plmlab.models.transformer import Decoder, Encoder, Transformer, TransformerConfig
from plmlab.objectives.masked_span import delimited_pair, masked_span
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class MASSConfig(TransformerConfig):
    """Configuration of a MASS; ``time`` is the number of learned positions of each side."""

    smoothing: float = 0.0
    time: int = 512
    attention_dropout: float = 0.1
    eps: float = 1e-12

    @classmethod
    def tiny(cls, vocab: int, time: int = 128) -> Self:
        """A model that trains in seconds on two CPU cores, without dropout."""
        return replace(super().tiny(vocab), time=time, attention_dropout=0.0)

    @classmethod
    def base(cls) -> Self:
        """The paper's model for translation (§4.1), with a vocabulary of its 60,000 subwords and the 8 heads of the
        authors' README: 239 million parameters. The paper gives no count."""
        return cls(vocab=60_000, layers=6, model=1024, heads=8, inner=4096)

    @property
    def shape(self) -> LayerShape:
        """The shape of every layer."""
        return LayerShape(self.model, self.heads, self.inner, "gelu", self.dropout, self.attention_dropout, self.eps)


class LearnedEmbeddings(TokenEmbeddings):
    """Sum of token and position embeddings, with LayerNorm and dropout."""

    def __init__(self, config: MASSConfig, token: nn.Embedding | None = None) -> None:
        super().__init__(config, token)
        self.position = LearnedPositions(config.time, config.model)
        self.norm = nn.LayerNorm(config.model, eps=config.eps)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Input embedding of every position."""
        return self.dropout(self.norm(self.token(batch.tokens) + self.position(batch.position_ids[:, 0])))


class MASSEncoder(Encoder):
    """The Transformer's encoder with learned positions."""

    embeddings_class = LearnedEmbeddings


class MASSDecoder(Decoder):
    """The Transformer's decoder with learned positions."""

    embeddings_class = LearnedEmbeddings


def _delimited(tokens: Any, second: Any, vocab: Vocabulary) -> PairExample:
    return delimited_pair(tokens, require_second(second), vocab)


MASS_ENCODER_DECODER = Architecture("encoder-decoder", _delimited)
"""[START] A [END] for the encoder, [START] B for the decoder."""


@model("mass", MASSConfig, MASS_ENCODER_DECODER,
       Pretraining("mass", masked_span, Tokenizer.wordpiece, added=2, likelihood=False))
class MASS(Transformer):
    """MASS: the Transformer with learned positions and an output bias."""

    encoder_class: type[Encoder] = MASSEncoder
    decoder_class: type[Decoder] = MASSDecoder

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.output_bias = nn.Parameter(torch.zeros(config.vocab))

    def token_logits(self, hidden: Float[Tensor, "*batch model"]) -> Float[Tensor, "*batch vocab"]:
        """Next-token logits from a decoder output: hW_eᵀ + b."""
        return super().token_logits(hidden) + self.output_bias
