"""The cells of recurrent networks (循环神经网络): one step, from what is read and a state to the next state.

Weights have PyTorch's names, shapes and order of gates, so that its kernels run on them. All biases are doubled as
there: one for what is read, one for the state.
"""

from math import sqrt
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.layers.hooks import HookPoint

State = tuple[Float[Tensor, "batch _"], ...]
"""What a cell carries from step to step; the first vector is what others see of it."""


class Cell(nn.Module):
    """One step of a recurrence; a variant names its ``gates`` and says in ``step`` what they do.

    ``gates`` are the blocks of rows of the weights, ``carried`` is the number of vectors in a state, ``kernel``
    PyTorch's function that makes all steps with these weights at once, where there is one.
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
        """The weights, for ``inputs`` numbers read and ``width`` numbers of state that others see."""
        rows = len(self.gates) * self.hidden_size
        self.weight_ih = nn.Parameter(torch.empty(rows, inputs))
        self.weight_hh = nn.Parameter(torch.empty(rows, self.width))
        self.bias_ih, self.bias_hh = nn.Parameter(torch.empty(rows)), nn.Parameter(torch.empty(rows))

    def reset_parameters(self) -> None:
        """Every weight from U(−1/√hidden, 1/√hidden), as PyTorch does."""
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -1 / sqrt(self.hidden_size), 1 / sqrt(self.hidden_size))

    @property
    def flat(self) -> list[Tensor]:
        """The weights in the order in which the kernel wants them."""
        return [self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh]

    def read(self, x: Float[Tensor, "*steps inputs"]) -> Float[Tensor, "*steps rows"]:
        """What the weights make of the input alone, W x + b: of all steps at once, since no state is in it."""
        return F.linear(x, self.weight_ih, self.bias_ih)

    def recall(self, h: Float[Tensor, "batch width"]) -> Float[Tensor, "batch rows"]:
        """What the weights make of the state, U h + b."""
        return F.linear(h, self.weight_hh, self.bias_hh)

    def step(self, read: Float[Tensor, "batch rows"], state: State) -> State:
        """The next state, from what `read` has made of a step and the state before."""
        raise NotImplementedError

    def zero(self, like: Float[Tensor, "batch time inputs"]) -> State:
        """The state before anything was read."""
        return tuple(like.new_zeros(len(like), width) for width in self.widths)

    @property
    def widths(self) -> tuple[int, ...]:
        """How long each vector of a state is."""
        return (self.width,) + (self.hidden_size,) * (self.carried - 1)


class RNNCell(Cell):
    """h = tanh(W x + U h + b) (Elman 1990)."""

    gates = ("state",)
    kernel = staticmethod(torch.rnn_tanh)

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__(inputs, hidden)
        self.state = HookPoint()

    def step(self, read: Float[Tensor, "batch rows"], state: State) -> State:
        """The next state."""
        return (self.state(self.activation(read + self.recall(state[0]))),)

    def activation(self, x: Tensor) -> Tensor:
        """What bounds a state."""
        return x.tanh()


class IdentityRNNCell(RNNCell):
    """IRNN (Le et al. 2015): h = ReLU(W x + U h + b), where U begins as the identity, b as 0, and W small."""

    kernel = staticmethod(torch.rnn_relu)

    def reset_parameters(self) -> None:
        """U = 1, b = 0, W from N(0, 0.001) (§4)."""
        nn.init.eye_(self.weight_hh)
        nn.init.normal_(self.weight_ih, std=0.001)
        nn.init.zeros_(self.bias_ih)
        nn.init.zeros_(self.bias_hh)

    def activation(self, x: Tensor) -> Tensor:
        """The positive part."""
        return x.relu()


class LSTMCell(Cell):
    """Long short-term memory (长短期记忆网络; Hochreiter and Schmidhuber 1997; forget gate: Gers et al. 2000).

    c = f∘c + i∘g,  h = o∘tanh(c);  i, f, o = σ(W x + U h + b),  g = tanh(W x + U h + b). The state is (h, c).
    ``projected``: what others see of a cell, and it of itself, is not h but a shorter V h (LSTMP: Sak et al. 2014).
    """

    gates: ClassVar[tuple[str, ...]] = ("input", "forget", "candidate", "output")
    carried = 2
    kernel: ClassVar[Any] = staticmethod(torch.lstm)

    def __init__(self, inputs: int, hidden: int, projected: int | None = None) -> None:
        if projected is not None and not 0 < projected < hidden:
            raise ValueError(f"a state of {hidden} is to be projected to {projected}; give a smaller width, above 0")
        super().__init__(inputs, hidden, projected)
        self.input, self.forget, self.candidate, self.output = (HookPoint() for _ in range(4))
        self.memory, self.state = HookPoint(), HookPoint()

    def make_weights(self, inputs: int) -> None:
        """The weights, and the projection's ``weight_hr`` [projected, hidden], where there is one."""
        super().make_weights(inputs)
        self.weight_hr = (None if self.width == self.hidden_size
                          else nn.Parameter(torch.empty(self.width, self.hidden_size)))

    @property
    def flat(self) -> list[Tensor]:
        """The weights, the projection last."""
        return super().flat + ([] if self.weight_hr is None else [self.weight_hr])

    def step(self, read: Float[Tensor, "batch rows"], state: State) -> State:
        """The next hidden state and memory."""
        h, c = state
        i, f, g, o = (read + self.recall(h)).chunk(4, -1)
        c = self.forget(f.sigmoid()) * c + self.input(i.sigmoid()) * self.candidate(g.tanh())
        c = self.memory(self.bounded(c))
        return self.out(self.output(o.sigmoid()), c), c

    def out(self, o: Float[Tensor, "batch hidden"], c: Float[Tensor, "batch hidden"]) -> Float[Tensor, "batch width"]:
        """What is shown of the memory through the output gate."""
        h = o * c.tanh()
        return self.state(self.bounded(h if self.weight_hr is None else F.linear(h, self.weight_hr)))

    def bounded(self, x: Float[Tensor, "batch _"]) -> Float[Tensor, "batch _"]:
        """What a new memory or state may be: anything."""
        return x


class ClippedLSTMCell(LSTMCell):
    """An LSTM whose memory and state stay within ±``clip``, as ELMo's do (Peters et al. 2018; their code, not their
    paper, says so). ValueError for a clip that is not above 0."""

    kernel = None

    def __init__(self, inputs: int, hidden: int, projected: int | None = None, clip: float = 3.0) -> None:
        if clip <= 0:
            raise ValueError(f"memory and state are to stay within ±{clip:g}; give a number above 0")
        super().__init__(inputs, hidden, projected)
        self.clip = clip

    def bounded(self, x: Float[Tensor, "batch _"]) -> Float[Tensor, "batch _"]:
        """What lies beyond, cut."""
        return x.clamp(-self.clip, self.clip)


class PeepholeLSTMCell(LSTMCell):
    """An LSTM whose gates see the memory, each unit its own (Gers and Schmidhuber 2000): i and f see the old one,
    o the new one. ``weight_ch`` [3, hidden] has the weights for i, f and o: with a hidden size of 100, 0.4 % more."""

    kernel = None

    def make_weights(self, inputs: int) -> None:
        """The weights, and those of the peepholes."""
        super().make_weights(inputs)
        self.weight_ch = nn.Parameter(torch.empty(3, self.hidden_size))

    def step(self, read: Float[Tensor, "batch rows"], state: State) -> State:
        """The next hidden state and memory."""
        h, c = state
        i, f, g, o = (read + self.recall(h)).chunk(4, -1)
        to_input, to_forget, to_output = self.weight_ch
        i, f = self.input((i + to_input * c).sigmoid()), self.forget((f + to_forget * c).sigmoid())
        c = self.memory(f * c + i * self.candidate(g.tanh()))
        return self.out(self.output((o + to_output * c).sigmoid()), c), c


class CoupledLSTMCell(LSTMCell):
    """An LSTM that forgets as much as it takes in: f = 1 − i (Greff et al. 2017, "CIFG"); three quarters of the
    weights."""

    gates = ("input", "candidate", "output")
    kernel = None

    def step(self, read: Float[Tensor, "batch rows"], state: State) -> State:
        """The next hidden state and memory."""
        h, c = state
        i, g, o = (read + self.recall(h)).chunk(3, -1)
        i = self.input(i.sigmoid())
        c = self.memory(self.forget(1 - i) * c + i * self.candidate(g.tanh()))
        return self.out(self.output(o.sigmoid()), c), c


class GRUCell(Cell):
    """A gated recurrent unit (门控循环单元; Cho et al. 2014), in the textbooks' form.

    h̃ = tanh(W x + U (r∘h) + b),  h = (1 − z)∘h + z∘h̃,  r, z = σ(W x + U h + b). The reset gate r is applied to the
    state, before the matrix. (Cho et al. call 1 − z what is z here.)
    """

    gates = ("reset", "update", "candidate")

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__(inputs, hidden)
        self.reset, self.update, self.candidate, self.state = (HookPoint() for _ in range(4))

    def step(self, read: Float[Tensor, "batch rows"], state: State) -> State:
        """The next state."""
        h, = state
        of_gates, n = read.split([2 * self.hidden_size, self.hidden_size], -1)
        to_gates, to_candidate = self.weight_hh.split([2 * self.hidden_size, self.hidden_size])
        bias_of_gates, bias = self.bias_hh.split([2 * self.hidden_size, self.hidden_size])
        r, z = (of_gates + F.linear(h, to_gates, bias_of_gates)).chunk(2, -1)
        n = self.candidate((n + F.linear(self.reset(r.sigmoid()) * h, to_candidate, bias)).tanh())
        z = self.update(z.sigmoid())
        return (self.state((1 - z) * h + z * n),)


class TorchGRUCell(GRUCell):
    """The GRU as PyTorch and cuDNN have it: the reset gate comes after the matrix, r∘(U h + b), so that one product
    serves all gates; and z keeps the old state: h = z∘h + (1 − z)∘h̃, as in Cho et al."""

    kernel = staticmethod(torch.gru)

    def step(self, read: Float[Tensor, "batch rows"], state: State) -> State:
        """The next state."""
        h, = state
        r, z, n = read.chunk(3, -1)
        of_r, of_z, of_n = self.recall(h).chunk(3, -1)
        n = self.candidate((n + self.reset((r + of_r).sigmoid()) * of_n).tanh())
        z = self.update((z + of_z).sigmoid())
        return (self.state(z * h + (1 - z) * n),)
