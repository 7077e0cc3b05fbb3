"""ELMo's vector for a task: a model's layers, each with a weight that the task learns (Peters et al. 2018, eq. 1)."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from plmlab.layers.hooks import HookPoint

EPSILON = 1e-12


class ScalarMix(nn.Module):
    """γ Σⱼ sⱼ hⱼ with s = softmax(w): at first the mean of the layers, γ = 1.

    ``normed``: each layer is first brought to mean 0 and variance 1. In the authors' code these are taken over all
    numbers of all real positions of a batch, not position by position as in layer normalisation; so it is here.

    Points: ``shares`` are s, [layer].
    """

    def __init__(self, layers: int, normed: bool = False) -> None:
        super().__init__()
        self.normed = normed
        self.weights, self.gamma = nn.Parameter(torch.zeros(layers)), nn.Parameter(torch.ones(()))
        self.shares = HookPoint()

    def softmax(self) -> Float[Tensor, "layer"]:
        """s, which adds up to 1."""
        return self.weights.softmax(0)

    def forward(self, layers: Sequence[Float[Tensor, "batch time width"]],
                real: Bool[Tensor, "batch time"] | None = None) -> Float[Tensor, "batch time width"]:
        """The mix at each position; ``real`` says which positions are no padding. ValueError for another number of
        layers."""
        if len(layers) != len(self.weights):
            raise ValueError(f"{len(layers)} layers were given to a mix of {len(self.weights)}")
        stacked = torch.stack([centred(layer, real) for layer in layers] if self.normed else list(layers))
        return self.gamma * torch.einsum("l,lbtw->btw", self.shares(self.softmax()), stacked)


def centred(layer: Float[Tensor, "*positions width"], real: Bool[Tensor, "*positions"] | None = None,
            ) -> Float[Tensor, "*positions width"]:
    """A layer whose numbers at real positions have mean 0 and variance 1 together."""
    counted = layer if real is None else layer[real]
    return (layer - counted.mean()) / (counted.var(correction=0) + EPSILON).sqrt()
