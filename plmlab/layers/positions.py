"""Absolute positional encodings (位置编码), added to the token embeddings. For relative ones, see `relative`."""

import torch
from einops import rearrange
from jaxtyping import Float, Int
from torch import Tensor, nn


def sinusoid(position_ids: Int[Tensor, "*batch time"], model: int, base: float = 10_000.0,
             ) -> Float[Tensor, "*batch time model"]:
    """Sinusoidal encoding: sin(p/base^{2i/d}) in dimension 2i, cos(p/base^{2i/d}) in 2i + 1 (Vaswani et al. 2017,
    §3.5).

    Raises ValueError if ``model`` is odd.
    """
    if model % 2:
        raise ValueError(f"sines and cosines come in pairs: the width must be even, got {model}")
    even = torch.arange(0, model, 2, device=position_ids.device, dtype=torch.float64)
    angles = position_ids[..., None].double() / base ** (even / model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2).to(torch.get_default_dtype())


class Sinusoidal(nn.Module):
    """Sinusoidal positional encodings, stored in a table that grows as needed, so that texts can have any length."""

    table: Float[Tensor, "time model"]

    def __init__(self, model: int, base: float = 10_000.0) -> None:
        super().__init__()
        self.model, self.base = model, base
        self.register_buffer("table", sinusoid(torch.arange(512), model, base), persistent=False)

    def forward(self, position_ids: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time model"]:
        """Encoding of each position; for a negative position, the sines change sign."""
        farthest = position_ids.abs()
        longest = int(farthest.max()) + 1
        if longest > len(self.table):
            self.table = sinusoid(torch.arange(longest), self.model, self.base).to(self.table)
        waves = self.table[farthest]
        if bool((position_ids < 0).any()):
            waves[..., 0::2] *= position_ids.sign()[..., None]
        return waves


class SinesThenCosines(Sinusoidal):
    """Sinusoidal positional encodings with other dimensions: sin(p/base^{2i/d}) in dimension i, its cosine in d/2 + i
    (PEGASUS in ``transformers``)."""

    def forward(self, position_ids: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time model"]:
        """Encoding of each position."""
        return rearrange(super().forward(position_ids), "batch time (pair wave) -> batch time (wave pair)", wave=2)


class LearnedPositions(nn.Embedding):
    """Learned absolute position embeddings (BERT, GPT)."""

    def forward(self, position_ids: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time model"]:
        """Embedding of each position. Raises ValueError if the text has more positions than were learned."""
        if position_ids.shape[1] > self.num_embeddings <= (last := int(position_ids.max())):
            raise ValueError(
                f"a text of {last + 1} tokens is too long: the model has learned {self.num_embeddings} positions; "
                "shorten the text, or build a model with more"
            )
        return super().forward(position_ids)
