"""A Transformer-XL of loud random weights for the tests of the Memory Lab, and a text that asks what it told."""

from dataclasses import replace
from functools import cache
from typing import Any

import torch

from plmlab.labs import MemoryLab
from plmlab.models.transformer_xl import TransformerXL, TransformerXLConfig
from plmlab.text.words import word_tokenizer
from plmlab.world.datasets.recalls import Recall, RecallText

TEXT = ("the cat slept . the secret word of Helen was crane . Lucy opened the window . "
        "what was the secret word of Helen ? crane .")
"""Told at position 10, asked at position 24."""
TOLD, ASKED = 10, 24
WORDS = word_tokenizer([*sorted(set(TEXT.split())), "boat", "猫"])
SMALL = TransformerXLConfig(len(WORDS), segment=6, memory=12, layers=2, model=12, heads=3, inner=20, dropout=0.0)
RECALLS = RecallText(tuple(TEXT.split()), (
    Recall("word", TOLD, ASKED + 1, ("crane",), (("crane",), ("boat",))),))


@cache
def random_model(**changes: Any) -> TransformerXL:
    """In float64, every weight large enough to matter."""
    generator = torch.Generator().manual_seed(5)
    model = TransformerXL(replace(SMALL, **changes)).double().eval()
    for name, weight in model.named_parameters():
        torch.nn.init.normal_(weight, mean=float(name.endswith("norm.weight")), std=0.3, generator=generator)
    return model


def lab(text: str | None = None, model: TransformerXL | None = None, **more: Any) -> MemoryLab:
    """A lab of the random model, with the text that asks."""
    return MemoryLab(model or random_model(), WORDS, text, **{"texts": [RECALLS], **more})
