"""Which positions a position can have heard of, layer by layer: from the mask alone, by brute force."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor


@dataclass(frozen=True)
class Reach:
    """How far information can have come to one position.

    Attributes:
        level: for each position, how many layers up it first reaches the vector of the asked position; 0 for the
            position itself, −1 where no layer can.
        via: for each position that is reached, the next position on a shortest way to the asked one: it looks at this
            position. −1 where there is none.
    """

    level: list[int]
    via: list[int]


def reach(looks: Bool[Tensor, "query key"], position: int, layers: int) -> Reach:
    """Follow the mask through so many layers. A layer's vector of a position has heard of all that the layer below has
    heard of at the positions which it looks at, itself among them."""
    time = len(looks)
    step = looks.float()
    heard = torch.eye(time)
    level, via = torch.full((time,), -1), torch.full((time,), -1)
    level[position] = 0
    for layer in range(1, layers + 1):
        below = level == layer - 1
        heard = ((step @ heard) > 0).float()
        fresh = (heard[position] > 0) & (level < 0)
        lookers = looks & below[:, None]
        via[fresh] = lookers.float().argmax(0)[fresh]
        level[fresh] = layer
    return Reach(level.tolist(), via.tolist())
