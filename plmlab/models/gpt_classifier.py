"""GPT fine-tuned for classification (Radford et al. 2018, §3.2): the class is predicted from the last token.

Difference from the paper: in its equations 4 and 5 the log-probabilities are summed over the whole data set; here, as
in the authors' code, each term is a mean, over texts and over tokens.
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
    """Configuration of a GPT classifier.

    Attributes:
        gpt: class and configuration of the GPT.
        labels: the number of classes.
        extract: the id of the extract token, [END].
        auxiliary: λ, the weight of the auxiliary language-modelling loss (0.5 in the paper).
    """

    gpt: ModelSpec
    labels: int = 2
    extract: int = 6
    auxiliary: float = 0.5

    @classmethod
    def tiny(cls, vocab: int, time: int = 64) -> Self:
        """A classifier on a tiny GPT-2."""
        return cls(ModelSpec(GPT2, GPTConfig.tiny(vocab, time)))


def _text(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> Example:
    return gpt_classification(tokens, 0, vocab=vocab, pair=second or ())


CLASSIFIER = Architecture("decoder", _text)
"""[START] A [END], or [START] A [SEP] B [END]: the class is predicted from [END] (fig. 1)."""


@model("gpt-classifier", GPTClassifierConfig, CLASSIFIER)
class GPTClassifier(nn.Module):
    """GPT or GPT-2 with a classification head: softmax(h W_y), where h is the final hidden state of the extract token
    (eq. 3)."""

    def __init__(self, config: GPTClassifierConfig) -> None:
        super().__init__()
        self.config = config
        self.gpt = config.gpt.build()
        self.dropout = nn.Dropout(config.gpt.config.dropout)
        self.output = nn.Linear(config.gpt.config.model, config.labels, bias=False)
        initialise(self.output)

    @classmethod
    def from_pretrained(cls, gpt: GPT, labels: int = 2, *, extract: int = 6, auxiliary: float = 0.5) -> Self:
        """Build a classifier from a copy of a pretrained GPT, with a new output layer; the original stays unchanged.
        ``extract`` is the id of [END]."""
        return with_pretrained(gpt, cls(GPTClassifierConfig(ModelSpec.of(gpt), labels, extract, auxiliary)), "gpt")

    def forward(self, batch: Batch) -> Float[Tensor, "batch label"]:
        """Class logits of each text."""
        return self.classify(batch, self.gpt.hidden_states(batch))

    def classify(self, batch: Batch, hidden: Float[Tensor, "batch time model"]) -> Float[Tensor, "batch label"]:
        """Class logits from the final hidden states."""
        texts = torch.arange(len(hidden), device=hidden.device)
        return self.output(self.dropout(hidden[texts, place_of(self.config.extract, batch)]))  # one [model] per text

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """L = L_class + λ · L_words (eq. 5): the mean over texts of −log p(class), with label ``class``, plus λ times
        the mean over targets of −log p(token)."""
        hidden = self.gpt.hidden_states(batch)
        label = label_of(batch, "class", "objectives.gpt_classification")
        loss = F.cross_entropy(self.classify(batch, hidden), label, ignore_index=IGNORE)
        if self.config.auxiliary == 0:
            return loss
        words = self.gpt.token_logits(hidden).flatten(0, 1)
        return loss + self.config.auxiliary * F.cross_entropy(words, batch.targets.flatten(), ignore_index=IGNORE)


def place_of(token: int, batch: Batch) -> Int[Tensor, "batch"]:
    """Position of the first occurrence of a token in each text. Raises ValueError if a text does not contain the
    token."""
    is_token = batch.tokens == token
    if not is_token.any(1).all():
        raise ValueError(f"a text does not contain token {token}, from which the class is predicted; make the Examples "
                         "with plmlab.objectives.fine_tuning.gpt_classification, which appends [END]")
    return is_token.int().argmax(1)
