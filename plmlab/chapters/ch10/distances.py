"""How far back does a model answer rightly? By the length of its memory, by its positions, by how it was taught."""

from statistics import fmean
from typing import Any

import torch

from plmlab.chapters.ch10 import recalling
from plmlab.chapters.ch10.arms import (
    ARMS,
    LIKE,
    LIVE,
    MEMORY,
    PILOTS,
    RATES,
    SEEDS,
    SEGMENT,
    UPDATES,
    WINDOW,
    new,
    rate_score,
    train,
    trained,
)
from plmlab.layers.relative import TransformerXLAttention
from plmlab.models.transformer_xl import TransformerXL
from plmlab.recipes import Parts, best_rates, rates_tried, spreads
from plmlab.visibility import Visibility

MEMORIES = (0, 16, 32, 64, 96, 144)
"""The memories that a model is read with which was trained with one of `MEMORY`."""
TWICE = 2 * recalling.WORDS
"""Words of a text that is longer than all that was read in training."""
Told = dict[str, Any]


def trainings(parts: Parts) -> tuple[dict[str, float], dict[str, Told]]:
    """Train and keep all arms; arm → its rate, and arm → how the rate was found, its ``parameters``, the spread of what
    it says in the exam, read as it was trained, and its ``history`` by seed."""
    found = best_rates(parts, rate_score, PILOTS, {(name, UPDATES): RATES for name in ARMS if name not in LIKE})
    best = {name: found[LIKE.get(name, name), UPDATES] for name in ARMS}
    folder = str(parts.folder)
    runs = parts(train, [(folder, name, UPDATES, best[name][0], seed) for name in ARMS for seed in SEEDS]
                 + [(folder, "memory", LIVE, best["memory"][0], seed) for seed in SEEDS])

    def told(name: str, updates: int) -> Told:
        lr, scores = best[name]
        done = {seed: runs[folder, name, updates, lr, seed] for seed in SEEDS}
        return {"lr": lr, "rates": rates_tried(scores), "like": LIKE.get(name, name), "updates": updates,
                "parameters": sum(weight.numel() for weight in new(name, 0).parameters()),
                **spreads({seed: {key: run[key] for key in ("right", "answers", "all", "seconds")}
                           for seed, run in done.items()}),
                "history": {str(seed): [[step, -score] for step, score in run["history"]]
                            for seed, run in done.items()}}
    return {name: lr for name, (lr, _) in best.items()}, {
        **{name: told(name, UPDATES) for name in ARMS}, "live": told("memory", LIVE)}


def otherwise(folder: str, name: str, seed: int) -> Told:
    """The share of right answers by distance, where an arm is not read as it was trained: by ``windows``, each word
    with all that a window holds before it; with other memories (``memory 144``), and with distances that count as
    those of training where they are greater (``clamped``); and texts of `TWICE` the words, by the half that asks."""
    model, exam = trained(folder, name, UPDATES, seed), recalling.texts("exam")
    rows, told = recalling.ids(exam), {}
    if not ARMS[name].memory and ARMS[name].segment == WINDOW:
        told["windows"] = recalling.said(recalling.by_windows(model, WINDOW, rows), exam)._asdict()
    if issubclass(model.attention_class, TransformerXLAttention) and ARMS[name].memory:
        for memory in MEMORIES:
            told[f"memory {memory}"] = said_with(model, memory=memory)
        told["clamped"] = said_with(model, memory=MEMORIES[-1], clamp=WINDOW)
    if ARMS[name].memory:
        told["halves"] = halves(model)
    return told


def said_with(model: TransformerXL, **changes: int) -> Told:
    """What a model says in the exam, read with other lengths."""
    exam = recalling.texts("exam")
    return recalling.said(recalling.in_order(model.remembering(**changes), recalling.ids(exam)), exam)._asdict()


def halves(model: TransformerXL) -> Told:
    """In texts that are twice as long: the share of right answers of those in sight of the memory, and the price of a
    word, in the ``first`` half and in the ``second``."""
    some = recalling.texts("exam", TWICE)[:100]
    prices, hits = recalling.outcomes(recalling.in_order(model, recalling.ids(some)), some)
    near = [question for question in recalling.questions(some) if question.back <= MEMORY]

    def told(begin: int) -> dict[str, float]:
        half = range(begin, begin + recalling.WORDS)
        return {"right": fmean(float(hits[q.row, q.slot]) for q in near if q.slot in half),
                "all": float(prices[:, half.start:half.stop].mean())}
    return {"first": told(0), "second": told(recalling.WORDS)}


def looks(name: str) -> torch.Tensor:
    """Whom each slot of a text can look at directly, in an arm or, for "sliding", in a window before each slot."""
    if name == "sliding":
        return Visibility.last(recalling.WORDS, WINDOW).dense()
    return new(name, 0).visibility(recalling.WORDS).dense()


def measure(parts: Parts) -> dict[str, Any]:
    """``arms``: all of them with their spreads, ``otherwise`` those that are read in other ways; ``rule``: arm → the
    share that a reader without a network gets right who sees as much."""
    _, arms = trainings(parts)
    folder = str(parts.folder)
    named = [name for name in ARMS if ARMS[name].memory or ARMS[name].segment == WINDOW]
    runs = parts(otherwise, [(folder, name, seed) for name in named for seed in SEEDS])
    exam = recalling.texts("exam")
    asked = list(recalling.questions(exam))
    return {
        "segment": SEGMENT, "memory": MEMORY, "window": WINDOW, "updates": UPDATES, "words": len(recalling.spelling()),
        "questions": len(asked), "chance": fmean(1 / len(q.things) for q in asked),
        "arms": arms, "otherwise": {name: spreads({seed: runs[folder, name, seed] for seed in SEEDS})
                                    for name in named},
        "rule": {name: recalling.rule(looks(name), exam) for name in ("memory", "none", "window", "sliding")},
    }
