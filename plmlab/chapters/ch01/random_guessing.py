"""Random weight guessing on the first-symbol recall task: weights are sampled, not trained.

Hochreiter and Schmidhuber ("LSTM can solve hard long time lag problems", 1996) show that random guessing solves tasks
of this kind.
"""

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from plmlab.chapters.ch01.tasks import NOISE, TASKS

SIZE, CHOICE_SIZE, TEST_SIZE = 10.0, 200, 500


def guess(count: int, steps: int, generator: Generator) -> Float[Tensor, "guess"]:
    """Test error rates of ``count`` random plain RNNs with one unit each, for a time lag of ``steps``.

    Weights and biases are sampled uniformly from [−10, 10]. Which symbol a positive final state predicts is chosen on
    200 sequences; the test set consists of 500 other sequences.
    """
    W, U, b = ((2 * torch.rand(count, width, generator=generator) - 1) * SIZE for width in (2 + NOISE, 1, 1))
    x, first = TASKS["first symbol"].draw(CHOICE_SIZE + TEST_SIZE, steps, generator)
    symbols = x.argmax(-1)
    h = torch.zeros(count, len(symbols))
    for t in range(symbols.shape[1]):
        h = torch.tanh(W[:, symbols[:, t]] + U * h + b)
    wrong = ((h > 0) != (first == 1)).float()
    tried, test_set = wrong[:, :CHOICE_SIZE].mean(1), wrong[:, CHOICE_SIZE:].mean(1)
    return torch.where(tried <= 0.5, test_set, 1 - test_set)
