"""Who predicts the next word best, of those that read the same sentences: n-grams, the LSTM, and both mixed."""

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
from plmlab.models.ngram import AddK, KneserNey, ModifiedKneserNey, NGram
from plmlab.models.recurrent import LSTMLanguageModel, RecurrentConfig
from plmlab.objectives import causal
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import History, fit

Ids = Sequence[Sequence[int]]
Losses = Float[Tensor, "token"]
"""−log p of every token of some sentences, each with its [END], in nats."""

ORDERS = (1, 2, 3, 4, 5, 6, 8)
ADDED = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
COUNTED: dict[str, type[NGram]] = {"Kneser–Ney": KneserNey, "modified Kneser–Ney": ModifiedKneserNey}
WAYS = ("add k", *COUNTED)
"""The ways to smooth."""
BATCH, BUCKETS = 32, 4
"""An update reads so many sentences, in so many parts of like length."""
EVALUATIONS = 10
"""So often in a run the LSTM is tried on the development sentences; the best weights are kept."""


@dataclass(frozen=True)
class Text:
    """Sentences to read, those that choices are made with, and those of the exam, as ids."""

    read: Ids
    development: Ids
    exam: Ids
    vocab: Vocabulary

    def examples(self, sentences: Ids) -> list[Example]:
        """Each slot to say the next word."""
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


def mixed(one: Losses, other: Losses, share: float) -> Losses:
    """What the mixture share · p₁ + (1 − share) · p₂ pays (linear interpolation, 线性插值)."""
    return -(share * (-one).exp() + (1 - share) * (-other).exp()).log()


def best_share(one: Losses, other: Losses) -> float:
    """The share of the first model, in twentieths, with which the mixture pays least."""
    return min((twentieths / 20 for twentieths in range(21)), key=lambda share: float(mixed(one, other, share).mean()))


def beside(model: LSTMLanguageModel, counted: NGram, text: Text) -> tuple[Losses, Losses, float]:
    """What a network pays on the exam, what its mixture with an n-gram model pays there, and the network's share in
    that, the best on the development sentences."""
    share = best_share(network_losses(model, text, text.development), counted_losses(counted, text.development))
    own = network_losses(model, text, text.exam)
    return own, mixed(own, counted_losses(counted, text.exam), share), share


def outcome(recorded: dict[str, Any]) -> str:
    """Whether the LSTM ``wins`` against the best n-gram, ``loses``, or ``neither``: it pays less with each seed, or
    more with each. ``recorded`` is an amount of `amounts`, or `wikipedia`."""
    counted, paid = recorded[recorded["best n-gram"]]["loss"], recorded["LSTM"]["loss"]
    return "wins" if paid["high"] < counted else "loses" if paid["low"] > counted else "neither"


def best_order(text: Text, make: Callable[[int], NGram]) -> tuple[int, dict[int, float]]:
    """Of the n-gram models ``make(order)``, the order that pays least on the development sentences; and what each
    pays there, in nats a token."""
    tried = {order: counted_losses(make(order), text.development).mean().item() for order in ORDERS}
    return min(tried, key=lambda order: tried[order]), tried


def smoothed(text: Text, name: str) -> Callable[[int], NGram]:
    """Order → one of the `COUNTED`, or "add k" with the best k of `ADDED` for that order."""
    def add_k(order: int) -> NGram:
        model = AddK(text.read, order, text.vocab, 1.0)

        def pays(k: float) -> float:
            model.k = k
            return counted_losses(model, text.development).mean().item()

        model.k = min(ADDED, key=pays)
        return model

    return add_k if name == "add k" else lambda order: COUNTED[name](text.read, order, text.vocab)


def learned(text: Text, width: int, dropout: float, updates: int, lr: float, seed: int, **options: Any,
            ) -> tuple[LSTMLanguageModel, History]:
    """An LSTM language model of two layers after so many updates, or as it was when it paid least on the development
    sentences; and the run's history. ``options`` are more of `fit`'s."""
    torch.manual_seed(seed)
    model = LSTMLanguageModel(RecurrentConfig(text.vocab.size, layers=2, model=width, dropout=dropout))
    every = max(1, updates // EVALUATIONS)
    tried = text.batches(sorted(text.development, key=len))
    history = fit(model, text.source(seed), steps=updates, lr=lr, warmup=50, accumulate=BUCKETS, evaluate=tried,
                  evaluate_every=every, patience=EVALUATIONS + 1, **{"show": False} | options)
    return model.eval(), history
