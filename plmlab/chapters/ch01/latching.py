"""What a first sign leaves in a plain RNN, and what a small push leaves: a state may keep a bit that no push survives.

Bengio et al. 1994, "Learning long-term dependencies with gradient descent is difficult", §III and IV.
"""

from copy import deepcopy

import torch

from plmlab.chapters.ch01 import lags
from plmlab.chapters.ch01.long_memories import FromLastState
from plmlab.chapters.ch01.pushes import reach
from plmlab.chapters.ch01.tasks import TASKS

STEPS, LR, SEED, ASKED = 100, 1e-2, 2, 16


def again() -> tuple[FromLastState, list[float]]:
    """One of the recorded runs of the plain RNN over 100 steps, and its errors."""
    return lags.learn("first sign", "RNN", STEPS, LR, SEED)


@torch.no_grad()
def left(network: FromLastState) -> dict[str, list[float]]:
    """How far apart two states are after 1, 2, … steps: of sequences that differ in "the first sign" alone, and after
    "a push of 1", to first order; root mean squares over 16 sequences."""
    signs = TASKS["first sign"].draw(ASKED, STEPS, torch.Generator().manual_seed(1))[0].double()
    others = signs.clone()
    others[:, 0, :2] = signs[:, 0, :2].flip(-1)
    recurrent = deepcopy(network.recurrent).double()
    apart = (recurrent(signs)[0] - recurrent(others)[0]).square().sum(-1).mean(0).sqrt()
    push = reach(recurrent, signs, torch.Generator().manual_seed(0))
    return {"the first sign": apart.tolist(), "a push of 1": push.tolist()}
