"""The cost of a forward pass: multiplications counted by PyTorch, and milliseconds."""

import time
from math import inf

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode


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


def multiplications(module: nn.Module, *inputs: Tensor) -> int:
    """The number of multiplications of a forward pass. PyTorch counts a multiplication with its addition as two."""
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        module(*inputs)
    return counter.get_total_flops() // 2


def milliseconds(module: nn.Module, *inputs: Tensor) -> float:
    """The time of the fastest of five forward passes, after a warm-up pass."""
    best = inf
    with torch.no_grad():
        module(*inputs)
        for _ in range(5):
            start = time.perf_counter()
            module(*inputs)
            best = min(best, 1000 * (time.perf_counter() - start))
    return best
