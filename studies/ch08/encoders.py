"""Encoders that are compared with BERT: feature-based probes of its layers (§5.3), and a left-to-right BERT (§5.1,
table 5).

Each encoder takes the same batches as BERT and returns one vector per position, so that the heads of the four tasks can
be used on top of it. The new part of an encoder, which is not pretrained, is called ``top``. Position 0 holds the
representation used to classify the whole text.
"""

from dataclasses import replace
from typing import Self

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.layers.cells import LSTMCell
from plmlab.layers.recurrent import Recurrent
from plmlab.models.bert import BERT, BERTConfig


class BiLSTM(nn.Module):
    """Bidirectional LSTM; each direction has half of the output width."""

    def __init__(self, inputs: int, outputs: int, layers: int) -> None:
        super().__init__()
        self.recurrent = Recurrent(LSTMCell, inputs, outputs // 2, layers, bidirectional=True)

    def forward(self, x: Float[Tensor, "batch time inputs"], batch: Batch) -> Float[Tensor, "batch time outputs"]:
        """Forward and backward hidden states, concatenated at each position. Padding is skipped and its outputs are
        zero."""
        return self.recurrent(x, batch.padding_mask.sum(1))[0]


class Encoder(BERT):
    """BERT with a new module, ``top``, on its outputs. ``features`` is the name of the method that returns the input of
    ``top``.
    """

    top: nn.Module
    features = "forward"

    @classmethod
    def with_weights_from(cls, bert: BERT) -> Self:
        """An encoder with a copy of the weights of a BERT; the weights of ``top`` are random."""
        encoder = cls(bert.config)
        missing, unexpected = encoder.load_state_dict(bert.state_dict(), strict=False)
        assert not unexpected and all(name.startswith("top.") for name in missing)
        return encoder


class AllLayers(Encoder):
    """The concatenated outputs of all layers, including the embeddings; a text is classified by their mean over
    positions.

    ``top`` is a linear layer, so ``top`` and the task head together still form a linear classifier.
    """

    features = "all_layers"

    def __init__(self, config: BERTConfig) -> None:
        super().__init__(config)
        self.top = self.reader(config.model * (config.layers + 1), config.model)

    def reader(self, inputs: int, outputs: int) -> nn.Module:
        """The module that maps the concatenated layers to the model width."""
        return nn.Linear(inputs, outputs)

    def read(self, layers: Float[Tensor, "batch time all"], batch: Batch) -> Float[Tensor, "batch time model"]:
        """Output of ``top`` for the concatenated layers."""
        return self.top(layers)

    def all_layers(self, batch: Batch) -> Float[Tensor, "batch time all"]:
        """The outputs of all layers, concatenated along the last axis."""
        return torch.cat([*self.all_hidden_states(batch)], -1)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """One vector per position; position 0 holds the mean over all positions that are not padding."""
        x, real = self.read(self.all_layers(batch), batch), batch.padding_mask[..., None]
        mean = (x * real).sum(1, keepdim=True) / real.sum(1, keepdim=True)
        return torch.cat([mean, x[:, 1:]], 1)

    def pool(self, hidden: Float[Tensor, "batch time model"]) -> Float[Tensor, "batch model"]:
        """The mean over positions, which `forward` puts in position 0."""
        return hidden[:, 0]


class AllLayersBiLSTM(AllLayers):
    """`AllLayers` with a two-layer BiLSTM as ``top``, as in the paper's feature-based approach (§5.3, which uses the
    last four of twelve layers)."""

    def reader(self, inputs: int, outputs: int) -> nn.Module:
        """A two-layer BiLSTM; the width of both directions together is the model width."""
        return BiLSTM(inputs, outputs, 2)

    def read(self, layers: Float[Tensor, "batch time all"], batch: Batch) -> Float[Tensor, "batch time model"]:
        """Outputs of the BiLSTM."""
        return self.top(layers, batch)


class LeftToRight(Encoder):
    """BERT with a causal mask: each position attends to itself and to positions on its left, as in GPT (table 5,
    "LTR")."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Final hidden states, one per position, each computed from its left context."""
        return super().forward(replace(batch, visible=replace(batch.visible, causal=True)))


class LastPosition(LeftToRight):
    """`LeftToRight` for fine-tuning: a text is classified by its last position, the only position that attends to the
    whole text ([CLS] attends only to itself)."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Final hidden states, one per position; position 0 holds the hidden state of the last token."""
        x = super().forward(batch)
        last = x[torch.arange(len(x)), batch.padding_mask.sum(1) - 1]
        return torch.cat([last[:, None], x[:, 1:]], 1)


class LeftToRightBiLSTM(LeftToRight):
    """`LeftToRight` with a BiLSTM as ``top``, which conditions on both sides (table 5, "+ BiLSTM")."""

    def __init__(self, config: BERTConfig) -> None:
        super().__init__(config)
        self.top = BiLSTM(config.model, config.model, 1)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Outputs of the BiLSTM; at position 0 its backward direction has processed the whole text."""
        return self.top(super().forward(batch), batch)
