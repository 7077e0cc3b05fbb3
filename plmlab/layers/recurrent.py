"""Recurrence (循环): a cell steps over a text, and carries a state from step to step.

One recurrence for all; the variant is its cell (`plmlab.layers.cells`). Fused unless watched: where nobody looks, and
PyTorch has a kernel for the cell, that kernel makes all steps on the same weights; under ``watch`` or ``intervene`` the
written-out cell steps, and passes its points once a step.
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
"""The states of all layers and directions, ordered as in PyTorch: layer 0 from the left, from the right, layer 1 …"""


class RecurrentLayer(nn.Module):
    """A cell that steps from the left, and if there are two, another from the right; what both show, side by side."""

    cells: Sequence[Cell]

    def __init__(self, cells: list[Cell]) -> None:
        super().__init__()
        self.cells = nn.ModuleList(cells)  # type: ignore[assignment]
        self.hidden = HookPoint()

    def forward(self, x: Float[Tensor, "batch time inputs"], real: Bool[Tensor, "batch time"] | None,
                states: list[State]) -> tuple[Float[Tensor, "batch time width"], list[State]]:
        """What the cells show at each step, and their states after the last; at padding, where ``real`` is False, a
        state waits, and zeros are shown."""
        shown, last = [], []
        for turned, (cell, state) in enumerate(zip(self.cells, states, strict=True)):
            read, steps = cell.read(x), range(x.shape[1])
            at: list[Tensor] = [x] * x.shape[1]
            for step in reversed(steps) if turned else steps:
                after = cell.step(read[:, step], state)
                if real is not None:
                    here = real[:, step, None]
                    after = tuple(torch.where(here, new, old) for new, old in zip(after, state, strict=True))
                    at[step] = after[0] * here
                else:
                    at[step] = after[0]
                state = after
            shown.append(torch.stack(at, 1))
            last.append(state)
        return self.hidden(torch.cat(shown, -1)), last


class Recurrent(nn.Module):
    """Layers of a recurrence: each reads what the one below shows.

    Args:
        cell: the class of its cells.
        inputs: the width of what is read.
        hidden: the width of a state.
        layers: how many stand one above the other.
        bidirectional: whether each layer steps from the right too, with weights of its own.
        dropout: the share of numbers that is dropped between two layers in training.
        choices: what else the cell takes, such as an LSTM's ``projected``.
    """

    loops_over_text = True
    """It may go through a text in a Python loop (`plmlab.train.compiling`)."""

    def __init__(self, cell: type[Cell], inputs: int, hidden: int, layers: int = 1, *, bidirectional: bool = False,
                 dropout: float = 0.0, **choices: Any) -> None:
        super().__init__()
        if layers < 1:
            raise ValueError(f"a recurrence has at least one layer; {layers} were asked for")
        self.bidirectional, self.dropout = bidirectional, dropout
        stack: list[RecurrentLayer] = []
        for _ in range(layers):
            cells = [cell(inputs, hidden, **choices) for _ in range(1 + bidirectional)]
            stack.append(RecurrentLayer(cells))
            inputs = sum(one.width for one in cells)
        self.layers: Sequence[RecurrentLayer] = nn.ModuleList(stack)  # type: ignore[assignment]
        self.width = inputs

    @property
    def cells(self) -> list[Cell]:
        """All cells, in the order of their states."""
        return [cell for layer in self.layers for cell in layer.cells]

    @property
    def written_out(self) -> bool:
        """Whether the cells themselves step: somebody looks or reaches in, or PyTorch has no kernel for them."""
        return self.cells[0].kernel is None or any(
            point.open for point in self.modules() if isinstance(point, HookPoint))

    def forward(self, x: Float[Tensor, "batch time inputs"], lengths: Int[Tensor, "batch"] | None = None,
                carried: LayerStates | None = None) -> tuple[Float[Tensor, "batch time width"], LayerStates]:
        """What the last layer shows at each step, zeros at padding; and the states after each text's last step.

        ``lengths``: how many steps of each text are no padding, at least one; all where it is not given. ``carried``
        are the states to begin with, zeros where it is not given.
        """
        if lengths is not None and not ((lengths > 0) & (lengths <= x.shape[1])).all():
            raise ValueError(f"texts of {lengths.tolist()!s:.80} steps were given in a batch of {x.shape[1]}: each "
                             f"must have at least one, and at most {x.shape[1]}")
        zeros = tuple(torch.stack(vectors) for vectors in zip(*(cell.zero(x) for cell in self.cells), strict=True))
        if carried is None:
            carried = zeros
        elif [vectors.shape for vectors in carried] != [vectors.shape for vectors in zeros]:
            raise ValueError(f"states of {_sizes(carried)} were given to begin with; here they are {_sizes(zeros)} "
                             "(passages, texts, width)")
        return self._step(x, lengths, carried) if self.written_out else self._fused(x, lengths, carried)

    def _step(self, x: Tensor, lengths: Tensor | None, carried: LayerStates) -> tuple[Tensor, LayerStates]:
        real = None if lengths is None else torch.arange(x.shape[1], device=x.device) < lengths[:, None]
        states, last = list(zip(*(vectors.unbind() for vectors in carried), strict=True)), []
        for place, layer in enumerate(self.layers):
            if place:
                x = F.dropout(x, self.dropout, self.training)
            count = len(layer.cells)
            x, after = layer(x, real, states[place * count:(place + 1) * count])
            last += after
        return x, tuple(torch.stack(vectors) for vectors in zip(*last, strict=True))

    def _fused(self, x: Tensor, lengths: Tensor | None, carried: LayerStates) -> tuple[Tensor, LayerStates]:
        how = (True, len(self.layers), self.dropout if self.training else 0.0, self.training, self.bidirectional)
        flat, kernel = [weight for cell in self.cells for weight in cell.flat], self.cells[0].kernel
        assert kernel is not None
        if lengths is None:
            shown, *last = kernel(x, carried if len(carried) > 1 else carried[0], flat, *how, True)
            return shown, tuple(last)
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        begin = tuple(vectors[:, packed.sorted_indices] for vectors in carried)
        shown, *last = kernel(packed.data, packed.batch_sizes, begin if len(begin) > 1 else begin[0], flat, *how)
        shown = pad_packed_sequence(PackedSequence(shown, *packed[1:]), batch_first=True, total_length=x.shape[1])[0]
        return shown, tuple(vectors[:, packed.unsorted_indices] for vectors in last)


def _sizes(carried: LayerStates) -> str:
    return " and ".join(str(tuple(vectors.shape)) for vectors in carried)
