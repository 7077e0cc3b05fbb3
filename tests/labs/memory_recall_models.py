"""A CogLTX for the tests of the Memory Recall Lab: a judge that counts common words, and one with loud random weights;
and states for JavaScript: ``python tests/labs/memory_recall_models.py``."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import nn

from plmlab.labs import MemoryRecallLab, MemoryRecallPreset
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.cogltx import CogLTX, CogLTXConfig
from plmlab.models.memory_recall import Window
from plmlab.models.registry import ModelSpec
from plmlab.text.tokenizers import Tokenizer

FILE = Path(__file__).with_name("memory_recall_fixtures.json")
SENTENCES = ("Nightfall is a film by Ada Holt .", "Rain fell on the hills .", "Ada Holt was born in Oslo .",
             "many people saw it twice .", "Oslo lies in the north .", "Tom Reed was born in Bern .",
             "he likes the film Nightfall .", "the hills are near Bern .")
"""Each sentence becomes a block."""
TEXT = " ".join(SENTENCES)
QUESTION = "where was the director of Nightfall born ?"
PRESETS = [MemoryRecallPreset("a birthplace", QUESTION, TEXT, ((0, 8), (14, 21)), "Oslo"),
           MemoryRecallPreset("the hills", "who fell on the hills ?", TEXT)]


@cache
def words() -> Tokenizer:
    return Tokenizer.words([*SENTENCES, *(preset.question for preset in PRESETS)], 200)


class Counts(CogLTX):
    """Scores the fraction of a block's tokens that are also in the query or in another block of the window, and answers
    with the token after the last "in" of the memory, or with its first token."""

    def scores(self, windows: Sequence[Window], /) -> list[list[float]]:
        return [[sum(id in window.query or window.ids.count(id) > 1 for id in block.ids[:-1]) / len(block)
                 for block in window.blocks] for window in windows]

    def answer(self, window: Window, longest: int = 10) -> tuple[int, int, int]:
        place = words().id("in")
        found = [(block.position, block.ids.index(place) + 1) for block in window.blocks if place in block.ids]
        position, start = found[-1] if found else (window.blocks[0].position, 0)
        return position, start, start + 1


@cache
def model(kind: type[CogLTX] = CogLTX) -> CogLTX:
    """Capacity for the question and three blocks; every weight large enough to matter."""
    encoder = ModelSpec(BERT, BERTConfig.tiny(len(words()), 40))
    made = kind(CogLTXConfig(encoder, capacity=40, longest=9, keep=(2, None)))
    generator = torch.Generator().manual_seed(1)
    for name, weight in made.named_parameters():
        nn.init.normal_(weight, mean=float("norm.weight" in name), std=0.35, generator=generator)
    return made


def lab(kind: type[CogLTX] = Counts, **traits: Any) -> MemoryRecallLab:
    """The lab at its first preset."""
    return MemoryRecallLab(model(kind), words(), PRESETS, **traits)


def cases() -> list[Any]:
    """The states of both presets, and one with changes."""
    changes = {"held": [0], "excluded": [5], "edits": {"3": "Ada saw Oslo twice ."}}
    return [made.state for made in (lab(), lab(document=1), lab(**changes))]


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), ensure_ascii=False) + "\n", encoding="utf-8")
