"""What BERT is compared with: readers of its layers (§5.3), and a BERT that sees the left side only (§5.1, table 5).

Each reads a batch as BERT does and gives a vector a position, so that the heads of the four tasks stand on it. What is
new in an encoder, and so not pretrained, is called ``top``. In position 0 they give what the whole text is judged by.
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
    """Two LSTMs a layer, one from the left and one from the right, each half as wide as what both give."""

    def __init__(self, inputs: int, outputs: int, layers: int) -> None:
        super().__init__()
        self.recurrent = Recurrent(LSTMCell, inputs, outputs // 2, layers, bidirectional=True)

    def forward(self, x: Float[Tensor, "batch time inputs"], batch: Batch) -> Float[Tensor, "batch time outputs"]:
        """A vector for each position, from what stands on both sides of it; padding is not read, and gets zeros."""
        return self.recurrent(x, batch.padding_mask.sum(1))[0]


class Encoder(BERT):
    """A BERT with something on top of it. ``features`` names the method that gives what the top stands on."""

    top: nn.Module
    features = "forward"

    @classmethod
    def over(cls, bert: BERT) -> Self:
        """This encoder, with a copy of the weights of a BERT; what is on top is new."""
        made = cls(bert.config)
        missing, unexpected = made.load_state_dict(bert.state_dict(), strict=False)
        assert not unexpected and all(name.startswith("top.") for name in missing)
        return made


class AllLayers(Encoder):
    """The vectors of all layers side by side, the embeddings' too; a text is judged by the mean of its positions.

    ``top`` is one matrix: with the head's behind it, still a linear reader.
    """

    features = "all_layers"

    def __init__(self, config: BERTConfig) -> None:
        super().__init__(config)
        self.top = self.reader(config.model * (config.layers + 1), config.model)

    def reader(self, inputs: int, outputs: int) -> nn.Module:
        """What makes of all layers' vectors one as wide as the model."""
        return nn.Linear(inputs, outputs)

    def read(self, layers: Float[Tensor, "batch time all"], batch: Batch) -> Float[Tensor, "batch time model"]:
        """What is on top makes of all layers."""
        return self.top(layers)

    def all_layers(self, batch: Batch) -> Float[Tensor, "batch time all"]:
        """The vectors of all layers side by side."""
        return torch.cat([*self.all_hidden_states(batch)], -1)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """A vector for each position; in position 0 the mean of all."""
        x, real = self.read(self.all_layers(batch), batch), batch.padding_mask[..., None]
        mean = (x * real).sum(1, keepdim=True) / real.sum(1, keepdim=True)
        return torch.cat([mean, x[:, 1:]], 1)

    def pool(self, hidden: Float[Tensor, "batch time model"]) -> Float[Tensor, "batch model"]:
        """The mean, as it stands in position 0."""
        return hidden[:, 0]


class AllLayersBiLSTM(AllLayers):
    """The same, read by a BiLSTM of two layers, as in the paper's feature-based approach (§5.3; its own takes the last
    four of twelve layers)."""

    def reader(self, inputs: int, outputs: int) -> nn.Module:
        """Two layers, as wide together as the model."""
        return BiLSTM(inputs, outputs, 2)

    def read(self, layers: Float[Tensor, "batch time all"], batch: Batch) -> Float[Tensor, "batch time model"]:
        """The BiLSTM's vectors."""
        return self.top(layers, batch)


class LeftToRight(Encoder):
    """A BERT in which a position sees itself and what stands left of it, as in GPT (table 5, "LTR")."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """The vector of each position, made of its left side."""
        return super().forward(replace(batch, visible=replace(batch.visible, causal=True)))


class LastPosition(LeftToRight):
    """The same for tuning: a text is judged by its last position, the only one that sees all; [CLS] sees itself
    alone."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """The vector of each position; in position 0 that of the last."""
        x = super().forward(batch)
        last = x[torch.arange(len(x)), batch.padding_mask.sum(1) - 1]
        return torch.cat([last[:, None], x[:, 1:]], 1)


class LeftToRightBiLSTM(LeftToRight):
    """The same with a BiLSTM on top, which sees both sides (table 5, "+ BiLSTM")."""

    def __init__(self, config: BERTConfig) -> None:
        super().__init__(config)
        self.top = BiLSTM(config.model, config.model, 1)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """The BiLSTM's vectors: that of position 0 has read the whole text from the right."""
        return self.top(super().forward(batch), batch)
