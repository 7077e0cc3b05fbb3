"""BART (Lewis et al. 2020): MASS's network, pretrained to restore whole documents from any kind of noise.

The objective is `plmlab.objectives.denoising`. The decoder's input begins with [END], which predicts [START], as in the
authors' code (their end- and begin-of-sentence tokens). Differences: position ids count from 0, where the authors'
table has two unused rows before the first position; the bias of the output layer, which is zero and not trained in
``transformers``, is a parameter; networks narrower than the paper's are initialized with a larger standard deviation.
"""

from dataclasses import dataclass
from functools import partial
from typing import Self

import torch
from jaxtyping import Int
from torch import Tensor

from plmlab.example import Batch
from plmlab.layers.initialise import initialise
from plmlab.models.architectures import encoder_decoder
from plmlab.models.learned_positions import LearnedPositionConfig, LearnedPositionTransformer
from plmlab.models.registry import Pretraining, model
from plmlab.models.transformer import TransformerState
from plmlab.objectives.denoising import denoising, restoration
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import SPECIALS
from plmlab.visibility import AttentionMask


@dataclass(frozen=True)
class BARTConfig(LearnedPositionConfig):
    """Configuration of a BART; ``start`` is the id of the decoder's first input token, [END]."""

    attention_dropout: float = 0.0
    eps: float = 1e-5
    start: int = SPECIALS.index("[END]")

    @classmethod
    def base(cls) -> Self:
        """The paper's base model, with 6 layers on each side (§2.1): 139 million parameters. The authors' README gives
        140 million."""
        return cls(vocab=50_265, time=1024, layers=6, model=768, heads=12, inner=3072, start=2)

    @classmethod
    def large(cls) -> Self:
        """The paper's large model, with 12 layers on each side (§2.1): 406 million parameters. The authors' README
        gives 400 million."""
        return cls(vocab=50_265, time=1024, layers=12, model=1024, heads=16, inner=4096, start=2)


BART_ENCODER_DECODER = encoder_decoder(restoration)
"""[START] A [END] for the encoder, [END] [START] B for the decoder."""


@model("bart", BARTConfig, BART_ENCODER_DECODER,
       Pretraining("bart", denoising, Tokenizer.bpe, added=2, documents=True, likelihood=False))
class BART(LearnedPositionTransformer):
    """BART: at the paper's widths, all weights are initialized from N(0, 0.02) (§2.1); the decoder's input begins with
    [END].

    The output of a linear layer with these weights has a standard deviation of 0.02 √width for inputs of unit variance:
    0.55 at 768, and 0.2 at 96, where a decoder did not learn to use its source (README of ``bart-world``). Below 768,
    the standard deviation of the weights is therefore 0.02 √(768 / width).
    """

    def __init__(self, config: BARTConfig) -> None:
        super().__init__(config)
        self.apply(partial(initialise, std=0.02 * max(1, 768 / config.model) ** 0.5))

    def start(self, source: Batch, cross: AttentionMask | None = None, first: int | Int[Tensor, "batch"] = 0,
              ) -> TransformerState:
        """Encode the source and give the decoder its first token, so that targets are generated from [START]."""
        state = super().start(source, cross, first)
        self.decode(torch.full_like(source.tokens[:, :1], self.config.start), state)
        return state
