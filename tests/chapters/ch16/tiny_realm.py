"""A REALM in the words of chapter 16's worlds, too small to know anything."""

import torch

from plmlab.models.dual_encoder import DualEncoderConfig
from plmlab.models.realm import REALM
from plmlab.world.datasets.tokenizer import world_tokenizer


def tiny(seed: int = 0) -> REALM:
    """With random weights, drawn from the seed."""
    torch.manual_seed(seed)
    return REALM(DualEncoderConfig(len(world_tokenizer()), time=96, layers=1, model=16, heads=2, inner=16, dropout=0.0,
                                   attention_dropout=0.0, width=8)).eval()


def scattered(seed: int = 0) -> REALM:
    """With weights so large that texts get vectors far apart, where those of ``tiny`` are all but the same."""
    model, generator = tiny(), torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(generator=generator)
    return model
