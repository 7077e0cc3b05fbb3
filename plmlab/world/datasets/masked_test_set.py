"""A test set for masked language models, with the Bayes-optimal loss on exactly the same masks."""

from functools import cache, partial
from itertools import islice
from random import Random

from plmlab.example import Batch
from plmlab.objectives.masked import always_mask_same_draws, masked
from plmlab.text.tokenizers import Tokenizer
from plmlab.world.datasets.texts import rows
from plmlab.world.probability.example_floor import example_floor
from plmlab.world.world import World

all_masked = partial(masked, corrupt=always_mask_same_draws)
"""As ``masked``, but every selected position becomes [MASK]: with BERT's 80/10/10 the floor would not be exact."""


@cache
def masked_test_set(world: World, tokenizer: Tokenizer, seed: int = 99) -> tuple[Batch, float]:
    """600 sentences, newly sampled from the world's training distribution, with 15 % of the positions masked, and the
    Bayes-optimal loss on these masks, in nats per masked word. The tokenizer has one token per word."""
    draw, vocab = Random(1), tokenizer.vocab
    sentences = list(islice(world.text("train", seed=seed), 600))
    examples = [all_masked(row, vocab=vocab, rng=draw) for row in rows(tokenizer, sentences)]
    best = example_floor(world.automaton(), sentences, all_masked, Random(1)).mean
    return Batch.of(examples, pad=vocab.need("pad")), best
