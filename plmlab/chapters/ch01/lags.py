"""How long a lag is bridged: each cell's network on each task, at several lengths.

Hochreiter and Schmidhuber (1997) say that an LSTM learns lags beyond 1,000 steps; Le et al. (2015, figure 2) that an
RNN with ReLU and identity weights adds as well as an LSTM, and a plain one never does from 150 steps on.
"""

from math import isfinite

import torch
from torch import nn

from plmlab.chapters.ch01.long_memories import FromLastState
from plmlab.chapters.ch01.tasks import TASKS

HIDDEN = {"adding": 100, "first sign": 32}
UPDATES = {"adding": 2000, "first sign": 600}
EVERY, BATCH, TEST_SIZE = 50, 32, 500
LIMIT = 1.0
"""The norm that gradients are clipped to."""


def build(task: str, cell: str, steps: int, seed: int) -> FromLastState:
    """A network of a cell for a task, with random weights of this seed."""
    torch.manual_seed(seed)
    return FromLastState(cell, TASKS[task].inputs, HIDDEN[task], TASKS[task].outputs, steps)


def learn(task: str, cell: str, steps: int, lr: float, seed: int) -> tuple[FromLastState, list[float]]:
    """A network after as many updates as the task is given, or fewer if it is solved; and its error on 500 new
    sequences before training and after every 50 updates."""
    asked, network = TASKS[task], build(task, cell, steps, seed)
    draw = torch.Generator().manual_seed(seed)
    test_set, right = asked.draw(TEST_SIZE, steps, torch.Generator().manual_seed(10_000))
    optimizer = torch.optim.Adam(network.parameters(), lr)
    errors = [_error(network, task, test_set, right)]
    for update in range(1, UPDATES[task] + 1):
        given, wanted = asked.draw(BATCH, steps, draw)
        optimizer.zero_grad()
        asked.loss(network(given), wanted).backward()
        nn.utils.clip_grad_norm_(network.parameters(), LIMIT)
        optimizer.step()
        if update % EVERY == 0:
            error = _error(network, task, test_set, right)
            if not isfinite(error):
                break
            errors.append(error)
            if error <= asked.solved:
                break
    return network, errors


@torch.no_grad()
def _error(network: FromLastState, task: str, test_set: torch.Tensor, right: torch.Tensor) -> float:
    return float(TASKS[task].error(network(test_set), right))
