"""What a page is told of word vectors: the vectors as bytes, the axes that hold most of them, neighbours elsewhere."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.labs.vectors.state import Packed
from plmlab.vectors import WordVectors

STEPS = 32_767
"""An int16 has so many steps on either side of 0."""
NEIGHBOURS = 10


def packed(matrices: Sequence[Float[Tensor, "word model"]]) -> Packed:
    """Vectors as int16 (``numbers``, [snapshot, word, model]) and a float32 step for each row (``steps``,
    [snapshot, word]), little-endian: a number is off by at most half a step, 1/65534 of the row's largest, and so a
    cosine of d-dimensional vectors by at most √d/32767, 0.0003 for 100 numbers, and in practice by a tenth of that."""
    found = torch.stack([matrix.double() for matrix in matrices])
    steps = found.abs().amax(-1) / STEPS
    rows = torch.where(steps > 0, steps, 1.0)
    numbers = (found / rows[..., None]).round()
    return {"numbers": numbers.numpy().astype("<i2").tobytes(), "steps": steps.numpy().astype("<f4").tobytes()}


class Principal(NamedTuple):
    """The directions in which points spread most: their mean, orthonormal ``axes``, and the share of the variance that
    each holds."""

    mean: Float[Tensor, "model"]
    axes: Float[Tensor, "axis model"]
    shares: list[float]


def principal(points: Float[Tensor, "word model"], count: int = 2) -> Principal:
    """The first principal axes of points (主成分), each turned so that its largest number is positive."""
    mean = points.double().mean(0)
    centred = points.double() - mean
    values, vectors = torch.linalg.eigh(centred.T @ centred)
    axes = vectors.flip(-1).T[:count]
    largest = axes.gather(-1, axes.abs().argmax(-1, keepdim=True))
    whole = float(values.sum())
    shares = [float(value) / whole if whole > 0 else 0.0 for value in values.flip(-1)[:count].clamp(min=0)]
    return Principal(mean, axes * largest.sign(), shares)


def nearest(vectors: WordVectors, words: Sequence[str], count: int = NEIGHBOURS) -> bytes:
    """The rows of each word's nearest among these words in other vectors, as uint16, [2, word, count]: by cosine, and
    by dot product. Where there are fewer, a word stands for itself."""
    own = vectors.only(words)
    kinds = []
    for points in (own.unit, own.matrix):
        scores = points.double() @ points.double().T
        scores.fill_diagonal_(-torch.inf)
        best = scores.topk(min(count, len(words) - 1)).indices
        itself = torch.arange(len(words))[:, None].expand(-1, count - best.shape[1])
        kinds.append(torch.cat([best, itself], -1))
    return torch.stack(kinds).numpy().astype("<u2").tobytes()
