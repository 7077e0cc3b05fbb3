"""Language models with the same size and the same number of training tokens, three of them recurrent: excess loss by
word category."""

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
"""Name → class and width, two layers each; the widths match the parameter count of a two-layer GPT-2 of width 64."""


def _recurrent(model: type[RecurrentLanguageModel], width: int) -> nn.Module:
    return model(RecurrentConfig(len(small_world_tokenizer()), layers=2, model=width, dropout=0.0))


def _gpt() -> nn.Module:
    return GPT2(GPTConfig(len(small_world_tokenizer()), time=64, layers=2, model=64, heads=4, dropout=0.0))


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    name: partial(_recurrent, *args) for name, args in RECURRENT.items()} | {"GPT-2": _gpt}
"""Name → constructor of an untrained model with about 120,000 parameters."""


def build(network: str, seed: int) -> nn.Module:
    """Return an untrained network of `NETWORKS`, initialized with ``seed``."""
    torch.manual_seed(seed)
    return NETWORKS[network]()


@cache
def bayes_optimal() -> BayesOptimalPredictor:
    """Return the Bayes-optimal predictor of the small world's test split (cached)."""
    return BayesOptimalPredictor(world.small(), "test", small_world_tokenizer(), len(small_world_tokenizer()))


def train(model: nn.Module, network: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train a network for ``updates`` steps and return the history of the run; the training data depend only on
    ``seed``."""
    text = sentence_batches(world.small(), "train", small_world_tokenizer(), causal, batch=BATCH, seed=seed)
    return fit(model, text, steps=updates, lr=lr, warmup=50, **options)
