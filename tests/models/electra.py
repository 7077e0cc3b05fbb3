"""ELECTRA (Clark et al. 2020) in one file: a small masked language model spoils a text, and a discriminator says of
each token whether it was replaced."""

from dataclasses import dataclass, replace
from typing import Self

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.layers.initialise import initialise
from plmlab.layers.transformer import ACTIVATIONS
from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining, Embeddings
from plmlab.models.registry import Pretraining, model
from plmlab.objectives import masked
from plmlab.objectives.next_sentence import without_nsp
from plmlab.text.tokenizers import Tokenizer


@dataclass(frozen=True)
class GeneratorConfig(BERTConfig):
    """The size of a generator; ``embedding`` is the width of the discriminator's embeddings, which it shares."""

    embedding: int = 128


@dataclass(frozen=True)
class ELECTRAConfig:
    """The two networks, and how much the discriminator's loss weighs, λ."""

    generator: GeneratorConfig
    discriminator: BERTConfig
    weight: float = 50.0

    @classmethod
    def tiny(cls, vocab: int, time: int = 128) -> Self:
        """Trains in seconds on two cores; the generator is a quarter as wide (§3.2)."""
        size = BERTConfig.tiny(vocab, time)
        quarter = {"model": size.model // 4, "heads": 1, "inner": size.inner // 4, "embedding": size.model}
        return cls(GeneratorConfig(**vars(size) | quarter), size)


class SharedEmbeddings(Embeddings):
    """Embeddings as wide as the discriminator's, and a projection to the generator's width."""

    def __init__(self, config: GeneratorConfig) -> None:
        super().__init__(replace(config, model=config.embedding))
        self.project = nn.Linear(config.embedding, config.model)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """The vector that each position starts with."""
        return self.project(super().forward(batch))


class Generator(BERT):
    """A small BERT."""

    embeddings_class = SharedEmbeddings


class GeneratorPretraining(BERTPretraining):
    """The generator with BERT's output layer."""

    encoder_class = Generator


@model("electra-pretraining", ELECTRAConfig, ENCODER, Pretraining(
    "electra", masked, Tokenizer.wordpiece, added=2, pairs=without_nsp(masked), likelihood=False))
class ELECTRAPretraining(nn.Module):
    """Both networks; `encoder`, a BERT, is what is kept. They share the vectors of tokens, positions and segments."""

    def __init__(self, config: ELECTRAConfig) -> None:
        super().__init__()
        self.config = config
        self.generator, self.encoder = GeneratorPretraining(config.generator), BERT(config.discriminator)
        for table in ("token", "position", "segment"):
            setattr(self.generator.encoder.embeddings, table, getattr(self.encoder.embeddings, table))
        width = config.discriminator.model
        self.transform, self.output = nn.Linear(width, width), nn.Linear(width, 1)
        self.transform.apply(initialise), self.output.apply(initialise)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time"]:
        """The logits of each token being replaced."""
        return self.output(ACTIVATIONS["gelu"](self.transform(self.encoder(batch))))[..., 0]

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """The generator's loss, and λ times the mean over real tokens of −log p(replaced or not) (§3.1)."""
        hidden = batch.targets != IGNORE
        logits = self.generator.token_logits(self.generator.encoder(batch)[hidden])
        said = torch.multinomial(logits.detach().softmax(-1), 1)[:, 0]
        replaced = torch.zeros_like(hidden).masked_scatter(hidden, said != batch.targets[hidden])
        spoilt = replace(batch, tokens=batch.tokens.masked_scatter(hidden, said))
        found = F.binary_cross_entropy_with_logits(self(spoilt)[batch.padding_mask],
                                                   replaced[batch.padding_mask].float())
        return F.cross_entropy(logits, batch.targets[hidden]) + self.config.weight * found
