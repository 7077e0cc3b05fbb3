"""Real text: the Wikipedia sample, read with a memory, without one, and in a window as long as both.

Each arm reads the same pieces in the same order, as often. Nobody knows the floor of this text; beside them stands a
reader who counts (Kneser–Ney), which two layers do not overtake in the updates that there is time for.
"""

import math
from functools import cache, partial
from itertools import chain
from statistics import fmean
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn import functional as F

from plmlab.chapters.ch10 import recalling
from plmlab.chapters.ch10.arms import Arm
from plmlab.models.ngram import ModifiedKneserNey
from plmlab.models.transformer_xl import TransformerXL, TransformerXLConfig
from plmlab.recipes import Parts, best_rates, none_if_diverged, rates_tried, spread
from plmlab.text import articles
from plmlab.text.tokenizers import Tokenizer
from plmlab.train import fit

SEGMENT, MEMORY, WINDOW, TIME = 32, 96, 128, 256
"""Pieces of a segment, of the memory and of the window, and of a text of a batch."""
PIECES, LAYERS, WIDTH, HEADS = 2000, 2, 96, 4
TEXTS, UPDATES, PILOT_UPDATES = 16, 500, 200
ASKED = 80
"""So many texts of `TIME` pieces are asked, for choices and in the exam."""
SEEDS, PILOTS, RATES = (0, 1, 2), (9,), (1e-3, 3e-3, 1e-2)
ARMS = {
    "memory": Arm(TransformerXL, SEGMENT, MEMORY), "none": Arm(TransformerXL, SEGMENT, 0),
    "window": Arm(TransformerXL, WINDOW, 0),
}
"""All take the rate that the first likes best."""
ORDERS = (1, 2, 3)
"""Of the n-grams that are counted."""


@cache
def parted() -> dict[str, list[str]]:
    """The paragraphs of the sample: of ten articles eight are read, one is for choices ("development"), one is the
    "exam"."""
    found: dict[str, list[str]] = {"read": [], "development": [], "exam": []}
    for number, article in enumerate(articles()):
        found[{8: "development", 9: "exam"}.get(number % 10, "read")] += article.paragraphs
    return found


@cache
def tokenizer() -> Tokenizer:
    """Byte-pair pieces of what is read."""
    return Tokenizer.bpe(parted()["read"], PIECES)


@cache
def rows(part: str) -> Int[Tensor, "text piece"]:
    """A part as one stream, cut into texts of `TIME` pieces and one more; of what is not read, the first `ASKED`."""
    stream = list(chain.from_iterable(tokenizer().encode_all(parted()[part], plain=True)))
    whole = torch.tensor(stream[:len(stream) // (TIME + 1) * (TIME + 1)]).view(-1, TIME + 1)
    return whole if part == "read" else whole[:ASKED]


def learned(name: str, updates: int, lr: float, seed: int) -> tuple[TransformerXL, float]:
    """An arm after so many updates, and the seconds of an update."""
    arm = ARMS[name]
    torch.manual_seed(seed)
    model = arm.model(TransformerXLConfig(len(tokenizer()), arm.segment, arm.memory, LAYERS, WIDTH, HEADS, 4 * WIDTH,
                                          dropout=0.0))
    history = fit(model, partial(recalling.drawn, rows("read"), seed, count=TEXTS), steps=updates, lr=lr, warmup=50,
                  show=False)
    return model, history.seconds / updates


def price(logits: Tensor, part: str) -> float:
    """The mean price of a piece, in nats; the first `WINDOW` of each text are read in, and not asked."""
    targets = rows(part)[:, 1:]
    return float(F.cross_entropy(logits[:, WINDOW:].flatten(0, 1), targets[:, WINDOW:].flatten()))


def by_counting(order: int) -> float:
    """The mean price of a piece of the exam for who has counted the n-grams of what is read."""
    counted = ModifiedKneserNey(rows("read").tolist(), order, tokenizer().vocab)
    prices = [-math.log(counted.chances(tuple(row[end - order + 1:end]), np.array([row[end]]))[0])
              for row in rows("exam").tolist() for end in range(WINDOW + 1, len(row))]
    return fmean(prices)


@none_if_diverged
def rate_score(lr: float, seed: int) -> float:
    """How good a rate is: minus the price of a piece in the articles to choose by, after `PILOT_UPDATES`."""
    model, _ = learned("memory", PILOT_UPDATES, lr, seed)
    return -price(recalling.in_order(model, rows("development")), "development")


def reading(name: str, lr: float, seed: int) -> dict[str, float]:
    """An arm's price of a piece "in order", as it is trained to read, and by "windows" of `WINDOW` pieces, each one
    with all those before it; with the memory "emptied" before each segment, and twice as long ("longer"); and the
    ``seconds`` of an update."""
    model, seconds = learned(name, UPDATES, lr, seed)
    told = {"in order": price(recalling.in_order(model, rows("exam")), "exam"), "seconds": seconds}
    if ARMS[name].memory:
        for way, memory in (("emptied", 0), ("longer", 2 * MEMORY)):
            other = model.remembering(memory=memory)
            told[way] = price(recalling.in_order(other, rows("exam")), "exam")
    elif ARMS[name].segment == WINDOW:
        told["windows"] = price(recalling.by_windows(model, WINDOW, rows("exam")), "exam")
    return told


def measure(parts: Parts) -> dict[str, Any]:
    """How many pieces are ``read`` and ``asked``, ``lr`` and ``rates``; n → the price of a piece ``by counting``; and
    arm → the spread of each price in nats a piece."""
    ((lr, scores),) = best_rates(parts, rate_score, PILOTS, {(): RATES}).values()
    runs = parts(reading, [(name, lr, seed) for name in ARMS for seed in SEEDS])
    counting = parts(by_counting, [(order,) for order in ORDERS])
    told = {}
    for name in ARMS:
        done = {seed: runs[name, lr, seed] for seed in SEEDS}
        told[name] = {way: spread({seed: run[way] for seed, run in done.items()}) for way in done[SEEDS[0]]}
    return {"pieces": PIECES, "read": rows("read").numel(), "asked": ASKED * (TIME - WINDOW), "updates": UPDATES,
            "lr": lr, "rates": rates_tried(scores),
            "by counting": {str(order): counting[order,] for order in ORDERS}, "arms": told}
