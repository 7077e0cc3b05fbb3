"""A plane through the vectors of documents, fitted once: the two directions in which they differ most."""

from dataclasses import dataclass
from typing import Self

import torch
from jaxtyping import Float
from torch import Tensor

Point = list[float]


@dataclass(frozen=True)
class Plane:
    """The first two principal components of some vectors. ``share`` is how much of their variance it holds, ``box`` the
    points that it must show: left, right, low, high."""

    mean: Float[Tensor, "width"]
    directions: Float[Tensor, "2 width"]
    share: float
    box: tuple[float, float, float, float]

    @classmethod
    def fitted(cls, vectors: Float[Tensor, "doc width"], besides: Float[Tensor, "other width"]) -> Self:
        """Through the vectors; the box has room for them and for some ``besides``."""
        mean = vectors.mean(0)
        _, sizes, found = torch.linalg.svd(vectors - mean, full_matrices=False)
        directions = torch.zeros(2, vectors.shape[1], dtype=vectors.dtype)
        directions[:len(found[:2])] = found[:2]
        leading = directions.gather(1, directions.abs().argmax(1, keepdim=True))
        directions = directions * torch.where(leading < 0, -1.0, 1.0)
        every = float(sizes.square().sum())
        share = float(sizes[:2].square().sum()) / every if every else 1.0
        points = (torch.cat([vectors, besides]) - mean) @ directions.T
        (left, low), (right, high) = points.amin(0).tolist(), points.amax(0).tolist()
        return cls(mean, directions, share, (left, right, low, high))

    def at(self, vectors: Float[Tensor, "doc width"]) -> list[Point]:
        """Where vectors lie in it."""
        return ((vectors - self.mean) @ self.directions.T).tolist()
