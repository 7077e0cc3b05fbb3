"""GPT fine-tuned to classify (Radford et al. 2018, §3.2): the answer is read off the last token.

Where it differs from the paper: its equations 4 and 5 add up log-probabilities over the whole data set; here, as in the
authors' code, each part is a mean, over texts and over tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch, Example
from plmlab.layers.initialise import initialise
from plmlab.models.architectures import Architecture
from plmlab.models.gpt import GPT, GPT2, GPTConfig
from plmlab.models.registry import ModelSpec, model
from plmlab.objectives.fine_tuning import gpt_classification, label_of
from plmlab.text.vocabulary import Vocabulary
from plmlab.weights import with_pretrained


@dataclass(frozen=True)
class GPTClassifierConfig:
    """The GPT, its class and its size, how many classes there are, the id of the extract token, and λ, the weight of
    the language model's loss (0.5 in the paper)."""

    gpt: ModelSpec
    labels: int = 2
    extract: int = 6
    auxiliary: float = 0.5

    @classmethod
    def tiny(cls, vocab: int, time: int = 64) -> Self:
        """On a tiny GPT-2."""
        return cls(ModelSpec(GPT2, GPTConfig.tiny(vocab, time)))


def _text(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> Example:
    return gpt_classification(tokens, 0, vocab=vocab, pair=second or ())


CLASSIFIER = Architecture("decoder", _text)
"""[START] A [END], or [START] A [SEP] B [END]: the class is read off [END] (fig. 1)."""


@model("gpt-classifier", GPTClassifierConfig, CLASSIFIER)
class GPTClassifier(nn.Module):
    """A GPT, or a GPT-2, that classifies: softmax(h W_y), from what the last layer makes of the extract token (eq. 3).
    """

    def __init__(self, config: GPTClassifierConfig) -> None:
        super().__init__()
        self.config = config
        self.gpt = config.gpt.build()
        self.dropout = nn.Dropout(config.gpt.config.dropout)
        self.output = nn.Linear(config.gpt.config.model, config.labels, bias=False)
        initialise(self.output)

    @classmethod
    def from_pretrained(cls, gpt: GPT, labels: int = 2, *, extract: int = 6, auxiliary: float = 0.5) -> Self:
        """A new output layer on a copy of a pretrained GPT, which itself stays as it is. ``extract`` is [END]."""
        return with_pretrained(gpt, cls(GPTClassifierConfig(ModelSpec.of(gpt), labels, extract, auxiliary)), "gpt")

    def forward(self, batch: Batch) -> Float[Tensor, "batch label"]:
        """The logits of each text's class."""
        return self.classify(batch, self.gpt.hidden_states(batch))

    def classify(self, batch: Batch, hidden: Float[Tensor, "batch time model"]) -> Float[Tensor, "batch label"]:
        """The same, from what the last layer made of the texts."""
        texts = torch.arange(len(hidden), device=hidden.device)
        return self.output(self.dropout(hidden[texts, place_of(self.config.extract, batch)]))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """L = L_class + λ · L_words (eq. 5): mean of −log p(class) over texts, label ``class``; plus λ times that of
        −log p(token) over targets."""
        hidden = self.gpt.hidden_states(batch)
        loss = F.cross_entropy(self.classify(batch, hidden), label_of(batch, "class"), ignore_index=IGNORE)
        if self.config.auxiliary == 0:
            return loss
        words = self.gpt.token_logits(hidden).flatten(0, 1)
        return loss + self.config.auxiliary * F.cross_entropy(words, batch.targets.flatten(), ignore_index=IGNORE)


def place_of(token: int, batch: Batch) -> Int[Tensor, "batch"]:
    """The position of each text where a token stands first; a ValueError where one lacks it."""
    here = batch.tokens == token
    if not here.any(1).all():
        raise ValueError(f"a text lacks the token {token}, off which the class is read; "
                         "plmlab.objectives.fine_tuning.extracted puts [END] there")
    return here.int().argmax(1)
