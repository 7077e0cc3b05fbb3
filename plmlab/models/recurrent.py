"""Recurrent language models (循环语言模型): a state is carried from word to word, and says which word comes next.

One model, whose cell a variant names: Elman's RNN (Mikolov et al. 2010), the LSTM (Sundermeyer et al. 2012; Zaremba et
al. 2014), the GRU. What differs from Zaremba et al.: the output shares the embedding's weights (Press and Wolf 2017);
each window of a text begins with a state of zeros, where theirs goes on with the last one's; and weights begin as
PyTorch's do, theirs evenly from −0.05 to 0.05.
"""

from dataclasses import dataclass
from typing import Self

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.layers.cells import Cell, LSTMCell, RNNCell, TorchGRUCell
from plmlab.layers.hooks import HookPoint
from plmlab.layers.recurrent import LayerStates, Recurrent
from plmlab.models.architectures import RECURRENT
from plmlab.models.registry import Pretraining, model
from plmlab.objectives import causal
from plmlab.text.tokenizers import Tokenizer


@dataclass(frozen=True)
class RecurrentConfig:
    """The size of a recurrent language model; ``model`` is the width of an embedding and of a state."""

    vocab: int
    layers: int = 2
    model: int = 128
    dropout: float = 0.5

    @classmethod
    def tiny(cls, vocab: int, time: int = 0) -> Self:
        """Trains in seconds on two cores. Too small to overfit in that time, so it needs no dropout. A state may be
        carried as far as one likes: ``time`` is not needed."""
        return cls(vocab, dropout=0.0)

    @classmethod
    def base(cls) -> Self:
        """The "medium" LSTM of Zaremba et al. (§4.1), for the 10,000 words of the Penn Treebank."""
        return cls(vocab=10_000, layers=2, model=650)


@dataclass
class RecurrentState:
    """Texts half read, one a row: the states of all layers, None before the first word."""

    carried: LayerStates | None = None

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep these rows of the batch, in this order."""
        if self.carried is not None:
            self.carried = tuple(vectors[:, rows] for vectors in self.carried)


class RecurrentLanguageModel(nn.Module):
    """What all have in common; a variant names its ``cell_class``."""

    cell_class: type[Cell]

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__()
        self.config = config
        self.token = nn.Embedding(config.vocab, config.model)
        nn.init.normal_(self.token.weight, std=0.1)
        self.embedded = HookPoint()
        self.recurrent = Recurrent(self.cell_class, config.model, config.model, config.layers, dropout=config.dropout)
        self.final_norm: nn.Module = nn.Identity()
        self.bias = nn.Parameter(torch.zeros(config.vocab))
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time vocab"]:
        """The logits of each step's prediction. Padding stands behind a text, where it changes none of its steps."""
        return self.token_logits(self.hidden_states(batch))

    def hidden_states(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """What the last layer shows at each step."""
        return self.read(batch.tokens, None)[0]

    def read(self, tokens: Int[Tensor, "batch time"], carried: LayerStates | None,
             ) -> tuple[Float[Tensor, "batch time model"], LayerStates]:
        """What the last layer shows at each step, after what is carried; and what is carried on."""
        hidden, carried = self.recurrent(self.embedded(self.dropout(self.token(tokens))), None, carried)
        return self.dropout(hidden), carried

    def token_logits(self, hidden: Float[Tensor, "*steps model"]) -> Float[Tensor, "*steps vocab"]:
        """The logits of the token that follows a step with this hidden state."""
        return F.linear(hidden, self.token.weight, self.bias)

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean cross-entropy in nats a target."""
        return F.cross_entropy(self(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE)

    def start(self) -> RecurrentState:
        """The state of having read nothing."""
        return RecurrentState()

    def step(self, tokens: Int[Tensor, "batch time"], state: RecurrentState) -> Float[Tensor, "batch vocab"]:
        """Read on after what ``state`` remembers, and give the logits of the token that comes next."""
        hidden, state.carried = self.read(tokens, state.carried)
        return self.token_logits(hidden[:, -1])


@model("rnn-lm", RecurrentConfig, RECURRENT, Pretraining("rnn", causal, Tokenizer.bpe, stream=True))
class RNNLanguageModel(RecurrentLanguageModel):
    """Elman's cells."""

    cell_class = RNNCell


@model("lstm-lm", RecurrentConfig, RECURRENT, Pretraining("lstm", causal, Tokenizer.bpe, stream=True))
class LSTMLanguageModel(RecurrentLanguageModel):
    """LSTM cells."""

    cell_class = LSTMCell


@model("gru-lm", RecurrentConfig, RECURRENT, Pretraining("gru", causal, Tokenizer.bpe, stream=True))
class GRULanguageModel(RecurrentLanguageModel):
    """GRU cells, in PyTorch's form, which has a kernel."""

    cell_class = TorchGRUCell
