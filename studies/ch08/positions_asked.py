"""BERT's loss above its floor, by masking rate and number of updates."""

from typing import Any

import torch

from plmlab.chapters.ch08.positions_asked import STEPS, test_set, train
from plmlab.recipes import Parts, seed_summary

SEEDS = (0, 1, 2)
SHARES = ((0.15, 1), (0.3, 1), (0.5, 1), (0.15, 2), (0.3, 2))
"""Masking rate, and number of updates in multiples of ``STEPS``."""


def above_floor(share: float, times: int, seed: int) -> float:
    """How far the test loss is above its floor, as a fraction of the floor."""
    model, _ = train(seed, share, times, show=False)
    batch, floor = test_set()
    with torch.no_grad():
        return float(model.loss(batch)) / floor - 1


def measure(parts: Parts) -> list[dict[str, Any]]:
    """For each of ``SHARES``: ``share``, ``updates``, and how far the loss is ``above`` the floor, with spread."""
    runs = parts(above_floor, [(*one, seed) for one in SHARES for seed in SEEDS])
    return [{"share": share, "updates": times * STEPS,
             "above": seed_summary({seed: runs[share, times, seed] for seed in SEEDS})} for share, times in SHARES]
