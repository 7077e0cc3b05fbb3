"""How far BERT stands above its floor by the share of positions that it is asked for, and by updates."""

from typing import Any

import torch

from plmlab.chapters.ch08.positions_asked import STEPS, test_set, train
from plmlab.recipes import Parts, seed_summary

SEEDS = (0, 1, 2)
SHARES = ((0.15, 1), (0.3, 1), (0.5, 1), (0.15, 2), (0.3, 2))
"""The share of positions that are asked, and how many times ``STEPS`` updates are made."""


def above_floor(share: float, times: int, seed: int) -> float:
    """How far the loss in the exam stands above its floor, as a share of the floor."""
    model, _ = train(seed, share, times, show=False)
    batch, floor = test_set()
    with torch.no_grad():
        return float(model.loss(batch)) / floor - 1


def measure(parts: Parts) -> list[dict[str, Any]]:
    """For each of ``SHARES``: ``share``, ``updates``, and how far ``above`` the floor, with spread."""
    runs = parts(above_floor, [(*one, seed) for one in SHARES for seed in SEEDS])
    return [{"share": share, "updates": times * STEPS,
             "above": seed_summary({seed: runs[share, times, seed] for seed in SEEDS})} for share, times in SHARES]
