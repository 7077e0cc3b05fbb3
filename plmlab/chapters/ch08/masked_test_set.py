"""The test set for masked language models in the small world, with the Bayes-optimal loss on exactly the same masks."""

from functools import cache, partial
from itertools import islice
from random import Random

from plmlab import world
from plmlab.example import Batch
from plmlab.objectives.masked import always_mask_same_draws, masked
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from plmlab.world.probability.example_floor import example_floor

all_masked = partial(masked, corrupt=always_mask_same_draws)
"""As ``masked``, but every selected position becomes [MASK]."""


@cache
def masked_test_set(seed: int = 99) -> tuple[Batch, float]:
    """600 sentences with 15 % of the positions masked, and the Bayes-optimal loss on these masks, in nats per masked
    word."""
    small, draw, vocab = world.small(), Random(1), small_world_tokenizer().vocab
    sentences = list(islice(small.text("train", seed=seed), 600))
    examples = [all_masked(small_world_tokenizer().encode(" ".join(words), plain=True), vocab=vocab, rng=draw)
                for words in sentences]
    best = example_floor(small.automaton(), sentences, all_masked, Random(1)).mean
    return Batch.of(examples, pad=vocab.need("pad")), best
