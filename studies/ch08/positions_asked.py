"""Excess of BERT's loss over its floor, by masking rate and number of updates (small world).

Is BERT further from its floor because only one position in seven is a target?
"""

from functools import partial
from typing import Any

import torch

from plmlab import world
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.objectives.masked import masked
from plmlab.recipes import Parts, seed_summary
from plmlab.train import fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.masked_test_set import masked_test_set
from plmlab.world.datasets.tokenizer import small_world_tokenizer

STEPS, BATCH, LR = 500, 64, 1e-2
SEEDS = (0, 1, 2)
SHARES = ((0.15, 1), (0.3, 1), (0.5, 1), (0.15, 2), (0.3, 2))
"""Masking rate, and number of updates in multiples of ``STEPS``."""


def train(seed: int, share: float, times: int) -> BERTPretraining:
    """Train a BERT with two layers of width 64 at a given masking rate, as in section 3 of the chapter."""
    torch.manual_seed(seed)
    model = BERTPretraining(BERTConfig(len(small_world_tokenizer()), time=32, layers=2, model=64, heads=4, inner=256,
                                       dropout=0.0, attention_dropout=0.0))
    text = sentence_batches(world.small(), "train", small_world_tokenizer(), partial(masked, rate=share), BATCH, seed)
    fit(model, text, steps=times * STEPS, lr=LR, warmup=50, show=False)
    return model


def above_floor(share: float, times: int, seed: int) -> float:
    """The excess of the test loss over the floor, as a fraction of the floor."""
    model = train(seed, share, times)
    batch, floor = masked_test_set(world.small(), small_world_tokenizer())
    with torch.no_grad():
        return float(model.loss(batch)) / floor - 1


def measure(parts: Parts) -> list[dict[str, Any]]:
    """For each of the ``SHARES``: ``share``, ``updates``, and the excess of the loss over the floor (``above``), with
    spread."""
    runs = parts(above_floor, [(*one, seed) for one in SHARES for seed in SEEDS])
    return [{"share": share, "updates": times * STEPS,
             "above": seed_summary({seed: runs[share, times, seed] for seed in SEEDS})} for share, times in SHARES]
