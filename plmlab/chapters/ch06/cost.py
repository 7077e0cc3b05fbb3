"""The cost of a forward pass: multiplications counted by PyTorch, and milliseconds."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from plmlab.timing import fastest


class LSTMInSteps(nn.Module):
    """An LSTM layer of this ``width`` that processes a text word by word, because PyTorch does not count the operations
    of ``nn.LSTM``."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(width, width)

    def forward(self, x: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch width"]:
        """The last hidden state."""
        state = None
        for word in x.unbind(1):
            state = self.cell(word, state)
        assert state is not None
        return state[0]


def multiplications(forward: Callable[[Tensor], Any], x: Tensor) -> int:
    """The number of multiplications of ``forward(x)``. PyTorch counts a multiplication with its addition as two."""
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        forward(x)
    return counter.get_total_flops() // 2


@torch.no_grad()
def milliseconds(forward: Callable[[Tensor], Any], x: Tensor) -> float:
    """The time of ``forward(x)``: the fastest of five runs, after a warm-up run."""
    forward(x)
    return 1000 * fastest(lambda: forward(x), 5)
