"""CogQA whose System 2 passes no messages: each node is judged by what was read there alone."""

from dataclasses import dataclass

import torch

from plmlab.models.cognitive_growth import Growth, GrowthState


@dataclass(frozen=True)
class Deaf(Growth):
    """The same growth, and a choice among its nodes as if no edge led from any to another."""

    @torch.no_grad()
    def scores(self, state: GrowthState) -> dict[str, float]:
        """System 2's logit of each node that was read, without edges."""
        nodes = [node for node in state.graph if node in state.visits]
        if not nodes:
            return {}
        nobody = torch.zeros(len(nodes), len(nodes), dtype=torch.bool, device=self._device)
        return dict(zip(nodes, self.model.reasoner(self._semantics(state, nodes), nobody).tolist(), strict=True))
