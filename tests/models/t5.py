"""T5 (Raffel et al. 2020) in one file: a Transformer with RMSNorm before each sublayer, no biases, scores that are not
scaled and have a bias for the distance, the same in all layers, no other positions; its output is scaled by d^−½. It
restores spans that were dropped."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from random import Random
from typing import Any

import torch
from torch import Tensor, nn

from plmlab.example import Batch, PairExample
from plmlab.layers.attention import UnscaledAttention
from plmlab.layers.relative import CausalRelativePositionBias, RelativePositionBias
from plmlab.layers.shape import LayerShape
from plmlab.layers.stack import Stack, TokenEmbeddings
from plmlab.layers.transformer import DecoderLayer, PreNorm
from plmlab.models.architectures import ENCODER_DECODER
from plmlab.models.registry import Pretraining, model
from plmlab.models.transformer import Decoder, Encoder, Transformer, TransformerConfig
from plmlab.objectives import sequence_to_sequence
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class T5Config(TransformerConfig):
    """The size of a T5; ``width`` is that of a head, d_kv."""

    smoothing: float = 0.0
    width: int = 16
    buckets: int = 32

    @property
    def shape(self) -> LayerShape:
        return LayerShape(self.model, self.heads, self.inner, "relu", self.dropout, self.dropout, 1e-6, nn.RMSNorm,
                          bias=False, width=self.width)


class T5Stack(Stack):
    """What encoder and decoder have in common; a distance has one bias a head, for all layers."""

    embeddings_class, residual_class, attention_class = TokenEmbeddings, PreNorm, UnscaledAttention
    distance_class: type[RelativePositionBias] = RelativePositionBias

    def __init__(self, config: T5Config, token: nn.Embedding) -> None:
        super().__init__(config, token)
        self.distance = self.distance_class(config.buckets, config.heads)

    def bias(self, batch: Batch, caches: Sequence[Any]) -> Tensor:
        """By how far a key stands from a query, behind what the caches remember."""
        before = 0 if caches[0] is None else caches[0][0].time
        place = torch.arange(before + batch.size[1], device=batch.tokens.device)[None]
        return self.distance(place[:, before:], place)


class T5Encoder(T5Stack, Encoder):
    pass


class T5DecoderLayer(DecoderLayer):
    cross_attention_class = UnscaledAttention


class T5Decoder(T5Stack, Decoder):
    layer_class, distance_class = T5DecoderLayer, CausalRelativePositionBias


def parts(rng: Random, total: int, count: int) -> list[int]:
    cuts = [0, *sorted(rng.sample(range(1, total), count - 1)), total]
    return [end - start for start, end in pairwise(cuts)]


def span_corruption(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, rate: float = 0.15) -> PairExample:
    """``rate`` of the tokens are dropped, in spans of three in the mean, for each of which the source has a sentinel;
    the target has each sentinel with its span behind it, and one more at the end (§3.1.4)."""
    noise = min(max(1, round(rate * len(tokens))), len(tokens) - 1)
    count = max(1, round(noise / 3))
    left, source, target = iter(tokens), list[int](), list[int]()
    for mark, kept, lost in zip(vocab.sentinels, parts(rng, len(tokens) - noise, count), parts(rng, noise, count),
                                strict=False):
        source += [*islice(left, kept), mark]
        target += [mark, *islice(left, lost)]
    return sequence_to_sequence(source, [*target, vocab.sentinels[count]], vocab=vocab)


@model("t5", T5Config, ENCODER_DECODER, Pretraining("t5", span_corruption, Tokenizer.wordpiece, added=2))
class T5(Transformer):
    encoder_class, decoder_class = T5Encoder, T5Decoder

    def __init__(self, config: T5Config) -> None:
        super().__init__(config)
        nn.init.normal_(self.token.weight)

    def token_logits(self, hidden: Tensor) -> Tensor:
        """The embedding's own weights, with the vector scaled by d^−½."""
        return super().token_logits(hidden * self.config.model**-0.5)
