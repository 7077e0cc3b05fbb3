"""Recurrent cells (循环神经网络): one time step, from the input and the previous state to the next state.

Weights have PyTorch's names, shapes and gate order, so that PyTorch's kernels can run on them. As in PyTorch, there are
two bias vectors: one for the input and one for the hidden state.
"""

from math import sqrt
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.layers.hooks import HookPoint

State = tuple[Float[Tensor, "batch _"], ...]
"""The recurrent state of a cell; its first vector is the output (the hidden state)."""


class Cell(nn.Module):
    """Base class of recurrent cells; subclasses name their ``gates`` and implement ``step``.

    ``gates`` names the row blocks of the weights, ``carried`` is the number of vectors in a state, and ``kernel`` is
    PyTorch's function that runs all time steps with these weights, or None if there is none.
    """

    gates: ClassVar[tuple[str, ...]]
    carried: ClassVar[int] = 1
    kernel: ClassVar[Any] = None

    def __init__(self, inputs: int, hidden: int, width: int | None = None) -> None:
        super().__init__()
        self.hidden_size, self.width = hidden, width or hidden
        self.make_weights(inputs)
        self.reset_parameters()

    def make_weights(self, inputs: int) -> None:
        """Create the weights for inputs of size ``inputs`` and outputs of size ``width``."""
        rows = len(self.gates) * self.hidden_size
        self.weight_ih = nn.Parameter(torch.empty(rows, inputs))
        self.weight_hh = nn.Parameter(torch.empty(rows, self.width))
        self.bias_ih, self.bias_hh = nn.Parameter(torch.empty(rows)), nn.Parameter(torch.empty(rows))

    def reset_parameters(self) -> None:
        """Initialize every weight from U(−1/√hidden, 1/√hidden), PyTorch's default."""
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -1 / sqrt(self.hidden_size), 1 / sqrt(self.hidden_size))

    @property
    def flat(self) -> list[Tensor]:
        """The weights in the order in which the kernel expects them."""
        return [self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh]

    def read(self, x: Float[Tensor, "*batch inputs"]) -> Float[Tensor, "*batch rows"]:
        """Input projection W x + b of all time steps at once, which does not depend on the state."""
        return F.linear(x, self.weight_ih, self.bias_ih)

    def recall(self, h: Float[Tensor, "batch width"]) -> Float[Tensor, "batch rows"]:
        """Hidden-state projection U h + b."""
        return F.linear(h, self.weight_hh, self.bias_hh)

    def step(self, read: Float[Tensor, "batch rows"], state: State) -> State:
        """Compute the next state from the input projection (`read`) at one time step and the previous state."""
        raise NotImplementedError

    def zero(self, like: Float[Tensor, "batch time inputs"]) -> State:
        """The initial state, all zeros."""
        return tuple(like.new_zeros(len(like), width) for width in self.widths)

    @property
    def widths(self) -> tuple[int, ...]:
        """The size of each vector in the state."""
        return (self.width,) + (self.hidden_size,) * (self.carried - 1)


class RNNCell(Cell):
    """Elman cell: h = tanh(W x + U h + b) (Elman 1990)."""

    gates = ("state",)
    kernel = staticmethod(torch.rnn_tanh)

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__(inputs, hidden)
        self.state = HookPoint()

    def step(self, read: Float[Tensor, "batch rows"], state: State) -> State:
        """Compute the next state."""
        return (self.state(self.activation(read + self.recall(state[0]))),)

    def activation(self, x: Tensor) -> Tensor:
        """Activation function of the hidden state: tanh."""
        return x.tanh()


class IdentityRNNCell(RNNCell):
    """IRNN (Le et al. 2015): h = ReLU(W x + U h + b), where U is initialized as the identity, b as 0, and W small."""

    kernel = staticmethod(torch.rnn_relu)

    def reset_parameters(self) -> None:
        """Initialize U to the identity, b to 0, and W from a normal distribution with standard deviation 0.001 (§4)."""
        nn.init.eye_(self.weight_hh)
        nn.init.normal_(self.weight_ih, std=0.001)
        nn.init.zeros_(self.bias_ih)
        nn.init.zeros_(self.bias_hh)

    def activation(self, x: Tensor) -> Tensor:
        """Activation function of the hidden state: ReLU."""
        return x.relu()


class LSTMCell(Cell):
    """Long short-term memory (长短期记忆网络; Hochreiter and Schmidhuber 1997; forget gate: Gers et al. 2000).

    c = f∘c + i∘g,  h = o∘tanh(c);  i, f, o = σ(W x + U h + b),  g = tanh(W x + U h + b). The state is (h, c):
    hidden state and cell state. With ``projected``, the output and the recurrent input are a lower-dimensional V h
    instead of h (LSTMP: Sak et al. 2014). The hook point ``memory`` is the cell state c.
    """

    gates: ClassVar[tuple[str, ...]] = ("input", "forget", "candidate", "output")
    carried = 2
    kernel: ClassVar[Any] = staticmethod(torch.lstm)

    def __init__(self, inputs: int, hidden: int, projected: int | None = None) -> None:
        if projected is not None and not 0 < projected < hidden:
            raise ValueError(f"projected={projected}: give a size above 0 and below the hidden size, {hidden}")
        super().__init__(inputs, hidden, projected)
        self.input, self.forget, self.candidate, self.output = (HookPoint() for _ in range(4))
        self.memory, self.state = HookPoint(), HookPoint()

    def make_weights(self, inputs: int) -> None:
        """Create the weights, including ``weight_hr`` [projected, hidden] if there is a projection."""
        super().make_weights(inputs)
        self.weight_hr = (None if self.width == self.hidden_size
                          else nn.Parameter(torch.empty(self.width, self.hidden_size)))

    @property
    def flat(self) -> list[Tensor]:
        """The weights in the kernel's order, the projection last."""
        return super().flat + ([] if self.weight_hr is None else [self.weight_hr])

    def step(self, read: Float[Tensor, "batch rows"], state: State) -> State:
        """Compute the next hidden state and cell state."""
        h, c = state
        i, f, g, o = (read + self.recall(h)).chunk(4, -1)  # [batch hidden] each
        c = self.forget(f.sigmoid()) * c + self.input(i.sigmoid()) * self.candidate(g.tanh())
        c = self.memory(self.bounded(c))
        return self.out(self.output(o.sigmoid()), c), c

    def out(self, o: Float[Tensor, "batch hidden"], c: Float[Tensor, "batch hidden"]) -> Float[Tensor, "batch width"]:
        """Compute the hidden state from the output gate and the cell state."""
        h = o * c.tanh()
        return self.state(self.bounded(h if self.weight_hr is None else F.linear(h, self.weight_hr)))

    def bounded(self, x: Float[Tensor, "batch _"]) -> Float[Tensor, "batch _"]:
        """Bound a new cell state or hidden state; the identity in an ordinary LSTM."""
        return x


class ClippedLSTMCell(LSTMCell):
    """LSTM whose cell state and hidden state are clipped to ±``clip``, as in ELMo (Peters et al. 2018; in the authors'
    code but not in the paper). Raises ValueError unless ``clip`` > 0."""

    kernel = None

    def __init__(self, inputs: int, hidden: int, projected: int | None = None, clip: float = 3.0) -> None:
        if clip <= 0:
            raise ValueError(f"clip={clip:g}: cell state and hidden state are clipped to ±clip; give a number above 0")
        super().__init__(inputs, hidden, projected)
        self.clip = clip

    def bounded(self, x: Float[Tensor, "batch _"]) -> Float[Tensor, "batch _"]:
        """Clip to ±``clip``."""
        return x.clamp(-self.clip, self.clip)


class PeepholeLSTMCell(LSTMCell):
    """LSTM with peephole connections from each unit's cell state to its gates (Gers and Schmidhuber 2000): the input
    and forget gates see the previous cell state, the output gate the new one. ``weight_ch`` [3, hidden] holds the
    weights for i, f and o. With 100 hidden units this adds 0.4 % to the parameters."""

    kernel = None

    def make_weights(self, inputs: int) -> None:
        """Create the weights, including the peephole weights."""
        super().make_weights(inputs)
        self.weight_ch = nn.Parameter(torch.empty(3, self.hidden_size))

    def step(self, read: Float[Tensor, "batch rows"], state: State) -> State:
        """Compute the next hidden state and cell state."""
        h, c = state
        i, f, g, o = (read + self.recall(h)).chunk(4, -1)
        to_input, to_forget, to_output = self.weight_ch
        i, f = self.input((i + to_input * c).sigmoid()), self.forget((f + to_forget * c).sigmoid())
        c = self.memory(f * c + i * self.candidate(g.tanh()))
        return self.out(self.output((o + to_output * c).sigmoid()), c), c


class CoupledLSTMCell(LSTMCell):
    """LSTM with coupled input and forget gates, f = 1 − i (Greff et al. 2017, "CIFG"), and three quarters of an LSTM's
    weights."""

    gates = ("input", "candidate", "output")
    kernel = None

    def step(self, read: Float[Tensor, "batch rows"], state: State) -> State:
        """Compute the next hidden state and cell state."""
        h, c = state
        i, g, o = (read + self.recall(h)).chunk(3, -1)  # [batch hidden] each
        i = self.input(i.sigmoid())
        c = self.memory(self.forget(1 - i) * c + i * self.candidate(g.tanh()))
        return self.out(self.output(o.sigmoid()), c), c


class GRUCell(Cell):
    """Gated recurrent unit (门控循环单元; Cho et al. 2014) in textbook form.

    h̃ = tanh(W x + U (r∘h) + b),  h = (1 − z)∘h + z∘h̃,  r, z = σ(W x + U h + b). The reset gate r multiplies the state
    before the matrix product. The update gate z here corresponds to 1 − z in Cho et al.
    """

    gates = ("reset", "update", "candidate")

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__(inputs, hidden)
        self.reset, self.update, self.candidate, self.state = (HookPoint() for _ in range(4))

    def step(self, read: Float[Tensor, "batch rows"], state: State) -> State:
        """Compute the next state."""
        h, = state
        gates_in, n = read.split([2 * self.hidden_size, self.hidden_size], -1)
        to_gates, to_candidate = self.weight_hh.split([2 * self.hidden_size, self.hidden_size])
        gates_bias, bias = self.bias_hh.split([2 * self.hidden_size, self.hidden_size])
        r, z = (gates_in + F.linear(h, to_gates, gates_bias)).chunk(2, -1)
        n = self.candidate((n + F.linear(self.reset(r.sigmoid()) * h, to_candidate, bias)).tanh())
        z = self.update(z.sigmoid())
        return (self.state((1 - z) * h + z * n),)


class TorchGRUCell(GRUCell):
    """GRU as in PyTorch and cuDNN: the reset gate is applied after the matrix product, r∘(U h + b), so that one product
    serves all gates; and z weights the old state, h = z∘h + (1 − z)∘h̃, as in Cho et al."""

    kernel = staticmethod(torch.gru)

    def step(self, read: Float[Tensor, "batch rows"], state: State) -> State:
        """Compute the next state."""
        h, = state
        r, z, n = read.chunk(3, -1)  # [batch hidden] each
        r_h, z_h, n_h = self.recall(h).chunk(3, -1)
        n = self.candidate((n + self.reset((r + r_h).sigmoid()) * n_h).tanh())
        z = self.update((z + z_h).sigmoid())
        return (self.state(z * h + (1 - z) * n),)
