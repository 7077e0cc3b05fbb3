"""Losses on many sentences of the world, each in a new random order, because a single sentence proves nothing."""

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
"""Minimum difference in nats for a model's loss to count as below the exact value."""


def tally(world: World, split: str, tokenizer: Tokenizer, model: nn.Module, leaking: nn.Module | None,
          ) -> dict[str, Any]:
    """Losses on 100 sentences given their lengths, in nats per sentence: the mean ``exact`` loss; and for the model and
    the leaking model, the mean loss (``nats``), the standard ``error`` of the mean difference from the exact loss, and
    the number of sentences whose loss is ``below`` the exact loss."""
    rng = Random(0)
    sentences = list(islice(world.text(split, seed=1), SENTENCES))
    optimal = exact.surprisals(world, split, sentences)
    rows = tokenizer.encode_all([" ".join(words) for words in sentences], plain=True)
    orders = [shuffled(rng, range(len(row))) for row in rows]
    result: dict[str, Any] = {"sentences": len(sentences), "exact": fmean(optimal), "leaking": None}
    for name, reads in (("model", model), ("leaking", leaking)):
        if reads is not None:
            examples = [example(row, order, tokenizer.vocab, leak=name == "leaking")
                        for row, order in zip(rows, orders, strict=True)]
            losses = surprisals(reads, Batch.of(examples, pad=tokenizer.vocab.need("pad"))).sum(1).tolist()
            result[name] = _compared(losses, optimal)
    return result


def _compared(losses: Sequence[float], optimal: Sequence[float]) -> dict[str, float]:
    gaps = [loss - least for loss, least in zip(losses, optimal, strict=True)]
    return {"nats": fmean(losses), "error": stdev(gaps) / sqrt(len(gaps)), "below": sum(gap < -NEARLY for gap in gaps)}
