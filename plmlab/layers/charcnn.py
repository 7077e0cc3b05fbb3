"""Character CNN: from a word's characters to its vector, by convolutions (卷积), max-pooling and highway layers.

The architecture of Kim et al. (2016), as used in ELMo (Peters et al. 2018), with ELMo's parameter names.
"""

from collections.abc import Sequence

import torch
from einops import rearrange
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.layers.hooks import HookPoint

Filters = Sequence[Sequence[int]]
"""(width in characters, number of filters) for each filter width."""
ELMO: Filters = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))
"""The 2,048 filters of the released ELMo model."""


class Highway(nn.Module):
    """Highway layer (Srivastava et al. 2015, eq. 3): t∘ReLU(V x + b) + (1 − t)∘x with the transform gate
    t = σ(W x + a). The gate is initialized nearly closed (a = −2), so that x passes through."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gate, self.transform = nn.Linear(width, width), nn.Linear(width, width)
        nn.init.constant_(self.gate.bias, -2.0)
        self.opened = HookPoint()

    def forward(self, x: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch width"]:
        """Interpolate between the transformed input and the input, weighted by the gate."""
        t = self.opened(self.gate(x).sigmoid())
        return t * self.transform(x).relu() + (1 - t) * x


class CharCNN(nn.Module):
    """Character embeddings → convolutions → max-pooling over the word → highway layers → projection.

    Hook points: ``found`` is the max-pooled activation of each filter, [batch · time, filters].

    Args:
        codes: number of character codes; code 0 (padding) has the zero vector.
        embedding: size of a character embedding.
        filters: (width, count) of the convolutions.
        highways: number of highway layers.
        width: size of a word vector.
        activation: applied to the max-pooled sums; ReLU by default, as in ELMo.
    """

    def __init__(self, codes: int, embedding: int, filters: Filters, highways: int, width: int,
                 activation: nn.Module | None = None) -> None:
        super().__init__()
        self.characters = nn.Embedding(codes, embedding, padding_idx=0)
        self.widest = max(size for size, _ in filters)
        self.convolutions = nn.ModuleList(nn.Conv1d(embedding, count, size) for size, count in filters)
        self.activation, self.found = activation or nn.ReLU(), HookPoint()
        total = sum(count for _, count in filters)
        self.highways = nn.Sequential(*(Highway(total) for _ in range(highways)))
        self.projection = nn.Linear(total, width)

    def forward(self, codes: Int[Tensor, "batch time character"]) -> Float[Tensor, "batch time width"]:
        """Compute the vector of each word."""
        # [batch · time, filters]
        pooled = torch.cat([self.activation(sums.amax(-1)) for sums in self.sums(codes.flatten(0, 1))], -1)
        words = self.projection(self.highways(self.found(pooled)))  # [batch · time, width]
        return rearrange(words, "(batch time) width -> batch time width", batch=len(codes))

    def sums(self, codes: Int[Tensor, "words character"]) -> list[Float[Tensor, "words _ _"]]:
        """Convolution outputs for each filter width, [words, filters, offsets]: a filter of width w at offset p covers
        the characters p to p + w − 1. Raises ValueError if the words are shorter than the widest filter."""
        if codes.shape[1] < self.widest:
            raise ValueError(f"words have {codes.shape[1]} character codes, but the widest filter spans {self.widest}; "
                             "pad the words to at least that length")
        embedded = rearrange(self.characters(codes), "words character model -> words model character")
        return [convolution(embedded) for convolution in self.convolutions]
