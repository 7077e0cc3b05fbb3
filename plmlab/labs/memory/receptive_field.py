"""The receptive field of a position, layer by layer, computed from the attention mask alone."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor


@dataclass(frozen=True)
class ReceptiveField:
    """From how far back information can reach one position, the query position.

    Attributes:
        level: the number of layers after which each position first reaches the query position; 0 at the query
            position, −1 if it is out of reach of every layer.
        via: the next position on a shortest path from each position in reach to the query position, which attends
            to this one; −1 if there is none.
    """

    level: list[int]
    via: list[int]


def receptive_field(looks: Bool[Tensor, "query key"], position: int, layers: int) -> ReceptiveField:
    """Propagate the mask ``looks`` through ``layers`` layers: the receptive field of a position is the union of the
    receptive fields, one layer below, of the positions that it attends to (itself included)."""
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
