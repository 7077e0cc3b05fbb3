"""A GLM for the tests of the Blank Lab: loud random weights, and [END] so likely that blanks come to an end."""

from functools import cache
from typing import Any

import torch
from torch import nn

from plmlab import world
from plmlab.labs import BlankLab
from plmlab.models.glm import GLMConfig, GLMPretraining
from plmlab.world.datasets.tokenizer import small_world_tokenizer

SMALL = world.small()
WORDS = small_world_tokenizer()
TEXT = "the cups near the chair are lost ."
SPANS, ORDER = [[1, 2], [4, 6]], [1, 0]
"""cups, and chair are; this one is filled first."""


@cache
def random_model(layers: int = 2, model: int = 16, time: int = 40) -> GLMPretraining:
    """In float64, every weight large enough to matter."""
    generator = torch.Generator().manual_seed(0)
    config = GLMConfig(len(WORDS), time, layers, model, 2, model, dropout=0.0, attention_dropout=0.0)
    made = GLMPretraining(config).double().eval()
    for name, weight in made.named_parameters():
        nn.init.normal_(weight, mean=float(name.endswith("norm.weight")), std=0.4, generator=generator)
    with torch.no_grad():
        made.encoder.embeddings.token.weight[WORDS.vocab.need("end")] *= 2
    return made


def lab(text: str = TEXT, **more: Any) -> BlankLab:
    """A lab of the random model, with the usual blanks where the text is the usual one."""
    usual: dict[str, Any] = {"spans": SPANS, "order": ORDER} if text == TEXT else {}
    return BlankLab(random_model(), WORDS, text, **{"world": SMALL, **usual, **more})
