"""Many sentences of the world, each in an order drawn anew: one sentence alone proves nothing."""

from collections.abc import Sequence
from itertools import islice
from math import sqrt
from random import Random
from statistics import fmean, stdev
from typing import Any

from torch import nn

from plmlab.draws import shuffled
from plmlab.example import Batch
from plmlab.labs.permutation import exact
from plmlab.labs.permutation.reading import example, surprisals
from plmlab.text.tokenizers import Tokenizer
from plmlab.world import World

SENTENCES = 100
NEARLY = 0.005
"""A model is below the exact value where it pays so many nats less."""


def tally(world: World, split: str, tokenizer: Tokenizer, model: nn.Module, leaking: nn.Module | None,
          ) -> dict[str, Any]:
    """What 100 sentences cost, given their lengths, in nats a sentence: the ``exact`` mean, and for the model and the
    one that leaks the mean ``nats``, the standard ``error`` of the mean difference from the exact value, and how many
    sentences are ``below`` it."""
    rng = Random(0)
    sentences = list(islice(world.text(split, seed=1), SENTENCES))
    least = exact.surprisals(world, split, sentences)
    rows = tokenizer.encode_all([" ".join(words) for words in sentences], plain=True)
    orders = [shuffled(rng, range(len(row))) for row in rows]
    found: dict[str, Any] = {"sentences": len(sentences), "exact": fmean(least), "leaking": None}
    for name, reads in (("model", model), ("leaking", leaking)):
        if reads is not None:
            made = [example(row, order, tokenizer.vocab, leak=name == "leaking")
                    for row, order in zip(rows, orders, strict=True)]
            paid = surprisals(reads, Batch.of(made, pad=tokenizer.vocab.need("pad"))).sum(1).tolist()
            found[name] = _beside(paid, least)
    return found


def _beside(paid: Sequence[float], least: Sequence[float]) -> dict[str, float]:
    more = [one - other for one, other in zip(paid, least, strict=True)]
    return {"nats": fmean(paid), "error": stdev(more) / sqrt(len(more)), "below": sum(gap < -NEARLY for gap in more)}
