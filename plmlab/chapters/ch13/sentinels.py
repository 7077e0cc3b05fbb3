"""T5 with a unique sentinel for each dropped span, and with one shared sentinel."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from random import Random
from typing import cast

import torch
from torch import Tensor

from plmlab import decode, world
from plmlab.example import PairBatch, PairExample
from plmlab.models.t5 import T5, T5Config, span_corruption_anywhere
from plmlab.text import Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import fit
from plmlab.world.datasets.batches import sentence_batches

RATE, MEAN, BATCH, TEST, LONGEST = 0.5, 1.5, 32, 300, 30
"""Corruption rate, mean span length, training and test sentences per batch, and maximum number of generated tokens."""


unique = partial(span_corruption_anywhere, rate=RATE, mean=MEAN)


def one_shared(tokens: list[int], *, vocab: Vocabulary, rng: Random) -> PairExample:
    """Span corruption with the first sentinel for every span."""
    example = unique(tokens, vocab=vocab, rng=rng)

    def first(ids: Tensor) -> Tensor:
        return torch.where(torch.isin(ids, torch.tensor(vocab.sentinels)), vocab.sentinels[0], ids)
    source, target = example.source, example.target
    return replace(example, source=replace(source, tokens=first(source.tokens)),
                   target=replace(target, tokens=first(target.tokens), targets=first(target.targets)))


OBJECTIVES: dict[str, Callable[..., PairExample]] = {"unique": unique, "one shared": one_shared}
"""Sentinels → objective."""


def exact_match(tokenizer: Tokenizer, sentinels: str, updates: int) -> float:
    """Train a T5 on the small world, and return the fraction of test sentences of which it generates the whole
    target, all dropped tokens and sentinels."""
    torch.manual_seed(0)
    model = T5(T5Config.tiny(len(tokenizer)))
    texts = partial(sentence_batches, world.small(), "train", tokenizer, OBJECTIVES[sentinels])
    fit(model, texts(BATCH, 0), steps=updates, lr=3e-2, warmup=50, optimizer="adafactor", show=False)
    batch = cast(PairBatch, texts(TEST, 99)(0))
    return decode.exact_match(model.eval(), batch, tokenizer.vocab, length=LONGEST)
