"""CogQA whose System 2 passes no messages: each node is judged by what was read there alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor

from plmlab.models.cognitive_growth import Growth, GrowthState


@dataclass(frozen=True)
class Deaf(Growth):
    """The same growth, and a choice among its nodes as if no edge led from any to another."""

    def _edges(self, state: GrowthState, nodes: Sequence[str]) -> Bool[Tensor, "node node"]:
        return torch.zeros(len(nodes), len(nodes), dtype=torch.bool)
