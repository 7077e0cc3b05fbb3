"""Two long-memory tasks: the adding problem, and recalling the first symbol of a sequence.

The adding problem (Hochreiter and Schmidhuber 1997, §5.4) follows the version of Le et al. 2015, §4.1: the inputs are
numbers from 0 to 1, of which two are marked, one in each half. Recalling the first symbol after noise is similar to a
task of Bengio et al. 1994, §II, and to task 2c of Hochreiter and Schmidhuber.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Generator, Tensor
from torch.nn import functional as F

NOISE = 4
"""Number of distinct noise symbols, in addition to the two that have to be recalled."""


@dataclass(frozen=True)
class Task:
    """A sequence task whose answer is predicted from the state after the last step.

    Attributes:
        inputs: input size at each step.
        outputs: output size.
        draw: maps (count, steps, generator) to random sequences [count steps inputs] and their targets.
        loss: training loss, a function of outputs and targets.
        error: test error, a function of outputs and targets.
        solved: the task counts as solved if the error is at most this value.
        constant: error of the best constant prediction.
    """

    inputs: int
    outputs: int
    draw: Callable[[int, int, Generator], tuple[Tensor, Tensor]]
    loss: Callable[[Tensor, Tensor], Tensor]
    error: Callable[[Tensor, Tensor], Tensor]
    solved: float
    constant: float


def adding_problem(count: int, steps: int, generator: Generator) -> tuple[Tensor, Tensor]:
    """Adding problem: sequences of (number, mark) pairs; the target is the sum of the two marked numbers, `[count
    1]`."""
    values, marks = torch.rand(count, steps, generator=generator), torch.zeros(count, steps)
    half = steps // 2
    for first, last in ((0, half), (half, steps)):
        marks[torch.arange(count), torch.randint(first, last, (count,), generator=generator)] = 1
    return torch.stack([values, marks], -1), (values * marks).sum(1, keepdim=True)


def first_symbol_recall(count: int, steps: int, generator: Generator) -> tuple[Tensor, Tensor]:
    """First-symbol recall: one of two symbols, followed by ``steps`` noise symbols, all one-hot; targets `[count]`."""
    first = torch.randint(2, (count, 1), generator=generator)
    noise = torch.randint(2, 2 + NOISE, (count, steps), generator=generator)
    return F.one_hot(torch.cat([first, noise], 1), 2 + NOISE).float(), first[:, 0]


def error_rate(logits: Tensor, right: Tensor) -> Tensor:
    """Error rate: the fraction of sequences whose most probable answer is wrong."""
    return (logits.argmax(-1) != right).float().mean()


TASKS = {
    "adding": Task(2, 1, adding_problem, F.mse_loss, F.mse_loss, solved=0.01, constant=1 / 6),
    "first symbol": Task(2 + NOISE, 2, first_symbol_recall, F.cross_entropy, error_rate, solved=0.01, constant=0.5),
}
