"""ALBERT (Lan et al. 2020) in one file: BERT with narrow embeddings, one layer for all, and the order of sentences."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import torch
from torch import nn

from plmlab.example import IGNORE, Batch, Example
from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining, Embeddings
from plmlab.models.registry import Pretraining, model
from plmlab.objectives import masked
from plmlab.text.tokenizers import Tokenizer
from plmlab.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class ALBERTConfig(BERTConfig):
    """The size of an ALBERT; ``embedding`` is the width of its embeddings, E."""

    embedding: int = 32
    activation: str = "gelu_tanh"


class FactorizedEmbeddings(Embeddings):
    """BERT's embeddings, E wide, and a projection to the model's width: V×E + E×H weights for V×H (§3.1)."""

    def __init__(self, config: ALBERTConfig) -> None:
        super().__init__(replace(config, model=config.embedding))
        self.project = nn.Linear(config.embedding, config.model)

    def forward(self, batch: Batch) -> torch.Tensor:
        """The vector that each position starts with."""
        return self.project(super().forward(batch))


@model("albert", ALBERTConfig, ENCODER)
class ALBERT(BERT):
    """The encoder: all layers are one."""

    embeddings_class = FactorizedEmbeddings

    def stack(self) -> nn.ModuleList:
        """The same layer, as often as there are layers."""
        return nn.ModuleList([super().stack()[0]] * self.config.layers)


def sentence_order(first: Sequence[int], second: Sequence[int], follows: bool, *, vocab: Vocabulary, rng: Random,
                   **given: Any) -> Example:
    """[CLS] A [SEP] B [SEP], or with A and B swapped, half and half (§3.1); the label is 0 or 1, none for a B that does
    not follow A in its text."""
    swapped = rng.random() < 0.5
    one, other = (second, first) if swapped else (first, second)
    example = masked(one, pair=other, vocab=vocab, rng=rng, **given)
    return dataclasses.replace(example, labels={"next_sentence": torch.tensor(int(swapped) if follows else IGNORE)})


@model("albert-pretraining", ALBERTConfig, ENCODER,
       Pretraining("albert", masked, Tokenizer.wordpiece, added=2, pairs=sentence_order))
class ALBERTPretraining(BERTPretraining):
    """ALBERT with its two heads, which are BERT's: the hidden word, said E wide, and which sentence came first."""

    encoder_class = ALBERT
