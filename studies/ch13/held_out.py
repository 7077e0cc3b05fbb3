"""The held-out loss by which the studies of chapter 13 choose the learning rates of pretraining."""

from statistics import fmean

import torch

from plmlab.batches import ExampleBatches
from plmlab.recipes.study import Run

SEED = 77
"""The seed of the held-out texts."""


@torch.no_grad()
def held_out_loss(run: Run, texts: ExampleBatches, count: int) -> float:
    """The mean loss per target of a run's model on the first ``count`` batches, which is comparable only between runs
    of the same variant."""
    return fmean(float(run.model.loss(texts(i))) for i in range(count))
