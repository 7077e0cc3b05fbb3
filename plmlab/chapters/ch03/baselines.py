"""Who predicts the next word best, of those that read the same sentences: n-grams or the LSTM; how one is trained."""

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
from plmlab.models.recurrent import LSTMLanguageModel, RecurrentConfig
from plmlab.objectives import causal
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import History, fit

Ids = Sequence[Sequence[int]]
Losses = Float[Tensor, "token"]
"""−log p of every token of some sentences, each with its [END], in nats."""

BATCH, BUCKETS = 32, 4
"""An update reads so many sentences, in so many parts of like length."""
EVALUATIONS = 10
"""So often in a run the LSTM is tried on the development sentences; the best weights are kept."""


@dataclass(frozen=True)
class Text:
    """Sentences to read, those that choices are made with, and those of the exam, as ids."""

    read: Ids
    development: Ids
    test_set: Ids
    vocab: Vocabulary

    def examples(self, sentences: Ids) -> list[Example]:
        """Each position to say the next word."""
        return [causal(ids, vocab=self.vocab, rng=Random(0)) for ids in sentences]

    def batches(self, sentences: Ids, size: int = 64) -> list[Batch]:
        """The sentences in order, so many at a time."""
        made = self.examples(sentences)
        return [Batch.of(made[start:start + size], pad=self.vocab.need("pad")) for start in range(0, len(made), size)]

    @cached_property
    def made(self) -> list[Example]:
        """The Examples of what is read."""
        return self.examples(self.read)

    def source(self, seed: int) -> Callable[[int], Batch]:
        """Batches of sentences drawn from what is read, with the seed; `BUCKETS` of them are `BATCH` sentences."""
        drawn = ExampleBatches(lambda rng: [self.made[int(rng.random() * len(self.made))]
                                            for _ in range(BATCH // BUCKETS)], seed, self.vocab.need("pad"))
        return bucketed(drawn, BUCKETS)


def counted_losses(model: NGram, sentences: Ids) -> Losses:
    """What an n-gram model pays."""
    return torch.cat([model.losses(ids) for ids in sentences])


@torch.no_grad()
def network_losses(model: LSTMLanguageModel, text: Text, sentences: Ids) -> Losses:
    """What a network pays, in the same order."""
    found = []
    for batch in text.batches(sentences):
        logprobs = model(batch).double().log_softmax(-1)
        said = logprobs.gather(-1, batch.targets.clamp(min=0)[..., None])[..., 0]
        found.append(-said[batch.targets != IGNORE])
    return torch.cat(found)


def outcome(recorded: dict[str, Any]) -> str:
    """Whether the LSTM ``wins`` against the best n-gram, ``loses``, or ``neither``: it pays less with each seed, or
    more with each. ``recorded`` is an amount of text, or the real text."""
    counted, paid = recorded[recorded["best n-gram"]]["loss"], recorded["LSTM"]["loss"]
    return "wins" if paid["high"] < counted else "loses" if paid["low"] > counted else "neither"


def build(vocab: int, width: int, dropout: float, seed: int) -> LSTMLanguageModel:
    """An LSTM language model of two layers, with random weights of this seed."""
    torch.manual_seed(seed)
    return LSTMLanguageModel(RecurrentConfig(vocab, layers=2, model=width, dropout=dropout))


def train(model: LSTMLanguageModel, text: Text, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train an LSTM for so many updates, and leave it as it was when it paid least on the development sentences, in
    evaluation mode; the run's history. ``options`` are more of `fit`'s."""
    tried = text.batches(sorted(text.development, key=len))
    history = fit(model, text.source(seed), steps=updates, lr=lr, warmup=50, accumulate=BUCKETS, evaluate=tried,
                  evaluate_every=max(1, updates // EVALUATIONS), patience=EVALUATIONS + 1, **options)
    model.eval()
    return history


def learned(text: Text, width: int, dropout: float, updates: int, lr: float, seed: int, **options: Any,
            ) -> tuple[LSTMLanguageModel, History]:
    """An LSTM after so many updates, and the run's history."""
    model = build(text.vocab.size, width, dropout, seed)
    return model, train(model, text, updates, lr, seed, **options)
