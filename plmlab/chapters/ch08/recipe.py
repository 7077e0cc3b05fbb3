"""Chapter 08: what is BERT's pretraining worth, by the number of labels and of updates; and which of its parts?

The four interfaces are tuned from scratch, as frozen features, and whole, on the course's own checkpoint (``transfer``,
``updates``); and smaller BERTs are pretrained with every hidden word shown as [MASK], and without the next sentence
(``ablations``).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import islice
from random import Random
from typing import Any

import torch

from plmlab import world
from plmlab.checkpoints import load
from plmlab.example import IGNORE, Batch
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining
from plmlab.objectives import masked
from plmlab.recipes import Parts, spread
from plmlab.train import History, fit
from plmlab.transfer import TASKS, batch_of, ids, score, spelling, tune
from plmlab.world.datasets.batches import mixed_batches, pair_batches, sentence_batches

CHECKPOINT = "bert-world"
SEEDS = (0, 1, 2)
PILOTS = (9, 10)
"""The seeds that the learning rates are chosen with; they are not used for the results."""
LABELS = (16, 64, 256, 1024)
STEPS = 200
RATES = {"from scratch": (5e-4, 1e-3, 2e-3), "frozen features": (1e-2, 3e-2), "fine-tuned": (5e-4, 1e-3, 2e-3)}
UPDATES = (5, 10, 20, 50, 100, 200)
HALF = 64
"""Texts of each kind in a batch of the ablations: pairs from articles, and sentences alone."""


@cache
def pretrained() -> BERTPretraining:
    """The course's own pretrained BERT, with its two heads."""
    model, _ = load(CHECKPOINT)
    return model


def start(kind: str, seed: int) -> BERT:
    """The BERT that is tuned: one with random weights where ``kind`` is "from scratch", else the checkpoint's."""
    whole = pretrained()
    if kind == "from scratch":
        torch.manual_seed(seed)
        return BERT(whole.config)
    return whole.bert


def reached(kind: str, name: str, labels: int, seed: int, lr: float, steps: int = STEPS) -> float:
    """One point of a curve: the score in the exam of a BERT of this kind, tuned on so many labels with one seed."""
    model = tune(start(kind, seed), name, labels, seed, lr=lr, steps=steps, features=kind == "frozen features",
                 show=False)
    return score(model, name)


def rate(parts: Parts, kind: str, name: str) -> float:
    """The learning rate that does best on a task with the pilot seeds and all labels."""
    told = parts(reached, [(kind, name, LABELS[-1], seed, lr) for lr in RATES[kind] for seed in PILOTS])
    return max(RATES[kind], key=lambda lr: sum(told[kind, name, LABELS[-1], seed, lr] for seed in PILOTS))


def transfer(parts: Parts) -> dict[str, Any]:
    """Task → kind → ``lr``, the learning rate, and ``points``, the score by the number of labels."""
    told: dict[str, Any] = {name: {} for name in TASKS}
    for name in TASKS:
        for kind in RATES:
            lr = rate(parts, kind, name)
            runs = parts(reached, [(kind, name, labels, seed, lr) for labels in LABELS for seed in SEEDS])
            told[name][kind] = {"lr": lr, "points": [
                spread({seed: runs[kind, name, labels, seed, lr] for seed in SEEDS}) for labels in LABELS]}
    return told


def updates(parts: Parts, rates: dict[str, float], name: str = "names", labels: int = 1024) -> dict[str, Any]:
    """Kind → its score by the number of updates, each with a schedule of its own; ``rates``: kind → learning rate."""
    runs = parts(reached, [(kind, name, labels, seed, lr, steps) for kind, lr in rates.items() for steps in UPDATES
                           for seed in SEEDS])
    return {kind: [spread({seed: runs[kind, name, labels, seed, lr, steps] for seed in SEEDS}) for steps in UPDATES]
            for kind, lr in rates.items()}


# The parts of the pretraining

Alter = Callable[[Batch], Batch]


def unaltered(batch: Batch) -> Batch:
    """The batch as it is: 80/10/10 and the next sentence, as in the paper."""
    return batch


def always_masked(batch: Batch) -> Batch:
    """The batch with every hidden word shown as [MASK]: no random words, and none that is kept."""
    mask = torch.tensor(spelling().vocab.need("mask"))
    return replace(batch, tokens=torch.where(batch.targets == IGNORE, batch.tokens, mask))


def unasked(batch: Batch) -> Batch:
    """The batch without labels: the same texts, but nobody asks whether B follows A."""
    return replace(batch, labels={})


ABLATIONS: dict[str, Alter] = {
    "80/10/10": unaltered, "always [MASK]": always_masked, "no next sentence": unasked,
}
PROBES = {"names, features": ("names", 64, True, 1e-2), "names, tuned": ("names", 64, False, 1e-3),
          "a pair, tuned": ("a pair", 1024, False, 1e-3), "an answer, tuned": ("an answer", 1024, False, 1e-3)}
"""Each: the task, the number of labels, whether BERT is frozen, and the learning rate."""


def pretrain(alter: Alter, seed: int, steps: int = 1000, **options: Any) -> tuple[BERTPretraining, History]:
    """A BERT of three layers of 96 after ``steps`` updates on 64 pairs and 64 sentences each; and the run's history."""
    torch.manual_seed(seed)
    model = BERTPretraining(BERTConfig(len(spelling()), time=64, layers=3, model=96, inner=384, dropout=0.0,
                                       attention_dropout=0.0))
    whole = world.full()
    mixed = mixed_batches(pair_batches(whole, "train", spelling(), HALF, seed),
                         sentence_batches(whole, "train", spelling(), masked, HALF, seed))
    return model, fit(model, lambda step: alter(mixed(step)), steps=steps, lr=4e-3, warmup=100, **options)


@cache
def whole_sentences() -> Batch:
    """The batch of 500 sentences of the plain test with nothing hidden, each word to be named in its own slot."""
    vocab = spelling().vocab

    def shown(words: list[str]) -> Any:
        read = ids(words)
        slots = range(1, len(read) + 1)
        return masked(read, vocab=vocab, rng=Random(0), select=slots, replace=dict(zip(slots, read, strict=True)))
    return batch_of(shown, list(islice(world.full().text("test", seed=77), 500)))


@torch.no_grad()
def in_sight(model: BERTPretraining) -> float:
    """The share of words in plain sight that the model names."""
    asked = whole_sentences().targets != IGNORE
    said = model(whole_sentences()).argmax(-1)
    return float((said == whole_sentences().targets)[asked].float().mean())


def ablated(name: str, seed: int) -> dict[str, float]:
    """The scores of one ablation in each of the probes, and the share of "words in sight" that it names."""
    model, _ = pretrain(ABLATIONS[name], seed, show=False)
    told = {"words in sight": in_sight(model)}
    for probe, (task, labels, features, lr) in PROBES.items():
        tuned = tune(model.bert, task, labels, seed, lr=lr, steps=STEPS, features=features, show=False)
        told[probe] = score(tuned, task)
    return told


def ablations(parts: Parts) -> dict[str, Any]:
    """Ablation → its scores, each with its spread."""
    runs = parts(ablated, [(name, seed) for name in ABLATIONS for seed in SEEDS])
    return {name: {probe: spread({seed: runs[name, seed][probe] for seed in SEEDS}) for probe in runs[name, SEEDS[0]]}
            for name in ABLATIONS}


def main(parts: Parts) -> dict[str, Any]:
    """What chapter 08 records: ``labels``, ``transfer``, ``updates`` and ``ablations``."""
    told = transfer(parts)
    rates = {kind: told["names"][kind]["lr"] for kind in RATES}
    return {"labels": list(LABELS), "transfer": told, "updates": {"counts": list(UPDATES), **updates(parts, rates)},
            "ablations": ablations(parts)}
