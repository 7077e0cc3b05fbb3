"""Networks for the long-memory tasks: one recurrent layer with a linear output layer on the last hidden state."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.layers.cells import Cell, IdentityRNNCell, LSTMCell, RNNCell, TorchGRUCell
from plmlab.layers.recurrent import Recurrent


class ForgetBiasLSTMCell(LSTMCell):
    """An LSTM whose two forget-gate biases initially add up to 1 (Gers et al. 2000; Jozefowicz et al. 2015)."""

    forget_bias = 1.0

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Initialize like `LSTMCell`, except for the two biases of the forget gate."""
        super().reset_parameters()
        for bias, value in ((self.bias_ih, self.forget_bias), (self.bias_hh, 0.0)):
            bias.chunk(4)[self.gates.index("forget")].fill_(value)


class OpenForgetGateLSTMCell(ForgetBiasLSTMCell):
    """An LSTM whose forget gate is initially open, σ(8) = 0.9997, as an approximation of the LSTM of 1997, which has no
    forget gate."""

    forget_bias = 8.0


class ChronoLSTMCell(LSTMCell):
    """An LSTM with chrono initialization (Tallec and Ollivier 2018): time constants of 1 … ``longest`` steps.

    The forget bias is log u and the input bias −log u, with u sampled uniformly from [1, longest].
    """

    def __init__(self, inputs: int, hidden: int, longest: int) -> None:
        self.longest = longest
        super().__init__(inputs, hidden)

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Initialize like `LSTMCell`, except for the biases."""
        super().reset_parameters()
        nn.init.zeros_(self.bias_ih)
        nn.init.zeros_(self.bias_hh)
        i, f, *_ = self.bias_ih.chunk(4)
        f.copy_(torch.empty_like(f).uniform_(1, self.longest).log())
        i.copy_(-f)


CELLS: dict[str, type[Cell]] = {"RNN": RNNCell, "IRNN": IdentityRNNCell, "LSTM": LSTMCell,
                                "LSTM, chrono": ChronoLSTMCell, "LSTM, forget bias 8": OpenForgetGateLSTMCell,
                                "GRU": TorchGRUCell}


class LastStateModel(nn.Module):
    """One recurrent layer with a linear layer on its last hidden state. ``steps`` sets ``longest`` of an LSTM with
    chrono initialization."""

    def __init__(self, cell: str, inputs: int, hidden: int, outputs: int, steps: int) -> None:
        super().__init__()
        kind = CELLS[cell]
        options: dict[str, Any] = {"longest": steps} if kind is ChronoLSTMCell else {}
        self.recurrent, self.output = Recurrent(kind, inputs, hidden, **options), nn.Linear(hidden, outputs)

    def forward(self, x: Float[Tensor, "batch time inputs"]) -> Float[Tensor, "batch outputs"]:
        """Outputs (values or logits) for each sequence."""
        return self.output(self.recurrent(x)[0][:, -1])
