"""Models of two streams for the tests of the Permutation Lab: one that is perfect, and one of loud random weights."""

from functools import cache
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

from plmlab import world
from plmlab.example import IGNORE, Batch
from plmlab.labs import PermutationLab
from plmlab.models.xlnet import XLNetConfig, XLNetPretraining
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from plmlab.world.probability.posterior import NotInGrammar

SMALL = world.small()
WORDS = small_world_tokenizer()
TEXT = "the cats are hungry ."
"""One of 14 sentences of five words; its probability among them is 1 ÷ 20."""
LONG = "the cups near the chair are lost ."
MIXED = [2, 4, 0, 1, 3]
"""An order of its words, neither from left to right nor from right to left: are . the cats hungry."""
SEP = WORDS.vocab.need("sep")
FEW = 6
"""Sentences of a tally, so that it is soon made."""


class Perfect(XLNetPretraining):
    """Says at each asked position the exact posterior, given the words that its query stream may see and how many there
    are; a word that it sees itself it reads off. Of what is no sentence it knows nothing."""

    def __init__(self) -> None:
        super().__init__(XLNetConfig(len(WORDS), layers=1, model=2, heads=1, inner=2))

    def forward(self, batch: Batch) -> Tensor:
        assert batch.query_stream_mask is not None and batch.query_stream_mask.pairs is not None
        size = (*batch.size, len(WORDS))
        logits = torch.zeros(size, dtype=torch.float64)
        for row, (ids, targets) in enumerate(zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True)):
            words = WORDS.tokens(ids[:ids.index(SEP)])
            for position in (position for position, target in enumerate(targets) if target != IGNORE):
                seen = [key for key in range(len(words)) if batch.query_stream_mask.pairs[row, position, key]]
                logits[row, position] = believed(tuple(words), position, tuple(seen))
        return logits


@cache
def believed(words: tuple[str, ...], position: int, seen: tuple[int, ...]) -> Tensor:
    """log p of each word of the vocabulary."""
    chances = torch.zeros(len(WORDS), dtype=torch.float64)
    if position in seen:
        chances[WORDS.id(words[position])] = 1
        return chances.clamp_min(1e-9).log()
    hidden = [place for place in range(len(words)) if place not in seen]
    try:
        found = SMALL.posterior(words, hidden)[hidden.index(position)]
    except NotInGrammar:
        return chances
    for word, p in found.items():
        chances[WORDS.id(word)] = p
    return chances.log()


@cache
def random_model(seed: int = 0) -> XLNetPretraining:
    """In float64, every weight large enough to matter."""
    generator = torch.Generator().manual_seed(seed)
    config = XLNetConfig(len(WORDS), layers=2, model=16, heads=2, inner=16, dropout=0.0)
    model = XLNetPretraining(config).double().eval()
    for name, weight in model.named_parameters():
        nn.init.normal_(weight, mean=float(name.endswith("norm.weight")), std=0.4, generator=generator)
    return model


@patch("plmlab.labs.permutation.tally.SENTENCES", FEW)
def perfect(text: str = TEXT, **more: Any) -> PermutationLab:
    """A lab of the perfect model, which leaks where it is asked to."""
    model = Perfect()
    return PermutationLab(model, WORDS, text, **{"world": SMALL, "leaking": model, **more})


@patch("plmlab.labs.permutation.tally.SENTENCES", FEW)
def lab(text: str | None = TEXT, **more: Any) -> PermutationLab:
    """A lab of the random model, and of another one that leaks."""
    order = MIXED if text == TEXT else None
    return PermutationLab(random_model(), WORDS, text,
                          **{"world": SMALL, "leaking": random_model(1), "order": order, **more})
