"""CogQA without message passing in System 2: each node is scored from its own representation alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor

from plmlab.models.cogqa_search import CogQASearch, SearchState


@dataclass(frozen=True)
class NoMessagePassing(CogQASearch):
    """`CogQASearch` with an empty adjacency matrix for System 2."""

    def _edges(self, state: SearchState, nodes: Sequence[str]) -> Bool[Tensor, "node node"]:
        return torch.zeros(len(nodes), len(nodes), dtype=torch.bool)
