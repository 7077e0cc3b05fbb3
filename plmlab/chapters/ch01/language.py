"""Language models of one size at equal tokens, three of them recurrent: what they cost above the floor, and where."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from torch import nn

from plmlab import world
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.models.recurrent import (
    GRULanguageModel,
    LSTMLanguageModel,
    RecurrentConfig,
    RecurrentLanguageModel,
    RNNLanguageModel,
)
from plmlab.objectives import causal
from plmlab.train import History, fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.bayes_optimal import BayesOptimalPredictor
from plmlab.world.datasets.tokenizer import small_world_tokenizer

BATCH = 48
RECURRENT = {"RNN": (RNNLanguageModel, 152), "LSTM": (LSTMLanguageModel, 80), "GRU": (GRULanguageModel, 92)}
"""Of two layers each; the widths make them as large as the GPT-2 of two layers of 64."""


def _recurrent(model: type[RecurrentLanguageModel], width: int) -> nn.Module:
    return model(RecurrentConfig(len(small_world_tokenizer()), layers=2, model=width, dropout=0.0))


def _gpt() -> nn.Module:
    return GPT2(GPTConfig(len(small_world_tokenizer()), time=64, layers=2, model=64, heads=4, dropout=0.0))


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    name: partial(_recurrent, *how) for name, how in RECURRENT.items()} | {"GPT-2": _gpt}
"""Name → a model with random weights, of some 120,000 parameters."""


def build(network: str, seed: int) -> nn.Module:
    """One of the networks, with random weights of this seed."""
    torch.manual_seed(seed)
    return NETWORKS[network]()


@cache
def best_reader() -> BayesOptimalPredictor:
    """The best possible reader of the small world's test."""
    return BayesOptimalPredictor(world.small(), "test", small_world_tokenizer(), len(small_world_tokenizer()))


def train(model: nn.Module, network: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train a network for so many updates, on the same sentences whichever it is; the run's history."""
    text = sentence_batches(world.small(), "train", small_world_tokenizer(), causal, batch=BATCH, seed=seed)
    return fit(model, text, steps=updates, lr=lr, warmup=50, **options)


def learn(network: str, updates: int, lr: float, seed: int, **options: Any) -> tuple[nn.Module, History]:
    """A network after so many updates, and the run's history."""
    model = build(network, seed)
    return model, train(model, network, updates, lr, seed, **options)
