"""Prepare word vectors for the page: quantised vectors, principal axes, and neighbours in other seeds."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.labs.vectors.state import Packed
from plmlab.vectors import WordVectors

STEPS = 32_767
"""Number of int16 steps on either side of 0."""
NEIGHBOURS = 10


def packed(matrices: Sequence[Float[Tensor, "word model"]]) -> Packed:
    """Quantise vectors to int16 (``numbers``, [snapshot, word, model]) with one float32 step per row (``steps``,
    [snapshot, word]), both little-endian. The error of an element is at most half a step, which is 1/65534 of the row's
    largest absolute value. The error of a cosine of d-dimensional vectors is at most √d/32767, which is 0.0003 for d =
    100, and in practice a tenth of that."""
    stacked = torch.stack([matrix.double() for matrix in matrices])
    steps = stacked.abs().amax(-1) / STEPS
    rows = torch.where(steps > 0, steps, 1.0)
    numbers = (stacked / rows[..., None]).round()
    return {"numbers": numbers.numpy().astype("<i2").tobytes(), "steps": steps.numpy().astype("<f4").tobytes()}


class Principal(NamedTuple):
    """The principal components of points: the mean, the orthonormal ``axes``, and the proportion of variance explained
    by each axis (``shares``)."""

    mean: Float[Tensor, "model"]
    axes: Float[Tensor, "axis model"]
    shares: list[float]


def principal(points: Float[Tensor, "word model"], count: int = 2) -> Principal:
    """The first principal axes of points (主成分), each with the sign that makes its largest element positive."""
    mean = points.double().mean(0)
    centred = points.double() - mean
    values, vectors = torch.linalg.eigh(centred.T @ centred)
    axes = vectors.flip(-1).T[:count]
    largest = axes.gather(-1, axes.abs().argmax(-1, keepdim=True))
    whole = float(values.sum())
    shares = [float(value) / whole if whole > 0 else 0.0 for value in values.flip(-1)[:count].clamp(min=0)]
    return Principal(mean, axes * largest.sign(), shares)


def nearest(vectors: WordVectors, words: Sequence[str], count: int = NEIGHBOURS) -> bytes:
    """The nearest neighbours of each word among ``words``, according to another set of vectors, as uint16 rows [2,
    word, count]: by cosine, and by dot product. If there are fewer than ``count`` neighbours, the word's own row fills
    the remaining entries."""
    own = vectors.only(words)
    kinds = []
    for points in (own.unit, own.matrix):
        scores = points.double() @ points.double().T
        scores.fill_diagonal_(-torch.inf)
        best = scores.topk(min(count, len(words) - 1)).indices
        itself = torch.arange(len(words))[:, None].expand(-1, count - best.shape[1])
        kinds.append(torch.cat([best, itself], -1))
    return torch.stack(kinds).numpy().astype("<u2").tobytes()
