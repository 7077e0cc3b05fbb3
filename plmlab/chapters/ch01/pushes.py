"""How far a push of the first state reaches in a recurrence, and when it is gone."""

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.layers.recurrent import LayerStates, Recurrent

STEP, PUSHES = 1e-5, 8


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


def pushed(states: LayerStates, push: Tensor) -> LayerStates:
    """States whose last vectors, the memories where there are some, are moved."""
    return (*states[:-1], states[-1] + push)


def steps_until(sizes: Float[Tensor, "time"], left: float = 0.01) -> int | None:
    """After how many steps less than this share of the largest is left for good, 0 where there is nothing from the
    first; None where more is left at the end."""
    above = (sizes > left * sizes.max()).nonzero()
    steps = int(above[-1]) + 1 if len(above) else 0
    return None if steps == len(sizes) else steps
