"""The class of a text, said from the vector of one position: by the words that stand for the classes, or by a new
layer.

The position is the label ``position`` of an Example, one number a text: where the word of a blank is said.
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
    """The vector of each text's position that is asked."""
    positions = label_of(batch, "position")
    return hidden[torch.arange(len(positions), device=positions.device), positions]


class ClozeClassifier(nn.Module):
    """A copy of a pretrained model with its own output and nothing new: a class is as likely as its word is among the
    words of all classes (Du et al. 2022, §2.3).

    ``verbalizers`` are the ids of these words, one a class, in the order of the classes.
    """

    def __init__(self, pretrained: GLMPretraining | BERTPretraining, verbalizers: Sequence[int]) -> None:
        super().__init__()
        self.pretrained = deepcopy(pretrained)
        self.verbalizers = list(verbalizers)

    def forward(self, batch: Batch) -> Float[Tensor, "batch label"]:
        """The logits of each text's class: those of the words that stand for them."""
        said = at_position(self.pretrained.encoder(batch), batch)
        return self.pretrained.token_logits(said)[:, self.verbalizers]

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean over texts of −log p(class); label ``class``, one number a text."""
        return F.cross_entropy(self(batch), label_of(batch, "class"))


class PositionClassifier(SentenceClassifier):
    """An encoder with a new linear layer on the vector of the position that is asked."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch label"]:
        """The logits of each text's class."""
        return self.output(self.dropout(at_position(self.encoder(batch), batch)))
