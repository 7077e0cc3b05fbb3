"""PEGASUS (Zhang et al. 2020): an encoder–decoder pretrained to generate the important sentences of a text.

Its differences from the Transformer, all from the authors' code: pre-norm with a final LayerNorm on each side; in the
positional encoding all sines precede all cosines; the decoder's first input is a zero vector, here the embedding of
[PAD], as in ``transformers``. The objective is `plmlab.objectives.gap_sentences`.

Differences from the authors' code: attention projections have biases, as in ``transformers``; the frequencies of the
encoding are those of ``transformers`` (and of the Transformer), 10000^(−2i/d), where the code has 10000^(−i/(d/2−1));
the embedding of [PAD] is zero only at the start of training, because it is also a row of the output layer; the inner
layer of the feed-forward network has no dropout; dropout is drawn for each position, where theirs is shared by all
positions of a text.
"""

from dataclasses import dataclass
from functools import partial
from typing import Self

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, PairBatch
from plmlab.layers.positions import SinesThenCosines
from plmlab.layers.shape import LayerShape
from plmlab.layers.stack import Stack, TokenEmbeddings
from plmlab.layers.transformer import PreNorm
from plmlab.models.architectures import encoder_decoder
from plmlab.models.registry import Pretraining, model
from plmlab.models.transformer import Decoder, Embeddings, Encoder, Transformer, TransformerConfig, TransformerState
from plmlab.objectives.gap_sentences import gap_sentences, pad_started_pair
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import SPECIALS


@dataclass(frozen=True)
class PEGASUSConfig(TransformerConfig):
    """Configuration of a PEGASUS; ``start`` is the id of the decoder's first input token, [PAD]. There is no label
    smoothing in pretraining; the authors' fine-tuning has 0.1."""

    smoothing: float = 0.0
    attention_dropout: float = 0.0
    start: int = SPECIALS.index("[PAD]")

    @classmethod
    def base(cls) -> Self:
        """The paper's base model (§6), with 32,000 tokens: 223 million parameters, as the paper states. With the 96,103
        tokens of the large model, it would have 272 million."""
        return cls(vocab=32_000, layers=12, model=768, heads=12, inner=3072, attention_dropout=0.1)

    @classmethod
    def large(cls) -> Self:
        """The paper's large model, with 16 layers on each side (§6): 569 million parameters ("568 million")."""
        return cls(vocab=96_103, layers=16, model=1024, heads=16, inner=4096, attention_dropout=0.1)

    @property
    def shape(self) -> LayerShape:
        """The shape of every layer: ReLU."""
        return LayerShape(self.model, self.heads, self.inner, "relu", self.dropout, self.attention_dropout)


class PEGASUSEmbeddings(Embeddings):
    """The Transformer's embeddings with all sines before all cosines."""

    position_class = SinesThenCosines


class PEGASUSStack(Stack):
    """The common parts of encoder and decoder."""

    embeddings_class: type[TokenEmbeddings] = PEGASUSEmbeddings
    residual_class = PreNorm


class PEGASUSEncoder(PEGASUSStack, Encoder):
    """The Transformer's encoder with pre-norm."""


class PEGASUSDecoder(PEGASUSStack, Decoder):
    """The Transformer's decoder with pre-norm."""


PEGASUS_ENCODER_DECODER = encoder_decoder(pad_started_pair)
"""A [END] for the encoder, [PAD] B for the decoder."""


@model("pegasus", PEGASUSConfig, PEGASUS_ENCODER_DECODER,
       Pretraining("pegasus", gap_sentences, Tokenizer.wordpiece, added=1, documents=True, likelihood=False,
                   optimizer="adafactor"))
class PEGASUS(Transformer):
    """PEGASUS: pre-norm, and a decoder that starts with [PAD]. Weights are initialized as in `Transformer`, whose
    initialization is also that of the authors' code."""

    encoder_class, decoder_class = PEGASUSEncoder, PEGASUSDecoder

    def __init__(self, config: PEGASUSConfig) -> None:
        super().__init__(config)
        self.token.padding_idx = config.start  # no gradient as an input
        nn.init.zeros_(self.token.weight[config.start])

    def step(self, tokens: Int[Tensor, "batch time"], state: TransformerState) -> Float[Tensor, "batch vocab"]:
        """Append ``tokens`` to ``state`` and return the logits of the next token. The first token of a target, [START]
        in the prompts of generation, is read as [PAD]."""
        if not state.time:
            tokens = torch.cat([torch.full_like(tokens[:, :1], self.config.start), tokens[:, 1:]], 1)
        return super().step(tokens, state)


gap_sentences_and_masking = partial(gap_sentences, masking=0.15)


class PEGASUSWithMLM(PEGASUS):
    """PEGASUS whose encoder also predicts masked tokens, with the tied output layer: the ablation of §6.1.2, to be
    trained with `gap_sentences_and_masking`. The paper does not state how the two losses are weighted; here they are
    added."""

    def loss(self, batch: PairBatch) -> Float[Tensor, ""]:
        """Mean cross-entropy per target token of the decoder, plus that of the encoder, in nats. A batch without masked
        tokens has no loss of the encoder."""
        state, masked = self.encode(batch.source, batch.cross), batch.source.targets != IGNORE
        hidden = state.memory[masked]
        mlm = F.cross_entropy(self.token_logits(hidden), batch.source.targets[masked], reduction="sum")
        return self.cross_entropy(self.logits(batch.target, state), batch.targets) + mlm / max(1, len(hidden))
