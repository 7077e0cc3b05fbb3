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
from plmlab.recipes import Parts, best_rates, spread
from plmlab.train import Diverged, History, fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.best_reader import BestReader
from plmlab.world.datasets.gaps import KINDS, exam, gaps, means
from plmlab.world.datasets.tokenizer import small_spelling

SEEDS, PILOTS = (0, 1, 2), (9, 10)
UPDATES, BATCH = (150, 600), 48
RATES = (3e-3, 1e-2, 3e-2)
RECURRENT = {"RNN": (RNNLanguageModel, 152), "LSTM": (LSTMLanguageModel, 80), "GRU": (GRULanguageModel, 92)}
"""Of two layers each; the widths make them as large as the GPT-2 of two layers of 64."""


def _recurrent(model: type[RecurrentLanguageModel], width: int) -> nn.Module:
    return model(RecurrentConfig(len(small_spelling()), layers=2, model=width, dropout=0.0))


def _gpt() -> nn.Module:
    return GPT2(GPTConfig(len(small_spelling()), time=64, layers=2, model=64, heads=4, dropout=0.0))


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    name: partial(_recurrent, *how) for name, how in RECURRENT.items()} | {"GPT-2": _gpt}
"""Name → a model with random weights, of some 120,000 parameters."""


def build(network: str, seed: int) -> nn.Module:
    """One of the networks, with random weights of this seed."""
    torch.manual_seed(seed)
    return NETWORKS[network]()


@cache
def best_reader() -> BestReader:
    """The best possible reader of the small world's test."""
    return BestReader(world.small(), "test", small_spelling(), len(small_spelling()))


def learn(network: str, updates: int, lr: float, seed: int, **options: Any) -> tuple[nn.Module, History]:
    """A network after so many updates, the same sentences for all of them; and the run's history."""
    model = build(network, seed)
    text = sentence_batches(world.small(), "train", small_spelling(), causal, batch=BATCH, seed=seed)
    return model, fit(model, text, steps=updates, lr=lr, warmup=50, **options)


@cache
def to_choose() -> Any:
    """Sentences that the rates are chosen with; the exam's are of another seed."""
    return sentence_batches(world.small(), "test", small_spelling(), causal, batch=500, seed=4)(0)


def rate_score(network: str, updates: int, lr: float, seed: int) -> float:
    """How good a learning rate is: minus the loss on 500 other sentences of the test, in nats a token."""
    try:
        model, _ = learn(network, updates, lr, seed, show=False)
    except Diverged:
        return -1e9
    with torch.no_grad():
        return -float(model.loss(to_choose()))  # type: ignore[operator]


def falls_short(network: str, updates: int, lr: float, seed: int) -> dict[str, float]:
    """One run: kind of word → what it costs above the best reader on the exam, in nats; and "all"."""
    model, _ = learn(network, updates, lr, seed, show=False)
    return means(gaps(model.eval(), best_reader(), exam(world.small())))


def measure(parts: Parts) -> dict[str, Any]:
    """``floor``, ``batch``; and ``models``: network → ``parameters`` and ``updates``: number of updates → ``lr``, the
    ``rates`` tried, and ``gaps``: kind of word → nats above the best reader, with spread."""
    arms = [(network, updates) for network in NETWORKS for updates in UPDATES]
    best = best_rates(parts, rate_score, PILOTS, dict.fromkeys(arms, RATES))
    runs = parts(falls_short, [(*arm, best[arm][0], seed) for arm in arms for seed in SEEDS])
    told: dict[str, Any] = {
        network: {"parameters": sum(weights.numel() for weights in build(network, 0).parameters()), "updates": {}}
        for network in NETWORKS}
    for (network, updates), (lr, scores) in best.items():
        told[network]["updates"][str(updates)] = {
            "lr": lr, "rates": list(scores.items()),
            "gaps": {of: spread({seed: runs[network, updates, lr, seed][of] for seed in SEEDS})
                     for of in (*KINDS, "all")}}
    return {"floor": world.small().entropy("test").token, "batch": BATCH, "models": told}
