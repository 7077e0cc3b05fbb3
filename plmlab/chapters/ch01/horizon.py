"""How far a push of the state reaches in a network as it is: at the start of training, and after it.

Notes for students say about 7 steps for an RNN and about 100 for an LSTM.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.chapters.ch01.long_memories import ChronoLSTMCell
from plmlab.layers.cells import Cell, IdentityRNNCell, LSTMCell, RNNCell, TorchGRUCell
from plmlab.layers.recurrent import Carried, Recurrent

STEP, PUSHES = 1e-5, 8
SEEDS, UNITS, STEPS = (0, 1, 2), 100, 400


class ForgetBiasLSTMCell(LSTMCell):
    """An LSTM whose forget biases begin at 1 in sum (Gers et al. 2000; Jozefowicz et al. 2015)."""

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """As an LSTM's, but for the forget gate's two biases."""
        super().reset_parameters()
        for bias, value in ((self.bias_ih, 1.0), (self.bias_hh, 0.0)):
            bias.chunk(4)[self.gates.index("forget")].fill_(value)


UNTRAINED: dict[str, type[Cell]] = {
    "RNN": RNNCell, "IRNN": IdentityRNNCell, "LSTM, as PyTorch begins it": LSTMCell,
    "LSTM, forget bias 1": ForgetBiasLSTMCell, "LSTM, chrono (1 to 200)": ChronoLSTMCell, "GRU": TorchGRUCell}


@torch.no_grad()
def reach(network: Recurrent, x: Float[Tensor, "batch time inputs"], generator: torch.Generator,
          ) -> Float[Tensor, "time"]:
    """How large a push of length 1 at the start of each text is after 1, 2, … steps: the root mean square of what the
    last layer shows, over texts and eight pushes of all layers' states, or of their memories where they have some.

    By central differences, so the network and ``x`` must be float64.
    """
    begin = tuple(torch.zeros(len(network.cells), len(x), width, dtype=x.dtype) for width in network.cells[0].widths)
    found = torch.zeros(x.shape[1], dtype=x.dtype)
    for _ in range(PUSHES):
        push = torch.randn(begin[-1].shape, generator=generator, dtype=x.dtype)
        push *= STEP / push.norm(dim=-1, keepdim=True)
        ahead, back = (network(x, None, pushed(begin, sign * push))[0] for sign in (1, -1))
        found += ((ahead - back) / (2 * STEP)).square().sum(-1).mean(0)
    return (found / PUSHES).sqrt()


def pushed(states: Carried, push: Tensor) -> Carried:
    """States whose last vectors, the memories where there are some, are moved."""
    return (*states[:-1], states[-1] + push)


def steps_until(sizes: Float[Tensor, "time"], left: float = 0.01) -> int | None:
    """After how many steps less than this share of the largest is left for good, 0 where there is nothing from the
    first; None where more is left at the end."""
    above = (sizes > left * sizes.max()).nonzero()
    steps = int(above[-1]) + 1 if len(above) else 0
    return None if steps == len(sizes) else steps


def untrained() -> dict[str, list[int | None]]:
    """Cell → for each of three seeds, after how many steps of noise less than a hundredth of a push is left."""
    found: dict[str, list[int | None]] = {}
    for name, cell in UNTRAINED.items():
        found[name] = []
        for seed in SEEDS:
            torch.manual_seed(seed)
            choices: dict[str, Any] = {"longest": 200} if cell is ChronoLSTMCell else {}
            network, x = Recurrent(cell, 10, UNITS, **choices).double(), torch.randn(8, STEPS, 10, dtype=torch.float64)
            found[name].append(steps_until(reach(network, x, torch.Generator().manual_seed(seed))))
    return found
