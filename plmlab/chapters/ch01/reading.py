"""How a language model of chapter 01 reads sentences of the world."""

from collections.abc import Sequence
from random import Random

from plmlab.example import Batch
from plmlab.objectives import causal
from plmlab.world.datasets.tokenizer import ids, spelling


def reading(rows: Sequence[Sequence[str]]) -> Batch:
    """The batch of some sentences, each slot to say the next word."""
    return Batch.of([causal(ids(words), vocab=spelling().vocab, rng=Random(0)) for words in rows],
                    pad=spelling().vocab.need("pad"))
