"""A word's vector out of its characters: convolutions (卷积) of several widths, the largest of each filter, highways.

Kim et al. (2016); here in the form and with the names of ELMo (Peters et al. 2018).
"""

from collections.abc import Sequence

import torch
from einops import rearrange
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.layers.hooks import HookPoint

Filters = Sequence[Sequence[int]]
"""Width of a filter in characters, and how many there are of this width."""
ELMO: Filters = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))
"""The 2,048 filters of the released ELMo."""


class Highway(nn.Module):
    """A gate between a layer and its input (Srivastava et al. 2015, eq. 3): t∘ReLU(V x + b) + (1 − t)∘x with
    t = σ(W x + a). It begins nearly closed, a = −2, so that x comes through."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gate, self.transform = nn.Linear(width, width), nn.Linear(width, width)
        nn.init.constant_(self.gate.bias, -2.0)
        self.opened = HookPoint()

    def forward(self, x: Float[Tensor, "*positions width"]) -> Float[Tensor, "*positions width"]:
        """As much of the layer as the gate lets through, and of the input as it does not."""
        t = self.opened(self.gate(x).sigmoid())
        return t * self.transform(x).relu() + (1 - t) * x


class CharCNN(nn.Module):
    """Characters → filters → the largest place of each → highways → a projection.

    Points: ``found`` is the largest activation of each filter, [positions, filters].

    Args:
        codes: how many character codes there are; code 0 has the vector 0.
        embedding: the width of a character's vector.
        filters: (width, count) of the convolutions.
        highways: how many highway layers follow.
        width: the width of a word's vector.
        activation: what bounds a filter's largest sum; ELMo takes the positive part.
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
        """The vector of each word."""
        found = torch.cat([self.activation(sums.amax(-1)) for sums in self.sums(codes.flatten(0, 1))], -1)
        words = self.projection(self.highways(self.found(found)))
        return rearrange(words, "(batch time) width -> batch time width", batch=len(codes))

    def sums(self, codes: Int[Tensor, "words character"]) -> list[Float[Tensor, "words _ _"]]:
        """What the filters of each width make of every place of a word, [words, filters, places]: a filter of width w
        at place p reads the characters p to p + w − 1. ValueError for words shorter than the widest filter."""
        if codes.shape[1] < self.widest:
            raise ValueError(f"words of {codes.shape[1]} codes were given, and the widest filter reads {self.widest}")
        read = rearrange(self.characters(codes), "words character model -> words model character")
        return [convolution(read) for convolution in self.convolutions]
