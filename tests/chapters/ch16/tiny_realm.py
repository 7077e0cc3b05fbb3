"""A REALM in the words of chapter 16's worlds, too small to know anything."""

import torch

from plmlab.models.embedder import EmbedderConfig
from plmlab.models.realm import REALM
from plmlab.world.datasets.tokenizer import spelling


def tiny(seed: int = 0) -> REALM:
    """With random weights, drawn from the seed."""
    torch.manual_seed(seed)
    return REALM(EmbedderConfig(len(spelling()), time=96, layers=1, model=16, heads=2, inner=16, dropout=0.0,
                                attention_dropout=0.0, width=8)).eval()
