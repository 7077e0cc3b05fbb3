"""Recurrent language models (循环语言模型), which predict the next token from a hidden state passed from time step to
time step.

There is one model class, with a cell class per variant: Elman's RNN (Mikolov et al. 2010), the LSTM (Sundermeyer et al.
2012; Zaremba et al. 2014), the GRU. Differences from Zaremba et al.: the output layer is tied to the embedding matrix
(Press and Wolf 2017); each window of a text starts from a zero state instead of the last state of the previous window;
and weights have PyTorch's default initialization instead of a uniform one from −0.05 to 0.05.
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
    """Configuration of a recurrent language model; ``model`` is the width of an embedding and of a hidden state."""

    vocab: int
    layers: int = 2
    model: int = 128
    dropout: float = 0.5

    @classmethod
    def tiny(cls, vocab: int, time: int = 0) -> Self:
        """A model that trains in seconds on two CPU cores. It has no dropout, because it cannot overfit in that time.
        ``time`` is ignored: a recurrent model has no maximum length."""
        return cls(vocab, dropout=0.0)

    @classmethod
    def base(cls) -> Self:
        """The "medium" LSTM of Zaremba et al. (§4.1), with the 10,000-word vocabulary of the Penn Treebank."""
        return cls(vocab=10_000, layers=2, model=650)


@dataclass
class RecurrentState:
    """Decoding state, one row per text: the states of all layers, None before the first token."""

    carried: LayerStates | None = None

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep only the given rows of the batch, in the given order."""
        if self.carried is not None:
            self.carried = tuple(vectors[:, rows] for vectors in self.carried)


class RecurrentLanguageModel(nn.Module):
    """Base class of the recurrent language models; a subclass sets ``cell_class``."""

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
        """Next-token logits at every time step. Padding is on the right, where it does not affect the real tokens."""
        return self.token_logits(self.hidden_states(batch))

    def hidden_states(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Outputs of the last layer, one per time step."""
        return self.read(batch.tokens, None)[0]

    def read(self, tokens: Int[Tensor, "batch time"], carried: LayerStates | None,
             ) -> tuple[Float[Tensor, "batch time model"], LayerStates]:
        """Run the model from the initial state ``carried``; returns the last layer's outputs and the final state."""
        hidden, carried = self.recurrent(self.embedded(self.dropout(self.token(tokens))), None, carried)
        return self.dropout(hidden), carried

    def token_logits(self, hidden: Float[Tensor, "*batch model"]) -> Float[Tensor, "*batch vocab"]:
        """Next-token logits from a hidden state."""
        return F.linear(hidden, self.token.weight, self.bias)

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean cross-entropy per target, in nats."""
        return F.cross_entropy(self(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE)

    def start(self) -> RecurrentState:
        """An empty decoding state."""
        return RecurrentState()

    def step(self, tokens: Int[Tensor, "batch time"], state: RecurrentState) -> Float[Tensor, "batch vocab"]:
        """Append ``tokens`` to ``state`` and return the logits of the next token."""
        hidden, state.carried = self.read(tokens, state.carried)
        return self.token_logits(hidden[:, -1])


@model("rnn-lm", RecurrentConfig, RECURRENT, Pretraining("rnn", causal, Tokenizer.bpe, stream=True))
class RNNLanguageModel(RecurrentLanguageModel):
    """RNN language model: a recurrent language model with Elman cells."""

    cell_class = RNNCell


@model("lstm-lm", RecurrentConfig, RECURRENT, Pretraining("lstm", causal, Tokenizer.bpe, stream=True))
class LSTMLanguageModel(RecurrentLanguageModel):
    """LSTM language model: a recurrent language model with LSTM cells."""

    cell_class = LSTMCell


@model("gru-lm", RecurrentConfig, RECURRENT, Pretraining("gru", causal, Tokenizer.bpe, stream=True))
class GRULanguageModel(RecurrentLanguageModel):
    """GRU language model: a recurrent language model with GRU cells in PyTorch's form, which has a fused kernel."""

    cell_class = TorchGRUCell
