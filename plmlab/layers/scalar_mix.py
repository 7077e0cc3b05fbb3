"""ELMo's scalar mix: a task-specific learned weighting of a model's layers (Peters et al. 2018, eq. 1)."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from plmlab.layers.hooks import HookPoint

EPSILON = 1e-12


class ScalarMix(nn.Module):
    """Scalar mix γ Σⱼ sⱼ hⱼ with s = softmax(w), initialized to the mean of the layers (w = 0, γ = 1).

    With ``normed``, each layer is first normalized to mean 0 and variance 1. As in the authors' code, these statistics
    are taken over all dimensions and all real positions of a batch, not per position as in layer normalization.

    Hook points: ``shares`` is s, [layer].
    """

    def __init__(self, layers: int, normed: bool = False) -> None:
        super().__init__()
        self.normed = normed
        self.weights, self.gamma = nn.Parameter(torch.zeros(layers)), nn.Parameter(torch.ones(()))
        self.shares = HookPoint()

    def softmax(self) -> Float[Tensor, "layer"]:
        """The mixing weights s, which sum to 1."""
        return self.weights.softmax(0)

    def forward(self, layers: Sequence[Float[Tensor, "batch time width"]],
                real: Bool[Tensor, "batch time"] | None = None) -> Float[Tensor, "batch time width"]:
        """Mix the layers; ``real`` is False at padding. Raises ValueError if the number of layers does not match the
        weights."""
        if len(layers) != len(self.weights):
            raise ValueError(f"expected {len(self.weights)} layers to mix, got {len(layers)}")
        # [layer batch time width]
        stacked = torch.stack([centred(layer, real) for layer in layers] if self.normed else list(layers))
        return self.gamma * torch.einsum("l,lbtw->btw", self.shares(self.softmax()), stacked)


def centred(layer: Float[Tensor, "*batch width"], real: Bool[Tensor, "*batch"] | None = None,
            ) -> Float[Tensor, "*batch width"]:
    """Normalize a layer to mean 0 and variance 1 over all dimensions of all real positions."""
    counted = layer if real is None else layer[real]
    return (layer - counted.mean()) / (counted.var(correction=0) + EPSILON).sqrt()
