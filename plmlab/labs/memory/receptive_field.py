"""The receptive field of a position, layer by layer, computed from the attention mask only."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor


@dataclass(frozen=True)
class ReceptiveField:
    """The positions from which information can reach the query position.

    Attributes:
        level: the number of layers that information from each position needs to reach the query position; 0 for the
            query position, −1 for a position outside the receptive field of all layers.
        via: for each position, the next position on a shortest path to the query position; −1 if there is none. Each
            position on the path is attended to by the next one.
    """

    level: list[int]
    via: list[int]


def receptive_field(looks: Bool[Tensor, "query key"], position: int, layers: int) -> ReceptiveField:
    """Propagate the attention mask ``looks`` through ``layers`` layers: the receptive field of a position is the union
    of the receptive fields, one layer below, of all positions that it attends to, including itself."""
    time = len(looks)
    step = looks.float()
    field = torch.eye(time)
    level, via = torch.full((time,), -1), torch.full((time,), -1)
    level[position] = 0
    for layer in range(1, layers + 1):
        below = level == layer - 1
        field = ((step @ field) > 0).float()
        newly_reached = (field[position] > 0) & (level < 0)
        attending = looks & below[:, None]
        via[newly_reached] = attending.float().argmax(0)[newly_reached]
        level[newly_reached] = layer
    return ReceptiveField(level.tolist(), via.tolist())
