"""CogQA whose System 2 passes no messages: each node is judged by what was read there alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor

from plmlab.models.cogqa_search import CogQASearch, SearchState


@dataclass(frozen=True)
class Deaf(CogQASearch):
    """The same growth, and a choice among its nodes as if no edge led from any to another."""

    def _edges(self, state: SearchState, nodes: Sequence[str]) -> Bool[Tensor, "node node"]:
        return torch.zeros(len(nodes), len(nodes), dtype=torch.bool)
