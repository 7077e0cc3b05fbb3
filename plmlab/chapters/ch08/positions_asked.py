"""Is BERT farther from its floor because one position in seven is asked? Other shares of positions, on the small
world."""

from functools import cache, partial
from itertools import islice
from random import Random
from typing import Any

import torch

from plmlab import world
from plmlab.example import Batch
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.objectives.masked import always_mask_same_draws, masked
from plmlab.train import History, fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from plmlab.world.probability.example_floor import example_floor

STEPS, BATCH, LR = 500, 64, 1e-2


all_masked = partial(masked, corrupt=always_mask_same_draws)
"""As ``masked``, but every selected position shows [MASK]."""


@cache
def test_set(seed: int = 99) -> tuple[Batch, float]:
    """600 sentences with gaps, 15 % of the positions, and what the best reader pays for these very gaps, in nats."""
    small, draw, vocab = world.small(), Random(1), small_world_tokenizer().vocab
    new = list(islice(small.text("train", seed=seed), 600))
    gaps = [all_masked(small_world_tokenizer().encode(" ".join(text), plain=True), vocab=vocab, rng=draw)
            for text in new]
    return Batch.of(gaps, pad=vocab.need("pad")), example_floor(small.automaton(), new, all_masked, Random(1)).mean


def train(seed: int, share: float = 0.15, times: int = 1, **options: Any) -> tuple[BERTPretraining, History]:
    """A BERT of two layers of 64 that is asked for a share of the positions, and the history of its run."""
    torch.manual_seed(seed)
    model = BERTPretraining(BERTConfig(len(small_world_tokenizer()), time=32, layers=2, model=64, heads=4, inner=256,
                                       dropout=0.0, attention_dropout=0.0))
    text = sentence_batches(world.small(), "train", small_world_tokenizer(), partial(masked, rate=share), BATCH, seed)
    return model, fit(model, text, steps=times * STEPS, lr=LR, warmup=50, **options)
