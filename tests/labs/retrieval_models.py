"""A REALM for the tests of the Retrieval Lab: loud random weights, a few documents of a few words."""

from functools import cache
from typing import Any

import torch
from torch import nn

from plmlab.labs import RetrievalLab, RetrievalPreset
from plmlab.models.dual_encoder import DualEncoderConfig
from plmlab.models.realm import REALM
from plmlab.models.retrieve_and_read import RetrieveAndRead
from plmlab.retrieval.blocks import Block
from plmlab.text.tokenizers import Tokenizer

TOLD = {
    "Flora Farrow": "Flora Farrow was born in Vernon . she keeps a dog .",
    "Vernon": "Vernon is a town by the river . Flora Farrow comes from there .",
    "Peter Quinn": "Peter Quinn was born in Alder in 1937 . he works at Drake Radio .",
    "Alder": "Alder is a town near the sea .",
    "Drake Radio": "Drake Radio is a company in Norvik .",
    "The Quiet Summer": "The Quiet Summer is a film . Peter Quinn directed it in 1974 .",
    "Norvik": "Norvik lies by the sea .",
}
TEXT = "Flora Farrow was born in [MASK] ."
TWO = "[MASK] [MASK] keeps a dog ."
PRESETS = [RetrievalPreset("a birthplace", TEXT, "Vernon"),
           RetrievalPreset("two words", TWO, "Flora Farrow", excluded=(0,)),
           RetrievalPreset("told otherwise", TEXT.replace("born", "seen"),
                           replaced={0: ("Flora Farrow", "Flora Farrow was seen in Alder .")})]


@cache
def words() -> Tokenizer:
    return Tokenizer.words([*TOLD, *TOLD.values(), TEXT, TWO, "seen"], 200)


@cache
def model(time: int = 48) -> REALM:
    """Every weight large enough to matter."""
    generator = torch.Generator().manual_seed(1)
    config = DualEncoderConfig(len(words()), time, 2, 16, 2, 32, dropout=0.0, attention_dropout=0.0, width=8)
    made = REALM(config).eval()
    for name, weight in made.named_parameters():
        nn.init.normal_(weight, mean=float("norm.weight" in name), std=0.35, generator=generator)
    return made


def lookup(**more: Any) -> RetrieveAndRead:
    """The model among the documents, in their order."""
    return RetrieveAndRead.of(model(**more), words(), [Block(title, 0, (text,)) for title, text in TOLD.items()])


def lab(**traits: Any) -> RetrievalLab:
    """The lab at its first preset, or another text."""
    return RetrievalLab(lookup(), PRESETS, **traits)
