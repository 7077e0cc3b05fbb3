"""Is BERT farther from its floor because only about 15 % of the positions are targets? Other masking rates (small
world)."""

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
"""As ``masked``, but every selected position becomes [MASK]."""


@cache
def test_set(seed: int = 99) -> tuple[Batch, float]:
    """600 sentences with 15 % of the positions masked, and the Bayes-optimal loss on exactly these masks, in nats."""
    small, draw, vocab = world.small(), Random(1), small_world_tokenizer().vocab
    sentences = list(islice(small.text("train", seed=seed), 600))
    examples = [all_masked(small_world_tokenizer().encode(" ".join(words), plain=True), vocab=vocab, rng=draw)
                for words in sentences]
    best = example_floor(small.automaton(), sentences, all_masked, Random(1)).mean
    return Batch.of(examples, pad=vocab.need("pad")), best


def train(seed: int, share: float = 0.15, times: int = 1, **options: Any) -> tuple[BERTPretraining, History]:
    """Train a BERT with two layers of width 64 at a given masking rate; returns the model and its training history."""
    torch.manual_seed(seed)
    model = BERTPretraining(BERTConfig(len(small_world_tokenizer()), time=32, layers=2, model=64, heads=4, inner=256,
                                       dropout=0.0, attention_dropout=0.0))
    text = sentence_batches(world.small(), "train", small_world_tokenizer(), partial(masked, rate=share), BATCH, seed)
    return model, fit(model, text, steps=times * STEPS, lr=LR, warmup=50, **options)
