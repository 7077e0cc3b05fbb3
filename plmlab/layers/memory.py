"""Segment-level memory (记忆) of one layer: cached hidden states of earlier segments (Dai et al. 2019, §3.2)."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor


@dataclass
class Memory:
    """The last ``max_length`` inputs of a layer (None: all of them), without gradient: SG(h) in §3.2."""

    max_length: int | None
    states: Float[Tensor, "batch time model"] | None = None

    @property
    def time(self) -> int:
        """Number of cached positions."""
        return 0 if self.states is None else self.states.shape[1]

    def extend(self, h: Float[Tensor, "batch new model"]) -> Float[Tensor, "batch time model"]:
        """Return h̃ = [SG(memory) ∘ h], the memory followed by ``h``, and keep its last positions as the new memory."""
        extended = h if self.states is None else torch.cat([self.states, h], dim=1)
        first = 0 if self.max_length is None else max(0, extended.shape[1] - self.max_length)
        self.states = extended[:, first:].detach()
        return extended

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep only the given batch rows, in the given order."""
        if self.states is not None:
            self.states = self.states[rows]
