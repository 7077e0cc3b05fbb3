"""Networks of four masks for the tests of the Four-mask Lab: loud random weights, and a head that is wanting."""

from functools import cache
from typing import Any

import torch
from torch import nn

from plmlab import world
from plmlab.labs import FourMasksLab
from plmlab.models.unilm import UniLMConfig, UniLMPretraining
from plmlab.world.datasets.tokenizer import small_world_tokenizer

SMALL = world.small()
WORDS = small_world_tokenizer()
TEXT = "the cups near the chair are lost ."
"""The verb stands behind a noun of the other number."""


@cache
def random_model(layers: int = 2, model: int = 16) -> UniLMPretraining:
    """In float64, every weight large enough to matter."""
    generator = torch.Generator().manual_seed(0)
    config = UniLMConfig(len(WORDS), time=40, layers=layers, model=model, heads=2, inner=model, dropout=0.0)
    made = UniLMPretraining(config).double().eval()
    for name, weight in made.named_parameters():
        nn.init.normal_(weight, mean=float(name.endswith("norm.weight")), std=0.4, generator=generator)
    return made


def lab(text: str = TEXT, **more: Any) -> FourMasksLab:
    """A lab of the random model, its verb hidden where the text is the usual one."""
    hide = "are" if text == TEXT else None
    return FourMasksLab(random_model(), WORDS, text, **{"world": SMALL, "hide": hide, **more})
