"""How a language model of chapter 01 reads sentences of the world."""

from collections.abc import Sequence
from random import Random

from plmlab.example import Batch
from plmlab.objectives import causal
from plmlab.text import Tokenizer


def reading(rows: Sequence[Sequence[str]], tokenizer: Tokenizer) -> Batch:
    """The batch of some sentences, each slot to say the next word."""
    vocab = tokenizer.vocab
    return Batch.of([causal(tokenizer.encode(" ".join(words), plain=True), vocab=vocab, rng=Random(0))
                     for words in rows], pad=vocab.need("pad"))
