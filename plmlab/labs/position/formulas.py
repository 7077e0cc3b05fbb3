"""Positional encodings that no layer of this package uses: rotary position embedding and ALiBi. Pure functions."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.layers.positions import sinusoid


def rotated(x: Float[Tensor, "time width"], places: Int[Tensor, "time"]) -> Float[Tensor, "time width"]:
    """Rotary position embedding (Su et al. 2021, eq. 34): rotate each pair of dimensions of x by a position-dependent
    angle.

    Dimensions 2i and 2i + 1 are a pair, as in the paper; position p rotates it by p / 10000^{2i/d}, the angle of the
    sinusoidal encoding.
    """
    sin, cos = sinusoid(places, x.shape[-1]).to(x).unflatten(-1, (-1, 2)).unbind(-1)
    even, odd = x.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack([even * cos - odd * sin, odd * cos + even * sin], dim=-1).flatten(-2)


def alibi_slopes(heads: int) -> Float[Tensor, "head"]:
    """ALiBi's slope for each head, the penalty per unit of distance (Press et al. 2022, §3): 2^{−8/h}, 2^{−16/h}, …,
    2^{−8}.

    Raises ValueError if ``heads`` is not a power of two, for which the paper gives no such formula.
    """
    if heads < 1 or heads & (heads - 1):
        raise ValueError(f"ALiBi's slopes are defined for 1, 2, 4, 8, … heads; {heads} were given")
    return 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)


def alibi(distance: Int[Tensor, "*places"], slope: Float[Tensor, ""]) -> Float[Tensor, "*places"]:
    """ALiBi's bias on the score of a key at a given distance: −slope · distance (Press et al. 2022, equation in §3)."""
    return -slope * distance
