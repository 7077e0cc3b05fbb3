"""Classification from the vector of one position: by the words that verbalize the classes, or by a new linear layer.

The position is the label ``position`` of an Example, one integer per text: the one that predicts the word of a blank.
"""

from collections.abc import Sequence
from copy import deepcopy

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import Batch
from plmlab.models.bert import BERTPretraining
from plmlab.models.glm import GLMPretraining
from plmlab.models.task_heads import SentenceClassifier
from plmlab.objectives.fine_tuning import label_of


def at_position(hidden: Float[Tensor, "batch time model"], batch: Batch) -> Float[Tensor, "batch model"]:
    """The hidden state at the labelled position of each text."""
    positions = label_of(batch, "position")
    return hidden[torch.arange(len(positions), device=positions.device), positions]


class ClozeClassifier(nn.Module):
    """A copy of a pretrained model with its own output layer and no new parameters: the probability of a class is that
    of its word among the words of all classes (Du et al. 2022, §2.3).

    ``verbalizers`` are the ids of these words, one per class, in the order of the classes.
    """

    def __init__(self, pretrained: GLMPretraining | BERTPretraining, verbalizers: Sequence[int]) -> None:
        super().__init__()
        self.pretrained = deepcopy(pretrained)
        self.verbalizers = list(verbalizers)

    def forward(self, batch: Batch) -> Float[Tensor, "batch label"]:
        """Logits of each text's classes: those of their verbalizers."""
        hidden = at_position(self.pretrained.encoder(batch), batch)
        return self.pretrained.token_logits(hidden)[:, self.verbalizers]

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean over texts of −log p(class); label ``class``, one integer per text."""
        return F.cross_entropy(self(batch), label_of(batch, "class"))


class PositionClassifier(SentenceClassifier):
    """An encoder with a new linear layer on the hidden state at the labelled position."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch label"]:
        """Logits of each text's classes."""
        return self.output(self.dropout(at_position(self.encoder(batch), batch)))
