"""Real text: the Wikipedia sample with a memory, without a memory, and with a window as long as segment and memory
together.

Every variant is trained on the same tokens in the same order. The floor of this text is unknown. The results are
compared with a Kneser–Ney n-gram model, which two layers do not surpass in the affordable number of updates.
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

from plmlab.chapters.ch10 import recall_task
from plmlab.chapters.ch10.arms import Arm
from plmlab.models.ngram import ModifiedKneserNey
from plmlab.models.transformer_xl import TransformerXL, TransformerXLConfig
from plmlab.recipes import Parts, rates_tried, seed_statistics
from plmlab.recipes.study import Run, Study
from plmlab.text import articles
from plmlab.text.tokenizers import Tokenizer
from plmlab.train import History, fit
from studies.ch10.baselines import sliding_window_logits

SEGMENT, MEMORY, WINDOW, TIME = 32, 96, 128, 256
"""Subwords per segment, in the memory, in the window, and per text of a batch."""
PIECES, LAYERS, WIDTH, HEADS = 2000, 2, 96, 4
TEXTS = 16
"""Texts per update."""
ASKED = 80
"""Number of texts of `TIME` subwords for development and in the test set."""
ARMS = {
    "memory": Arm(TransformerXL, SEGMENT, MEMORY), "none": Arm(TransformerXL, SEGMENT, 0),
    "window": Arm(TransformerXL, WINDOW, 0),
}
LIKED = "memory"
"""All variants use the learning rate that is best for this one."""
ORDERS = (1, 2, 3)
"""Orders of the n-gram models."""


@cache
def parted() -> dict[str, list[str]]:
    """The paragraphs of the sample: of every ten articles, eight are for training ("read"), one is for "development",
    and one for the test set ("test_set")."""
    found: dict[str, list[str]] = {"read": [], "development": [], "test_set": []}
    for number, article in enumerate(articles()):
        found[{8: "development", 9: "test_set"}.get(number % 10, "read")] += article.paragraphs
    return found


@cache
def tokenizer() -> Tokenizer:
    """A BPE tokenizer trained on the training text."""
    return Tokenizer.bpe(parted()["read"], PIECES)


@cache
def rows(part: str) -> Int[Tensor, "text piece"]:
    """A part as one stream, cut into texts of `TIME` + 1 subwords; for parts other than training, only the first
    `ASKED` texts."""
    stream = list(chain.from_iterable(tokenizer().encode_all(parted()[part], plain=True)))
    whole = torch.tensor(stream[:len(stream) // (TIME + 1) * (TIME + 1)]).view(-1, TIME + 1)
    return whole if part == "read" else whole[:ASKED]


def build(name: str, seed: int) -> TransformerXL:
    """The model of a variant, with random weights initialized with this seed."""
    arm = ARMS[name]
    torch.manual_seed(seed)
    return arm.model(TransformerXLConfig(len(tokenizer()), arm.segment, arm.memory, LAYERS, WIDTH, HEADS, 4 * WIDTH,
                                         dropout=0.0))


def train(model: TransformerXL, name: str, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train a variant and return the history; every variant gets the same tokens."""
    return fit(model, partial(recall_task.training_batch, rows("read"), seed, count=TEXTS), steps=updates, lr=lr,
               warmup=50,
               **options)


def price(logits: Tensor, part: str) -> float:
    """Mean loss per subword, in nats; the first `WINDOW` subwords of each text are context only."""
    targets = rows(part)[:, 1:]
    return float(F.cross_entropy(logits[:, WINDOW:].flatten(0, 1), targets[:, WINDOW:].flatten()))


def n_gram_loss(order: int) -> float:
    """Mean loss of an n-gram model per subword of the test set; the model is estimated on the training text."""
    counted = ModifiedKneserNey(rows("read").tolist(), order, tokenizer().vocab)
    prices = [-log(counted.probs(tuple(row[end - order + 1:end]), np.array([row[end]]))[0])
              for row in rows("test_set").tolist() for end in range(WINDOW + 1, len(row))]
    return fmean(prices)


def development(run: Run) -> float:
    """Negative loss per subword on the development articles."""
    return -price(recall_task.segment_logits(run.model, rows("development")), "development")


def test(run: Run) -> dict[str, float]:
    """A variant's loss per subword: "in order", as in training; with sliding "windows" of `WINDOW` subwords, in which
    each subword is predicted from all preceding ones; with the memory "emptied" before each segment; and with twice the
    memory length ("longer"). Also the ``seconds`` per update."""
    model, [name] = run.model, run.arm
    told = {"in order": price(recall_task.segment_logits(model, rows("test_set")), "test_set"),
            "seconds": run.history.seconds / run.updates}
    if ARMS[name].memory:
        for way, memory in (("emptied", 0), ("longer", 2 * MEMORY)):
            other = model.remembering(memory=memory)
            told[way] = price(recall_task.segment_logits(other, rows("test_set")), "test_set")
    elif ARMS[name].segment == WINDOW:
        told["windows"] = price(sliding_window_logits(model, WINDOW, rows("test_set")), "test_set")
    return told


STUDY = Study(name="wikipedia", arms={(name,): (1e-3, 3e-3, 1e-2) for name in ARMS}, build=build, train=train,
              development=development, test=test, updates=(500,), pilots=(9,), pilot_updates=200, nothing=-log(PIECES))


def measure(parts: Parts, study: Study = STUDY) -> dict[str, Any]:
    """The number of subwords in the training text (``read``) and in the test set (``asked``), ``lr`` and ``rates``;
    ``n-grams``: n → the loss per subword of an n-gram model; and variant → the spread of each loss, in nats per
    subword."""
    [updates] = study.updates
    (rate,) = study.best(parts, [(LIKED, updates)]).values()
    found = study.at(parts, {(name, updates): rate for name, in study.arms})
    counting = parts(n_gram_loss, [(order,) for order in ORDERS])
    lr, scores = rate
    return {"pieces": PIECES, "read": rows("read").numel(), "asked": ASKED * (TIME - WINDOW), "updates": updates,
            "lr": lr, "rates": rates_tried(scores), "n-grams": {str(order): counting[order,] for order in ORDERS},
            "arms": {name: seed_statistics(found[name, updates].runs) for name, in study.arms}}
