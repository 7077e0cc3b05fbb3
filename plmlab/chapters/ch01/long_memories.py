"""The networks that are put to tasks of long memory: a recurrence, and what is answered from its last state."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.layers.cells import Cell, IdentityRNNCell, LSTMCell, RNNCell, TorchGRUCell
from plmlab.layers.recurrent import Recurrent


class ForgetBiasLSTMCell(LSTMCell):
    """An LSTM whose forget biases begin at 1 in sum (Gers et al. 2000; Jozefowicz et al. 2015)."""

    forget_bias = 1.0

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """As an LSTM's, but for the forget gate's two biases."""
        super().reset_parameters()
        for bias, value in ((self.bias_ih, self.forget_bias), (self.bias_hh, 0.0)):
            bias.chunk(4)[self.gates.index("forget")].fill_(value)


class OpenLSTMCell(ForgetBiasLSTMCell):
    """An LSTM that begins by keeping all, σ(8) = 0.9997, as that of 1997 does, which has no forget gate."""

    forget_bias = 8.0


class ChronoLSTMCell(LSTMCell):
    """An LSTM whose units begin with memories of 1 … ``longest`` steps: forget bias log u, input bias −log u, with u
    drawn evenly from 1 … longest (Tallec and Ollivier 2018)."""

    def __init__(self, inputs: int, hidden: int, longest: int) -> None:
        self.longest = longest
        super().__init__(inputs, hidden)

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """As an LSTM's, but for the two biases."""
        super().reset_parameters()
        nn.init.zeros_(self.bias_ih)
        nn.init.zeros_(self.bias_hh)
        i, f, *_ = self.bias_ih.chunk(4)
        f.copy_(torch.empty_like(f).uniform_(1, self.longest).log())
        i.copy_(-f)


CELLS: dict[str, type[Cell]] = {"RNN": RNNCell, "IRNN": IdentityRNNCell, "LSTM": LSTMCell,
                                "LSTM, chrono": ChronoLSTMCell, "LSTM, forget bias 8": OpenLSTMCell,
                                "GRU": TorchGRUCell}


class FromLastState(nn.Module):
    """A recurrence of one layer, and a linear answer from its last state; ``steps`` is what a chrono LSTM is told."""

    def __init__(self, cell: str, inputs: int, hidden: int, outputs: int, steps: int) -> None:
        super().__init__()
        kind = CELLS[cell]
        told: dict[str, Any] = {"longest": steps} if kind is ChronoLSTMCell else {}
        self.recurrent, self.output = Recurrent(kind, inputs, hidden, **told), nn.Linear(hidden, outputs)

    def forward(self, x: Float[Tensor, "batch time inputs"]) -> Float[Tensor, "batch outputs"]:
        """The answer about each sequence."""
        return self.output(self.recurrent(x)[0][:, -1])
