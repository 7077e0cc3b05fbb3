"""T5 (Raffel et al. 2020): an encoder–decoder in which every task is text to text.

Its differences from the Transformer (§2.1 and the authors' code): pre-norm with RMSNorm; no biases in any layer; no
position embeddings, but a bias per relative position bucket on the attention scores, shared by all layers of a side;
scores without the factor 1/√d_k, with smaller initial weights instead; tied output embeddings, with the hidden states
scaled by d^−½. T5 v1.1, from the authors' repository, has a gated feed-forward network and an output layer of its own.

The objective is `plmlab.objectives.span_corruption` with spans `anywhere`: with the authors' placement, a text of at
most 30 tokens would always lose its end and nothing else. Differences from the authors' code: the decoder starts with
[START], where theirs has the padding token; the inner layer of the feed-forward network and the output of a stack have
no dropout; training has no supervised tasks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.layers.attention import UnscaledAttention
from plmlab.layers.relative import CausalRelativePositionBias, RelativePositionBias
from plmlab.layers.shape import LayerShape
from plmlab.layers.stack import Stack, TokenEmbeddings
from plmlab.layers.transformer import DecoderLayer, GatedFeedForward, PreNorm, TransformerLayer
from plmlab.models.architectures import ENCODER_DECODER
from plmlab.models.registry import Pretraining, model
from plmlab.models.transformer import Decoder, Encoder, Transformer, TransformerConfig
from plmlab.objectives.span_corruption import anywhere, span_corruption
from plmlab.text.tokenizers import Tokenizer

span_corruption_anywhere = partial(span_corruption, place=anywhere)
PRETRAINING = partial(Pretraining, objective=span_corruption_anywhere, learn=Tokenizer.wordpiece, added=1,
                      documents=True, likelihood=False, optimizer="adafactor")


@dataclass(frozen=True)
class T5Config(TransformerConfig):
    """Configuration of a T5; ``width`` is the width of a head, d_kv (default: model / heads), ``buckets`` the number of
    relative position buckets."""

    smoothing: float = 0.0
    width: int | None = None
    buckets: int = 32
    eps: float = 1e-6

    @classmethod
    def base(cls) -> Self:
        """The paper's baseline (§3.1.1): 223 million parameters ("about 220 million")."""
        return cls(vocab=32_128, layers=12, model=768, heads=12, inner=3072)

    @property
    def shape(self) -> LayerShape:
        """The shape of every layer."""
        return LayerShape(self.model, self.heads, self.inner, "relu", self.dropout, self.dropout, self.eps, nn.RMSNorm,
                          bias=False, width=self.width)


class T5Stack(Stack):
    """The common parts of encoder and decoder, with one relative position bias for all layers."""

    embeddings_class, residual_class, attention_class = TokenEmbeddings, PreNorm, UnscaledAttention
    distance_class: type[RelativePositionBias] = RelativePositionBias

    def __init__(self, config: T5Config, token: nn.Embedding) -> None:
        super().__init__(config, token)
        self.distance = self.distance_class(config.buckets, config.heads)

    def bias(self, batch: Batch, caches: Sequence[Any]) -> Float[Tensor, "1 head query key"]:
        """Relative position bias of every (query, key) pair; the queries follow the cached positions."""
        before = 0 if caches[0] is None else caches[0][0].time
        keys = torch.arange(before + batch.size[1], device=batch.tokens.device)[None]
        return self.distance(keys[:, before:], keys)


class T5Encoder(T5Stack, Encoder):
    """T5's encoder: half of the buckets are for later keys."""


class T5DecoderLayer(DecoderLayer):
    """Decoder layer with unscaled cross-attention, which has no position bias."""

    cross_attention_class = UnscaledAttention


class T5Decoder(T5Stack, Decoder):
    """T5's decoder: all buckets are for earlier keys."""

    layer_class: type[DecoderLayer] = T5DecoderLayer
    distance_class = CausalRelativePositionBias


@model("t5", T5Config, ENCODER_DECODER, PRETRAINING("t5"))
class T5(Transformer):
    """T5: ReLU and tied output embeddings, as in the paper."""

    encoder_class: type[Encoder] = T5Encoder
    decoder_class: type[Decoder] = T5Decoder
    generates_sentinels = True

    def __init__(self, config: T5Config) -> None:
        super().__init__(config)
        self.apply(initialise_by_width)
        nn.init.normal_(self.token.weight)
        for part in self.modules():
            if isinstance(part, RelativePositionBias):
                nn.init.normal_(part.weight, std=config.model**-0.5)

    def token_logits(self, hidden: Float[Tensor, "*batch model"]) -> Float[Tensor, "*batch vocab"]:
        """Next-token logits from a decoder output: d^−½ hW_eᵀ."""
        return super().token_logits(hidden * self.config.model**-0.5)


@torch.no_grad()
def initialise_by_width(module: nn.Module) -> None:
    """Initialize linear layers from N(0, 1/√inputs), and queries from N(0, 1/√(inputs · d_k)), because the scores are
    not scaled."""
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, std=module.in_features**-0.5)
    elif isinstance(module, UnscaledAttention):
        module.q.weight.mul_((module.q.out_features // module.heads) ** -0.5)


@dataclass(frozen=True)
class T5v11Config(T5Config):
    """Configuration of a T5 v1.1: that of T5, with GELU in its tanh approximation."""

    @classmethod
    def base(cls) -> Self:
        """The authors' t5.1.1.base: 248 million parameters ("~250 million")."""
        return cls(vocab=32_128, layers=12, model=768, heads=12, inner=2048)

    @property
    def shape(self) -> LayerShape:
        """The shape of every layer."""
        return replace(super().shape, activation="gelu_tanh")


class T5v11EncoderLayer(TransformerLayer):
    """Encoder layer with a gated feed-forward network."""

    feed_forward_class = GatedFeedForward


class T5v11DecoderLayer(T5DecoderLayer):
    """Decoder layer with a gated feed-forward network."""

    feed_forward_class = GatedFeedForward


class T5v11Encoder(T5Encoder):
    """T5's encoder with gated feed-forward networks."""

    layer_class = T5v11EncoderLayer


class T5v11Decoder(T5Decoder):
    """T5's decoder with gated feed-forward networks."""

    layer_class = T5v11DecoderLayer


@model("t5-v1_1", T5v11Config, ENCODER_DECODER, PRETRAINING("t5-v1_1"))
class T5v11(T5):
    """T5 v1.1: gated feed-forward networks, and an output layer that is neither tied nor scaled."""

    encoder_class, decoder_class = T5v11Encoder, T5v11Decoder

    def __init__(self, config: T5v11Config) -> None:
        super().__init__(config)
        self.output = nn.Linear(config.model, config.vocab, bias=False)
        initialise_by_width(self.output)

    def token_logits(self, hidden: Float[Tensor, "*batch model"]) -> Float[Tensor, "*batch vocab"]:
        """Next-token logits from a decoder output: hW_out."""
        return self.output(hidden)
