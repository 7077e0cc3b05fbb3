"""What the reset gate of a GRU resets: the change of the candidate with the input and with the state."""

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.interpret import intervene, watch
from plmlab.layers.cells import GRUCell
from plmlab.layers.recurrent import Recurrent

INPUTS, UNITS = 3, 5


@torch.no_grad()
def candidate(layer: Recurrent, x: Float[Tensor, "batch time inputs"], h: Float[Tensor, "batch hidden"],
              gate: float) -> Tensor:
    """The candidate of a GRU layer that processes x from the state h, with all reset gates clamped to ``gate``."""
    with intervene(layer, {"*.reset": lambda r: torch.full_like(r, gate)}), watch(layer, "*.candidate") as seen:
        layer(x, None, (h[None],))
    return seen["layers.0.cells.0.candidate"]


def candidate_changes(gate: float, seed: int = 0) -> list[float]:
    """Largest change of the candidate of a random GRU if 1 is added to its input x, and if 1 is added to its state h,
    with all reset gates clamped to ``gate``."""
    torch.manual_seed(seed)
    layer, x, h = Recurrent(GRUCell, INPUTS, UNITS), torch.randn(1, 1, INPUTS), torch.randn(1, UNITS)
    before = candidate(layer, x, h, gate)
    return [(candidate(layer, *inputs, gate) - before).abs().max().item() for inputs in ((x + 1, h), (x, h + 1))]
