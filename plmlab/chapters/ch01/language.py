"""Language models of one size at equal tokens, three of them recurrent: what they cost above the floor, and where."""

from functools import cache
from typing import Any

import torch
from torch import nn

from plmlab import world
from plmlab.chapters.ch01.gaps import KINDS, exam, gaps, means
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.models.recurrent import GRULanguageModel, LSTMLanguageModel, RecurrentConfig, RNNLanguageModel
from plmlab.objectives import causal
from plmlab.recipes import Parts, best_rates, spread
from plmlab.train import Diverged, History, fit
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import small_spelling

SEEDS, PILOTS = (0, 1, 2), (9, 10)
UPDATES, BATCH = (150, 600), 48
RATES = (3e-3, 1e-2, 3e-2)
WIDTHS = {"RNN": (RNNLanguageModel, 152), "LSTM": (LSTMLanguageModel, 80), "GRU": (GRULanguageModel, 92)}
"""Of two layers each; the widths make them as large as the GPT-2 of two layers of 64."""
KINDS_OF_MODEL = (*WIDTHS, "GPT-2")


def build(kind: str, seed: int) -> nn.Module:
    """A model of one of the kinds, with random weights of this seed: some 116,000 parameters."""
    torch.manual_seed(seed)
    if kind == "GPT-2":
        return GPT2(GPTConfig(len(small_spelling()), time=64, layers=2, model=64, heads=4, dropout=0.0))
    model, width = WIDTHS[kind]
    return model(RecurrentConfig(len(small_spelling()), layers=2, model=width, dropout=0.0))


def learn(kind: str, updates: int, lr: float, seed: int, **options: Any) -> tuple[nn.Module, History]:
    """A model of a kind after so many updates, the same sentences for all kinds; and the run's history."""
    model = build(kind, seed)
    text = sentence_batches(world.small(), "train", small_spelling(), causal, batch=BATCH, seed=seed)
    return model, fit(model, text, steps=updates, lr=lr, warmup=50, **options)


@cache
def to_choose() -> Any:
    """Sentences that the rates are chosen with; the exam's are of another seed."""
    return sentence_batches(world.small(), "test", small_spelling(), causal, batch=500, seed=4)(0)


def rate_score(kind: str, updates: int, lr: float, seed: int) -> float:
    """How good a learning rate is: minus the loss on 500 other sentences of the test, in nats a token."""
    try:
        model, _ = learn(kind, updates, lr, seed, show=False)
    except Diverged:
        return -1e9
    with torch.no_grad():
        return -float(model.loss(to_choose()))  # type: ignore[operator]


def falls_short(kind: str, updates: int, lr: float, seed: int) -> dict[str, float]:
    """One run: kind of word → what it costs above the best reader on the exam, in nats; and "all"."""
    model, _ = learn(kind, updates, lr, seed, show=False)
    return means(gaps(model.eval(), small_spelling(), world.small(), exam(world.small())))


def measure(parts: Parts) -> dict[str, Any]:
    """``floor``, ``batch``; and ``models``: kind → ``parameters`` and ``updates``: number of updates → ``lr``, the
    ``rates`` tried, and ``gaps``: kind of word → nats above the best reader, with spread."""
    arms = [(kind, updates) for kind in KINDS_OF_MODEL for updates in UPDATES]
    best = best_rates(parts, rate_score, PILOTS, dict.fromkeys(arms, RATES))
    runs = parts(falls_short, [(*arm, best[arm][0], seed) for arm in arms for seed in SEEDS])
    told: dict[str, Any] = {
        kind: {"parameters": sum(weights.numel() for weights in build(kind, 0).parameters()), "updates": {}}
        for kind in KINDS_OF_MODEL}
    for (kind, updates), (lr, scores) in best.items():
        told[kind]["updates"][str(updates)] = {
            "lr": lr, "rates": list(scores.items()),
            "gaps": {of: spread({seed: runs[kind, updates, lr, seed][of] for seed in SEEDS})
                     for of in (*KINDS, "all")}}
    return {"floor": world.small().entropy("test").token, "batch": BATCH, "models": told}
