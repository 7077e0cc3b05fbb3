"""The time lags that each recurrent cell can learn to bridge: training on the long-memory tasks at several lengths.

Hochreiter and Schmidhuber (1997) report that an LSTM learns lags of more than 1,000 steps. Le et al. (2015, figure 2)
report that an RNN with ReLU and identity initialization solves the adding problem as well as an LSTM, whereas a plain
RNN fails from 150 steps on.
"""

from math import isfinite

import torch
from torch import nn

from plmlab.chapters.ch01.last_state_model import LastStateModel
from plmlab.chapters.ch01.tasks import TASKS

HIDDEN = {"adding": 100, "first symbol": 32}
UPDATES = {"adding": 2000, "first symbol": 600}
EVERY, BATCH, TEST_SIZE = 50, 32, 500
LIMIT = 1.0
"""Maximum gradient norm (gradient clipping)."""


def build(task: str, cell: str, steps: int, seed: int) -> LastStateModel:
    """Return an untrained network with this cell for a task, initialized with ``seed``."""
    torch.manual_seed(seed)
    return LastStateModel(cell, TASKS[task].inputs, HIDDEN[task], TASKS[task].outputs, steps)


def learn(task: str, cell: str, steps: int, lr: float, seed: int) -> tuple[LastStateModel, list[float]]:
    """Train a network on a task; stop after `UPDATES` or as soon as the task is solved.

    Returns the network, and its errors on 500 new sequences, measured before training and after every 50 updates.
    """
    problem, network = TASKS[task], build(task, cell, steps, seed)
    draw = torch.Generator().manual_seed(seed)
    test_set, answers = problem.draw(TEST_SIZE, steps, torch.Generator().manual_seed(10_000))
    optimizer = torch.optim.Adam(network.parameters(), lr)
    errors = [_error(network, task, test_set, answers)]
    for update in range(1, UPDATES[task] + 1):
        inputs, targets = problem.draw(BATCH, steps, draw)
        optimizer.zero_grad()
        problem.loss(network(inputs), targets).backward()
        nn.utils.clip_grad_norm_(network.parameters(), LIMIT)
        optimizer.step()
        if update % EVERY == 0:
            error = _error(network, task, test_set, answers)
            if not isfinite(error):
                break
            errors.append(error)
            if error <= problem.solved:
                break
    return network, errors


@torch.no_grad()
def _error(network: LastStateModel, task: str, test_set: torch.Tensor, answers: torch.Tensor) -> float:
    return float(TASKS[task].error(network(test_set), answers))
