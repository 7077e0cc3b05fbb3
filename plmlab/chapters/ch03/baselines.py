"""Next-word prediction by n-gram models and an LSTM, trained on the same sentences: data and losses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.batches import ExampleBatches, bucketed
from plmlab.example import IGNORE, Batch, Example
from plmlab.models.ngram import NGram
from plmlab.models.recurrent import LSTMLanguageModel
from plmlab.objectives import causal
from plmlab.text.vocabulary import Vocabulary

Ids = Sequence[Sequence[int]]
Losses = Float[Tensor, "token"]
"""−log p of every token of some sentences, [END] included, in nats."""

BATCH, BUCKETS = 32, 4
"""Sentences per update, and the number of length buckets (micro-batches) that they are split into."""


@dataclass(frozen=True)
class Text:
    """Training (``read``), development and test sentences as token ids, with their vocabulary."""

    read: Ids
    development: Ids
    test_set: Ids
    vocab: Vocabulary

    def examples(self, sentences: Ids) -> list[Example]:
        """Causal LM examples: the target at each position is the next word."""
        return [causal(ids, vocab=self.vocab, rng=Random(0)) for ids in sentences]

    def batches(self, sentences: Ids, size: int = 64) -> list[Batch]:
        """The sentences in order, in batches of ``size``."""
        rows, pad = self.examples(sentences), self.vocab.need("pad")
        return [Batch.of(rows[start:start + size], pad=pad) for start in range(0, len(rows), size)]

    @cached_property
    def made(self) -> list[Example]:
        """The training Examples (cached)."""
        return self.examples(self.read)

    def source(self, seed: int) -> Callable[[int], Batch]:
        """Batches of random training sentences; `BUCKETS` batches make up the `BATCH` sentences of one update."""
        drawn = ExampleBatches(lambda rng: [self.made[int(rng.random() * len(self.made))]
                                            for _ in range(BATCH // BUCKETS)], seed, self.vocab.need("pad"))
        return bucketed(drawn, BUCKETS)


def counted_losses(model: NGram, sentences: Ids) -> Losses:
    """Token losses of an n-gram model."""
    return torch.cat([model.losses(ids) for ids in sentences])


@torch.no_grad()
def network_losses(model: LSTMLanguageModel, text: Text, sentences: Ids) -> Losses:
    """Token losses of a network, in the same order as `counted_losses`."""
    losses = []
    for batch in text.batches(sentences):
        logprobs = model(batch).double().log_softmax(-1)
        target_logprobs = logprobs.gather(-1, batch.targets.clamp(min=0)[..., None])[..., 0]
        losses.append(-target_logprobs[batch.targets != IGNORE])
    return torch.cat(losses)


def outcome(recorded: dict[str, Any]) -> str:
    """``wins`` if the LSTM's loss is below that of the best n-gram model for every seed, ``loses`` if it is above for
    every seed, otherwise ``neither``. ``recorded`` is the stored record of one training-set size, or of real text."""
    ngram, lstm = recorded[recorded["best n-gram"]]["loss"], recorded["LSTM"]["loss"]
    return "wins" if lstm["high"] < ngram else "loses" if lstm["low"] > ngram else "neither"
