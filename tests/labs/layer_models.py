"""A tiny ELMo with random weights for the Layer Lab's tests, and sentences whose senses are known by hand."""

from functools import cache
from typing import Any

import torch

from plmlab.labs import LayerLab
from plmlab.labs.layer.store import Sentences
from plmlab.models.elmo import ELMo, ELMoConfig
from plmlab.text.words import word_tokenizer
from plmlab.world.datasets.occurrences import Occurrence

TEXTS = {
    "bank.money.left1": ["the {} took money from the bank .", "old {} keeps money at the bank ."],
    "bank.money.right1": ["the bank lent the {} some money .", "the bank of the {} closed early ."],
    "bank.river.left1": ["the {} sat by the water on the bank ."],
    "bank.river.right1": ["the bank near the {} is covered with reeds ."],
    "bat.animal.left1": ["at night the {} saw a black bat ."],
    "bat.animal.right1": ["the bat of the {} slept ."],
    "bat.club.left1": ["the {} hit the ball with a bat ."],
    "star.sky.left1": ["the {} saw a star ."],
}
WHO = ("nurse", "miner", "baker", "pilot")
TEXT, SECOND = "the bank lent the nurse some money .", "the miner sat by the water on the bank ."
WORDS = word_tokenizer(sorted({word for texts in TEXTS.values() for text in texts
                               for word in text.format("boy").split()} | set(WHO) | {"猫", "Zürich"}))


def occurrence(pattern: str, text: str) -> Occurrence:
    word, sense, side = pattern.split(".")
    words = tuple(text.split())
    return Occurrence(words, words.index(word), f"{word}.{sense}", pattern, side[:-1])


@cache
def sentences() -> Sentences:
    """Of each pattern two people are stored, and two asked about."""
    rows = [[occurrence(pattern, text.format(who)) for pattern, texts in TEXTS.items() for text in texts
             for who in some] for some in (WHO[:2], WHO[2:])]
    return Sentences(tuple(rows[0]), tuple(rows[1]))


@cache
def elmo() -> ELMo:
    """Random weights, large enough that contexts differ; three layers of 2 × 4 numbers."""
    torch.manual_seed(3)
    model = ELMo(ELMoConfig(vocab=len(WORDS), longest=12, model=4, hidden=6, clip=None, embedding=5,
                            filters=((1, 4), (2, 6), (3, 6)), highways=1)).eval()
    with torch.no_grad():
        for parameter in model.bilm.parameters():
            parameter.mul_(3)
    model.set_spelling(WORDS)
    return model


def lab(**more: Any) -> LayerLab:
    """A lab of them."""
    return LayerLab(elmo(), WORDS, **{"text": TEXT, "second": SECOND, "sentences": sentences(), "presets": (),
                                      "spelled": "bankful", **more})
