"""Classification from the hidden state at one position, using the words that verbalize the classes or a new linear
layer.

The position is given by the label ``position`` of an Example, one integer per text. It is the position that predicts
the word of a blank.
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
    positions = label_of(batch, "position", "chapters.ch12.cloze_tasks.read_by_bert")
    return hidden[torch.arange(len(positions), device=positions.device), positions]


class ClozeClassifier(nn.Module):
    """A copy of a pretrained model that uses the model's own output layer and no new parameters: the probability of a
    class is the probability of its word, normalized over the words of all classes (Du et al. 2022, §2.3).

    ``verbalizers`` holds the ids of these words, one per class, in the order of the classes.
    """

    def __init__(self, pretrained: GLMPretraining | BERTPretraining, verbalizers: Sequence[int]) -> None:
        super().__init__()
        self.pretrained = deepcopy(pretrained)
        self.verbalizers = list(verbalizers)

    def forward(self, batch: Batch) -> Float[Tensor, "batch label"]:
        """Logits of the classes of each text, which are the logits of their verbalizers."""
        hidden = at_position(self.pretrained.encoder(batch), batch)
        return self.pretrained.token_logits(hidden)[:, self.verbalizers]

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean of −log p(class) over the texts; the label ``class`` is one integer per text."""
        return F.cross_entropy(self(batch), label_of(batch, "class", "chapters.ch12.cloze_tasks.read_by_bert"))


class PositionClassifier(SentenceClassifier):
    """An encoder with a new linear layer on the hidden state at the labelled position."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch label"]:
        """Logits of the classes of each text."""
        return self.output(self.dropout(at_position(self.encoder(batch), batch)))
