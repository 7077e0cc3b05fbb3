"""Recurrent layers (循环): a cell runs over a text and passes a state from time step to time step.

The loop is the same for all recurrent networks; only the cell differs (`plmlab.layers.cells`). If PyTorch has a kernel
for the cell, that kernel runs all time steps with the same weights. Under ``watch`` or ``intervene`` the Python cell
runs instead, so that each hook point is called once per time step.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from plmlab.layers.cells import Cell, State
from plmlab.layers.hooks import HookPoint

warnings.filterwarnings("ignore", "LSTM with projections is not supported with oneDNN")

LayerStates = tuple[Float[Tensor, "passage batch _"], ...]
"""The states of all layers and directions in PyTorch's order: layer 0 forward, layer 0 backward, layer 1 …"""


class RecurrentLayer(nn.Module):
    """Recurrent layer with a forward cell and, optionally, a backward cell, whose outputs are concatenated."""

    cells: Sequence[Cell]

    def __init__(self, cells: list[Cell]) -> None:
        super().__init__()
        self.cells = nn.ModuleList(cells)  # type: ignore[assignment]
        self.hidden = HookPoint()

    def forward(self, x: Float[Tensor, "batch time inputs"], real: Bool[Tensor, "batch time"] | None,
                states: list[State]) -> tuple[Float[Tensor, "batch time width"], list[State]]:
        """Run the cells over the text. Returns the outputs and the final state of each cell.

        At padding, where ``real`` is False, the state is carried over unchanged and the output is zero.
        """
        outputs, last = [], []
        for backward, (cell, state) in enumerate(zip(self.cells, states, strict=True)):
            projected, steps = cell.read(x), range(x.shape[1])  # W x + b for all steps, [batch time rows]
            hidden: list[Tensor] = [x] * x.shape[1]
            for t in reversed(steps) if backward else steps:
                new_state = cell.step(projected[:, t], state)
                if real is not None:
                    is_real = real[:, t, None]
                    new_state = tuple(torch.where(is_real, new, old)
                                      for new, old in zip(new_state, state, strict=True))
                    hidden[t] = new_state[0] * is_real
                else:
                    hidden[t] = new_state[0]
                state = new_state
            outputs.append(torch.stack(hidden, 1))  # [batch time width of the cell]
            last.append(state)
        return self.hidden(torch.cat(outputs, -1)), last


class Recurrent(nn.Module):
    """Stack of recurrent layers, like ``torch.nn.LSTM`` but with any cell.

    Args:
        cell: class of the cells.
        inputs: input size.
        hidden: size of the hidden state.
        layers: number of layers.
        bidirectional: whether each layer also has a backward cell with its own weights.
        dropout: dropout probability between layers during training.
        choices: further arguments of the cell, such as ``projected`` of an LSTM.
    """

    loops_over_text = True
    """Whether the module may loop over time steps in Python, and is thus not compiled (`plmlab.train.compiling`)."""

    def __init__(self, cell: type[Cell], inputs: int, hidden: int, layers: int = 1, *, bidirectional: bool = False,
                 dropout: float = 0.0, **choices: Any) -> None:
        super().__init__()
        if layers < 1:
            raise ValueError(f"layers={layers}: a recurrent network needs at least one layer")
        self.bidirectional, self.dropout = bidirectional, dropout
        stack: list[RecurrentLayer] = []
        for _ in range(layers):
            built = [cell(inputs, hidden, **choices) for _ in range(1 + bidirectional)]
            stack.append(RecurrentLayer(built))
            inputs = sum(cell.width for cell in built)
        self.layers: Sequence[RecurrentLayer] = nn.ModuleList(stack)  # type: ignore[assignment]
        self.width = inputs

    @property
    def cells(self) -> list[Cell]:
        """All cells, in the order in which their states are passed to ``forward``."""
        return [cell for layer in self.layers for cell in layer.cells]

    @property
    def written_out(self) -> bool:
        """Whether the Python cells run, because a hook point has a callback or PyTorch has no kernel for the cell."""
        return self.cells[0].kernel is None or any(
            point.open for point in self.modules() if isinstance(point, HookPoint))

    def forward(self, x: Float[Tensor, "batch time inputs"], lengths: Int[Tensor, "batch"] | None = None,
                initial_states: LayerStates | None = None) -> tuple[Float[Tensor, "batch time width"], LayerStates]:
        """Run all layers. Returns the last layer's outputs (zero at padding) and the final states of each text.

        Args:
            x: the inputs.
            lengths: number of real (non-padding) time steps in each text, at least one; by default all.
            initial_states: one state per cell; zeros by default.

        Raises ValueError if ``lengths`` or the shapes of ``initial_states`` do not match the input.
        """
        if lengths is not None and not ((lengths > 0) & (lengths <= x.shape[1])).all():
            raise ValueError(f"lengths={lengths.tolist()!s:.80}: each must be at least 1 and at most "
                             f"{x.shape[1]}, the number of time steps in the batch")
        zeros = tuple(torch.stack(vectors) for vectors in zip(*(cell.zero(x) for cell in self.cells), strict=True))
        if initial_states is None:
            initial_states = zeros
        elif [vectors.shape for vectors in initial_states] != [vectors.shape for vectors in zeros]:
            raise ValueError(f"the initial states have the shapes {_sizes(initial_states)}; expected {_sizes(zeros)} "
                             "(layers × directions, batch, width)")
        return self._step(x, lengths, initial_states) if self.written_out else self._fused(x, lengths, initial_states)

    def _step(self, x: Tensor, lengths: Tensor | None, initial_states: LayerStates) -> tuple[Tensor, LayerStates]:
        real = None if lengths is None else torch.arange(x.shape[1], device=x.device) < lengths[:, None]
        states, last = list(zip(*(vectors.unbind() for vectors in initial_states), strict=True)), []
        for index, layer in enumerate(self.layers):
            if index:
                x = F.dropout(x, self.dropout, self.training)
            count = len(layer.cells)
            x, new_states = layer(x, real, states[index * count:(index + 1) * count])
            last += new_states
        return x, tuple(torch.stack(vectors) for vectors in zip(*last, strict=True))

    def _fused(self, x: Tensor, lengths: Tensor | None, initial_states: LayerStates) -> tuple[Tensor, LayerStates]:
        options = (True, len(self.layers), self.dropout if self.training else 0.0, self.training, self.bidirectional)
        flat, kernel = [weight for cell in self.cells for weight in cell.flat], self.cells[0].kernel
        assert kernel is not None
        if lengths is None:
            outputs, *last = kernel(x, initial_states if len(initial_states) > 1 else initial_states[0], flat, *options,
                                    True)
            return outputs, tuple(last)
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        initial = tuple(vectors[:, packed.sorted_indices] for vectors in initial_states)
        flat_outputs, *last = kernel(packed.data, packed.batch_sizes, initial if len(initial) > 1 else initial[0], flat,
                                     *options)
        outputs = pad_packed_sequence(PackedSequence(flat_outputs, *packed[1:]), batch_first=True,
                                      total_length=x.shape[1])[0]
        return outputs, tuple(vectors[:, packed.unsorted_indices] for vectors in last)


def _sizes(initial_states: LayerStates) -> str:
    return " and ".join(str(tuple(vectors.shape)) for vectors in initial_states)
