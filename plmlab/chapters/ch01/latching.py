"""What a first sign leaves in a plain RNN, and what a small push leaves: a state may keep a bit that no push survives.

Bengio et al. 1994, "Learning long-term dependencies with gradient descent is difficult", §III and IV.
"""

from copy import deepcopy

import torch

from plmlab.chapters.ch01 import lags
from plmlab.chapters.ch01.long_memories import FromLastState
from plmlab.chapters.ch01.pushes import reach
from plmlab.chapters.ch01.tasks import TASKS

STEPS, LR, ASKED = 100, 1e-2, 16
SEEDS = range(2, 12)
"""The first is a recorded one. Where gradients are as small as rounding, Adam divides by them, and a run hangs on the
last digit: with another processor's kernels it may end otherwise."""
GONE = 1e-3
"""What is left of a push of 1 where it has died out."""


def again() -> tuple[FromLastState, list[float], int]:
    """A plain RNN that tells the first sign after 100 steps, and in which a push dies out; its errors, and its seed.

    That of the first of `SEEDS` of which both holds; of the last, where it holds of none.
    """
    for seed in SEEDS:
        network, errors = lags.learn("first sign", "RNN", STEPS, LR, seed)
        if errors[-1] <= TASKS["first sign"].solved and left(network)["a push of 1"][STEPS - 1] < GONE:
            break
    return network, errors, seed


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
