"""Which slots a slot can have heard of, layer by layer: from the mask alone, by brute force."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor


@dataclass(frozen=True)
class Reach:
    """How far information can have come to one slot.

    Attributes:
        level: for each slot, how many layers up it first reaches the vector of the asked slot; 0 for the
            slot itself, −1 where no layer can.
        via: for each slot that is reached, the next slot on a shortest way to the asked one: it looks at this slot.
            −1 where there is none.
    """

    level: list[int]
    via: list[int]


def reach(looks: Bool[Tensor, "query key"], slot: int, layers: int) -> Reach:
    """Follow the mask through so many layers. A layer's vector of a slot has heard of all that the layer below has
    heard of at the slots which it looks at, itself among them."""
    time = len(looks)
    step = looks.float()
    heard = torch.eye(time)
    level, via = torch.full((time,), -1), torch.full((time,), -1)
    level[slot] = 0
    for layer in range(1, layers + 1):
        below = level == layer - 1
        heard = ((step @ heard) > 0).float()
        fresh = (heard[slot] > 0) & (level < 0)
        lookers = looks & below[:, None]
        via[fresh] = lookers.float().argmax(0)[fresh]
        level[fresh] = layer
    return Reach(level.tolist(), via.tolist())
