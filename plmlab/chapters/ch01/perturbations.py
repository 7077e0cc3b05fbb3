"""Perturbations of the initial state of a recurrent network: their effect over time, and the step at which they have
died out."""

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.layers.recurrent import LayerStates, Recurrent

STEP, DIRECTIONS = 1e-5, 8


@torch.no_grad()
def perturbation_size(network: Recurrent, x: Float[Tensor, "batch time inputs"], generator: torch.Generator,
          ) -> Float[Tensor, "time"]:
    """Effect of a perturbation of the initial state with norm 1 after 1, 2, … steps.

    The states of all layers are perturbed (in an LSTM, the cell states). The effect is the root mean square change of
    the last layer's output, over sequences and eight random directions. It is computed with central differences, so the
    network and ``x`` must be float64.
    """
    initial = tuple(torch.zeros(len(network.cells), len(x), width, dtype=x.dtype) for width in network.cells[0].widths)
    total = torch.zeros(x.shape[1], dtype=x.dtype)
    for _ in range(DIRECTIONS):
        delta = torch.randn(initial[-1].shape, generator=generator, dtype=x.dtype)
        delta *= STEP / delta.norm(dim=-1, keepdim=True)
        plus, minus = (network(x, None, perturb(initial, sign * delta))[0] for sign in (1, -1))
        total += ((plus - minus) / (2 * STEP)).square().sum(-1).mean(0)
    return (total / DIRECTIONS).sqrt()


def perturb(states: LayerStates, delta: Tensor) -> LayerStates:
    """Add ``delta`` to the last vector of the states: the cell state if there is one, otherwise the hidden state."""
    return (*states[:-1], states[-1] + delta)


def steps_until_below(sizes: Float[Tensor, "time"], fraction: float = 0.01) -> int | None:
    """Number of steps after which ``sizes`` stays at or below the fraction ``fraction`` of its maximum.

    Returns 0 if all sizes are 0, and None if the last size is above that fraction.
    """
    above = (sizes > fraction * sizes.max()).nonzero()
    steps = int(above[-1]) + 1 if len(above) else 0
    return None if steps == len(sizes) else steps
