"""A PALM with and without its pointer, on a task that can be solved by copying only."""

from random import Random
from typing import cast

import torch

from plmlab.batches import ExampleBatches
from plmlab.decode import exact_match
from plmlab.draws import randint, shuffled
from plmlab.example import PairBatch, PairExample
from plmlab.models.palm import PALM, PALMConfig
from plmlab.models.transformer import Transformer
from plmlab.objectives.continuation import continued_pair
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import fit

VOCAB, MARKER, FILLERS, NAMES = Vocabulary(139), 39, range(40, 60), range(60, 139)
"""The vocabulary; a word that precedes the name; the other words; and names."""
SEEN = NAMES[:40]
"""The names in training. The others occur in no training text, neither in a source nor in a target."""


class WithoutPointer(PALM):
    """A PALM that generates every token from the vocabulary."""

    predict = Transformer.predict


def example(rng: Random, names: range) -> PairExample:
    """Eight words, among them the marker and a name after it; the target is the name."""
    words = shuffled(rng, FILLERS)[:6]
    place, name = randint(rng, 7), names[randint(rng, len(names))]
    return continued_pair([*words[:place], MARKER, name, *words[place:]], [name], VOCAB)


def batches(names: range, size: int, seed: int) -> ExampleBatches:
    """Batches of examples with some of the names."""
    return ExampleBatches(lambda rng: [example(rng, names) for _ in range(size)], seed, VOCAB.need("pad"))


def copied(build: type[PALM], updates: int, seed: int = 0) -> dict[str, float]:
    """Train a network on seen names; return the fraction of names that it copies, seen and unseen ones."""
    torch.manual_seed(seed)
    model = build(PALMConfig.tiny(VOCAB.size, time=16))
    fit(model, batches(SEEN, 64, seed), steps=updates, lr=3e-3, warmup=50, show=False)
    found = {}
    for name, names in (("names of the training text", SEEN), ("new names", NAMES[len(SEEN):])):
        batch = cast(PairBatch, batches(names, 300, 99)(0))
        found[name] = exact_match(model.eval(), batch, VOCAB, length=3)
    return found
