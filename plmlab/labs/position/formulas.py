"""Ways of telling places that no layer of ours has: rotary positions, ALiBi. Pure functions."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from plmlab.layers.positions import sinusoid


def rotated(x: Float[Tensor, "time width"], places: Int[Tensor, "time"]) -> Float[Tensor, "time width"]:
    """Rotary positions (Su et al. 2021, eq. 34): each pair of dimensions of x turned by the angle of its place.

    Dimensions 2i and 2i + 1 are a pair, as in the paper, and turn by p / 10000^{2i/d}, as a pair of the sinusoid does.
    """
    sin, cos = sinusoid(places, x.shape[-1]).to(x).unflatten(-1, (-1, 2)).unbind(-1)
    even, odd = x.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack([even * cos - odd * sin, odd * cos + even * sin], dim=-1).flatten(-2)


def alibi_slopes(heads: int) -> Float[Tensor, "head"]:
    """What a place costs in each head (Press et al. 2022, §3): 2^{−8/h}, 2^{−16/h}, …, 2^{−8}.

    ValueError where ``heads`` is no power of two, for which the paper has no such formula.
    """
    if heads < 1 or heads & (heads - 1):
        raise ValueError(f"ALiBi's slopes are told for 1, 2, 4, 8, … heads; {heads} were given")
    return 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)


def alibi(distance: Int[Tensor, "*places"], slope: Float[Tensor, ""]) -> Float[Tensor, "*places"]:
    """What is added to the score of a key so many places back: −slope · distance (Press et al. 2022, eq. in §3)."""
    return -slope * distance
