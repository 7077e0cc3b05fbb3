"""A memory of what was read before (记忆), for a layer that reads a text segment by segment (Dai et al. 2019, §3.2)."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor


@dataclass
class Memory:
    """What a layer read in the last ``longest`` positions (None: in all), with no path for a gradient: SG(h) of
    §3.2."""

    longest: int | None
    states: Float[Tensor, "batch time model"] | None = None

    @property
    def time(self) -> int:
        """How many positions are remembered."""
        return 0 if self.states is None else self.states.shape[1]

    def extend(self, h: Float[Tensor, "batch new model"]) -> Float[Tensor, "batch time model"]:
        """h̃ = [SG(memory) ∘ h]; from now on the last positions of it are the memory."""
        extended = h if self.states is None else torch.cat([self.states, h], dim=1)
        first = 0 if self.longest is None else max(0, extended.shape[1] - self.longest)
        self.states = extended[:, first:].detach()
        return extended

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep these rows of the batch, in this order."""
        if self.states is not None:
            self.states = self.states[rows]
