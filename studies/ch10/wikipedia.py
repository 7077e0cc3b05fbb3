"""Real text: the Wikipedia sample, read with a memory, without one, and in a window as long as both.

Each arm reads the same pieces in the same order, as often. Nobody knows the floor of this text; beside them stands a
reader who counts (Kneser–Ney), which two layers do not overtake in the updates that there is time for.
"""

from functools import cache, partial
from itertools import chain
from math import log
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
from plmlab.recipes import Parts, rates_tried, seed_statistics
from plmlab.recipes.study import Run, Study
from plmlab.text import articles
from plmlab.text.tokenizers import Tokenizer
from plmlab.train import History, fit
from studies.ch10.ways_to_read import by_windows

SEGMENT, MEMORY, WINDOW, TIME = 32, 96, 128, 256
"""Pieces of a segment, of the memory and of the window, and of a text of a batch."""
PIECES, LAYERS, WIDTH, HEADS = 2000, 2, 96, 4
TEXTS = 16
"""Of an update."""
ASKED = 80
"""So many texts of `TIME` pieces are asked, for choices and in the exam."""
ARMS = {
    "memory": Arm(TransformerXL, SEGMENT, MEMORY), "none": Arm(TransformerXL, SEGMENT, 0),
    "window": Arm(TransformerXL, WINDOW, 0),
}
LIKED = "memory"
"""All take the rate that this arm likes best."""
ORDERS = (1, 2, 3)
"""Of the n-grams that are counted."""


@cache
def parted() -> dict[str, list[str]]:
    """The paragraphs of the sample: of ten articles eight are read, one is for choices ("development"), one is the
    "exam"."""
    found: dict[str, list[str]] = {"read": [], "development": [], "test_set": []}
    for number, article in enumerate(articles()):
        found[{8: "development", 9: "test_set"}.get(number % 10, "read")] += article.paragraphs
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


def build(name: str, seed: int) -> TransformerXL:
    """An arm with random weights of this seed."""
    arm = ARMS[name]
    torch.manual_seed(seed)
    return arm.model(TransformerXLConfig(len(tokenizer()), arm.segment, arm.memory, LAYERS, WIDTH, HEADS, 4 * WIDTH,
                                         dropout=0.0))


def train(model: TransformerXL, name: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train an arm, on the same pieces whichever it is; the run's history."""
    return fit(model, partial(recalling.drawn, rows("read"), seed, count=TEXTS), steps=updates, lr=lr, warmup=50,
               **options)


def price(logits: Tensor, part: str) -> float:
    """The mean price of a piece, in nats; the first `WINDOW` of each text are read in, and not asked."""
    targets = rows(part)[:, 1:]
    return float(F.cross_entropy(logits[:, WINDOW:].flatten(0, 1), targets[:, WINDOW:].flatten()))


def by_counting(order: int) -> float:
    """The mean price of a piece of the exam for who has counted the n-grams of what is read."""
    counted = ModifiedKneserNey(rows("read").tolist(), order, tokenizer().vocab)
    prices = [-log(counted.chances(tuple(row[end - order + 1:end]), np.array([row[end]]))[0])
              for row in rows("test_set").tolist() for end in range(WINDOW + 1, len(row))]
    return fmean(prices)


def development(run: Run) -> float:
    """Minus the price of a piece in the articles to choose by."""
    return -price(recalling.in_order(run.model, rows("development")), "development")


def test(run: Run) -> dict[str, float]:
    """An arm's price of a piece "in order", as it is trained to read, and by "windows" of `WINDOW` pieces, each one
    with all those before it; with the memory "emptied" before each segment, and twice as long ("longer"); and the
    ``seconds`` of an update."""
    model, [name] = run.model, run.arm
    told = {"in order": price(recalling.in_order(model, rows("test_set")), "test_set"),
            "seconds": run.history.seconds / run.updates}
    if ARMS[name].memory:
        for way, memory in (("emptied", 0), ("longer", 2 * MEMORY)):
            other = model.remembering(memory=memory)
            told[way] = price(recalling.in_order(other, rows("test_set")), "test_set")
    elif ARMS[name].segment == WINDOW:
        told["windows"] = price(by_windows(model, WINDOW, rows("test_set")), "test_set")
    return told


STUDY = Study(name="wikipedia", arms={(name,): (1e-3, 3e-3, 1e-2) for name in ARMS}, build=build, train=train,
              development=development, test=test, updates=(500,), pilots=(9,), pilot_updates=200, nothing=-log(PIECES))


def measure(parts: Parts, study: Study = STUDY) -> dict[str, Any]:
    """How many pieces are ``read`` and ``asked``, ``lr`` and ``rates``; n → the price of a piece ``by counting``; and
    arm → the spread of each price in nats a piece."""
    [updates] = study.updates
    (rate,) = study.best(parts, [(LIKED, updates)]).values()
    found = study.at(parts, {(name, updates): rate for name, in study.arms})
    counting = parts(by_counting, [(order,) for order in ORDERS])
    lr, scores = rate
    return {"pieces": PIECES, "read": rows("read").numel(), "asked": ASKED * (TIME - WINDOW), "updates": updates,
            "lr": lr, "rates": rates_tried(scores), "by counting": {str(order): counting[order,] for order in ORDERS},
            "arms": {name: seed_statistics(found[name, updates].runs) for name, in study.arms}}
