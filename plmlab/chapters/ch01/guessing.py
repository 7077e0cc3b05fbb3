"""Telling the first sign by guessing: weights drawn at random, no training.

Hochreiter and Schmidhuber ("LSTM can solve hard long time lag problems", 1996) show that tasks of this kind fall to it.
"""

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from plmlab.chapters.ch01.tasks import NOISE, TASKS

SIZE, TRIED, TEST_SIZE = 10.0, 200, 500


def guess(count: int, steps: int, generator: Generator) -> Float[Tensor, "guess"]:
    """The share that each of ``count`` plain RNNs of one unit gets wrong over a lag: their weights and biases are drawn
    evenly from −10 to 10; what a positive last state means is chosen on 200 sequences, the exam has 500 others."""
    W, U, b = ((2 * torch.rand(count, wide, generator=generator) - 1) * SIZE for wide in (2 + NOISE, 1, 1))
    x, first = TASKS["first sign"].draw(TRIED + TEST_SIZE, steps, generator)
    signs = x.argmax(-1)
    h = torch.zeros(count, len(signs))
    for t in range(signs.shape[1]):
        h = torch.tanh(W[:, signs[:, t]] + U * h + b)
    wrong = ((h > 0) != (first == 1)).float()
    tried, test_set = wrong[:, :TRIED].mean(1), wrong[:, TRIED:].mean(1)
    return torch.where(tried <= 0.5, test_set, 1 - test_set)
