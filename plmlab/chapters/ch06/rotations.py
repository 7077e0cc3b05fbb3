"""Sinusoidal positional encodings under a shift: one rotation matrix shifts every position by the same number."""

from math import cos, sin

import torch
from jaxtyping import Float
from torch import Tensor


def shift_matrix(steps: int, model: int) -> Float[Tensor, "model model"]:
    """The matrix that maps the encoding of each position to the encoding ``steps`` positions earlier. It is
    block-diagonal, with one 2 × 2 rotation per frequency."""
    matrix = torch.zeros(model, model)
    for i in range(0, model, 2):
        angle = steps / 10000 ** (i / model)
        matrix[i:i + 2, i:i + 2] = torch.tensor([[cos(angle), -sin(angle)], [sin(angle), cos(angle)]])
    return matrix


def shift_error(table: Float[Tensor, "time model"], matrix: Float[Tensor, "model model"], steps: int) -> float:
    """The largest absolute error, over all positions, with which a matrix predicts the encoding ``steps`` positions
    earlier."""
    return (table[steps:] @ matrix.T - table[:-steps]).abs().max().item()
