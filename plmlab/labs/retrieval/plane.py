"""A two-dimensional projection of document vectors (PCA), which is fitted only once."""

from dataclasses import dataclass
from typing import Self

import torch
from jaxtyping import Float
from torch import Tensor

Point = list[float]
ROOM = 0.5
"""How far the bounding box extends at most beyond the documents, relative to their largest extent."""


@dataclass(frozen=True)
class Plane:
    """The first two principal components of a set of vectors. ``share`` is the proportion of variance explained,
    ``box`` the bounding box of the points to show, as (left, right, low, high)."""

    mean: Float[Tensor, "width"]
    directions: Float[Tensor, "2 width"]
    share: float
    box: tuple[float, float, float, float]

    @classmethod
    def fitted(cls, vectors: Float[Tensor, "doc width"], besides: Float[Tensor, "other width"]) -> Self:
        """Fit the plane to ``vectors``; the bounding box also contains the vectors in ``besides``, unless they are so
        far away (`ROOM`) that the documents could not be distinguished."""
        mean = vectors.mean(0)
        _, sizes, components = torch.linalg.svd(vectors - mean, full_matrices=False)
        directions = torch.zeros(2, vectors.shape[1], dtype=vectors.dtype)
        directions[:len(components[:2])] = components[:2]
        leading = directions.gather(1, directions.abs().argmax(1, keepdim=True))
        directions = directions * torch.where(leading < 0, -1.0, 1.0)
        every = float(sizes.square().sum())
        share = float(sizes[:2].square().sum()) / every if every else 1.0
        known, points = ((rows - mean) @ directions.T for rows in (vectors, torch.cat([vectors, besides])))
        first, last = known.amin(0), known.amax(0)
        room = ROOM * float((last - first).max()) or torch.inf
        (left, low), (right, high) = points.amin(0).max(first - room).tolist(), points.amax(0).min(last + room).tolist()
        return cls(mean, directions, share, (left, right, low, high))

    def at(self, vectors: Float[Tensor, "doc width"]) -> list[Point]:
        """Project vectors onto the plane."""
        return ((vectors - self.mean) @ self.directions.T).tolist()
