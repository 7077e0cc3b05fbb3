"""Training of the LSTM language models: the weights with the lowest development loss are kept."""

from typing import Any

import torch

from plmlab.chapters.ch03.baselines import BUCKETS, Text
from plmlab.models.recurrent import LSTMLanguageModel, RecurrentConfig
from plmlab.train import History, fit

EVALUATIONS = 10
"""Number of evaluations on the development sentences per run; the best weights are kept."""


def build(vocab: int, width: int, dropout: float, seed: int) -> LSTMLanguageModel:
    """Return an untrained two-layer LSTM language model, initialized with ``seed``."""
    torch.manual_seed(seed)
    return LSTMLanguageModel(RecurrentConfig(vocab, layers=2, model=width, dropout=dropout))


def train(model: LSTMLanguageModel, text: Text, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train an LSTM, restore the weights with the lowest development loss, and switch it to evaluation mode.

    Returns the run's history; ``options`` are passed to `fit`."""
    development = text.batches(sorted(text.development, key=len))
    history = fit(model, text.source(seed), steps=updates, lr=lr, warmup=50, accumulate=BUCKETS, evaluate=development,
                  evaluate_every=max(1, updates // EVALUATIONS), patience=EVALUATIONS + 1, **options)
    model.eval()
    return history
