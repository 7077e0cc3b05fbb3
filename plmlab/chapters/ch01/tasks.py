"""Two tasks that only a long memory solves: adding two numbers of many, and telling the first sign of a sequence.

The adding problem: Hochreiter and Schmidhuber 1997, §5.4, as Le et al. 2015, §4.1, have it: numbers from 0 to 1, two of
them marked, one in each half. Telling the first sign after noise: Bengio et al. 1994, §II, and Hochreiter and
Schmidhuber's task 2c are of this kind.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Generator, Tensor
from torch.nn import functional as F

NOISE = 4
"""How many signs the noise has, beside the two that matter."""


@dataclass(frozen=True)
class Task:
    """A question about a sequence, answered from the state after its last step.

    Attributes:
        inputs: how many numbers are read at each step.
        outputs: how many are answered.
        draw: (count, steps, generator) → that many sequences [count steps inputs], and what is right about them.
        loss: what training lowers, of the outputs and what is right.
        error: what an exam counts.
        solved: the error from which on the task is solved.
        constant: the error of the best answer that looks at nothing.
    """

    inputs: int
    outputs: int
    draw: Callable[[int, int, Generator], tuple[Tensor, Tensor]]
    loss: Callable[[Tensor, Tensor], Tensor]
    error: Callable[[Tensor, Tensor], Tensor]
    solved: float
    constant: float


def two_of_many(count: int, steps: int, generator: Generator) -> tuple[Tensor, Tensor]:
    """Steps of [number, mark], and the sum of the two marked numbers [count 1]."""
    values, marks = torch.rand(count, steps, generator=generator), torch.zeros(count, steps)
    half = steps // 2
    for first, last in ((0, half), (half, steps)):
        marks[torch.arange(count), torch.randint(first, last, (count,), generator=generator)] = 1
    return torch.stack([values, marks], -1), (values * marks).sum(1, keepdim=True)


def first_of_many(count: int, steps: int, generator: Generator) -> tuple[Tensor, Tensor]:
    """One of two signs, then ``steps`` signs of noise, one-hot; and which sign came first [count]."""
    first = torch.randint(2, (count, 1), generator=generator)
    noise = torch.randint(2, 2 + NOISE, (count, steps), generator=generator)
    return F.one_hot(torch.cat([first, noise], 1), 2 + NOISE).float(), first[:, 0]


def share_wrong(logits: Tensor, right: Tensor) -> Tensor:
    """The share of sequences whose likeliest answer is wrong."""
    return (logits.argmax(-1) != right).float().mean()


TASKS = {
    "adding": Task(2, 1, two_of_many, F.mse_loss, F.mse_loss, solved=0.01, constant=1 / 6),
    "first sign": Task(2 + NOISE, 2, first_of_many, F.cross_entropy, share_wrong, solved=0.01, constant=0.5),
}
