"""Real text: n-gram models and the LSTM on the Wikipedia sample, whose entropy is unknown.

The rule is that of `amounts`, for this single amount of text. Each combination of dropout rate and budget has its own
learning rate; only the combination that is best on the development sentences is evaluated.
"""

from collections import Counter
from functools import cache
from itertools import chain, pairwise
from math import log
from statistics import mean
from typing import Any

import torch

from plmlab.chapters.ch03.amounts import SMOOTHING_METHODS
from plmlab.chapters.ch03.baselines import Losses, Text, counted_losses, network_losses
from plmlab.models.recurrent import LSTMLanguageModel
from plmlab.recipes import Parts, rates_tried, seed_statistics
from plmlab.recipes.study import Run, Study
from plmlab.text import articles
from plmlab.text.words import word_sentences, word_tokenizer
from plmlab.train import History
from studies.ch03 import lstm
from studies.ch03.ngrams import best_order, best_way, interpolated, smoothed

LEAST = 5
"""Words with fewer occurrences in the training text are [UNK]."""
WIDTH = 128
WORDS = 7126
"""Resulting vocabulary size."""
SEEN = ("the two words before and this one", "the word before and this one", "neither")


@cache
def parted() -> dict[str, list[list[str]]]:
    """Split the sample into sentences of lower-case words: of every ten articles, eight are for training ("read"), one
    is for development, and one for the test set ("test_set")."""
    splits: dict[str, list[list[str]]] = {"read": [], "development": [], "test_set": []}
    for number, article in enumerate(articles()):
        part = {8: "development", 9: "test_set"}.get(number % 10, "read")
        splits[part] += [words for words in word_sentences(article.paragraphs) if words]
    return splits


@cache
def text() -> Text:
    """The splits as token ids, one token per word with at least `LEAST` occurrences in the training text (cached)."""
    counts = Counter(chain.from_iterable(parted()["read"]))
    tokenizer = word_tokenizer(word for word, count in counts.most_common() if count >= LEAST)
    rows = {part: tokenizer.encode_all([" ".join(words) for words in sentences], plain=True)
            for part, sentences in parted().items()}
    return Text(rows["read"], rows["development"], rows["test_set"], tokenizer.vocab)


def seen(sentences: list[list[int]]) -> list[int]:
    """For each token ([END] included), an index into `SEEN`: the length of the longest context with which the token
    occurs in the training text."""
    start, end = text().vocab.need("start"), text().vocab.need("end")
    pairs, triples = set[tuple[int, ...]](), set[tuple[int, ...]]()
    for ids in text().read:
        row = (start, start, *ids, end)
        pairs.update(pairwise(row[1:]))
        triples.update(zip(row, row[1:], row[2:], strict=False))
    classes = []
    for ids in sentences:
        row = (start, start, *ids, end)
        classes += [0 if triple in triples else 1 if triple[1:] in pairs else 2
                    for triple in zip(row, row[1:], row[2:], strict=False)]
    return classes


def by_seen(losses: Losses) -> dict[str, float]:
    """Mean test loss in nats per token, by class of `SEEN`."""
    kinds = torch.tensor(seen(list(text().test_set)))  # type: ignore[arg-type]
    return {name: losses[kinds == kind].mean().item() for kind, name in enumerate(SEEN)}


def counting(way: str) -> dict[str, Any]:
    """The best order for a smoothing method, the development loss of each order, and the test loss."""
    order, tried = best_order(text(), smoothed(text(), way))
    losses = counted_losses(smoothed(text(), way)(order), text().test_set)
    return {"order": order, "tried": {str(n): loss for n, loss in tried.items()}, "loss": losses.mean().item(),
            "seen": by_seen(losses)}


def build(dropout: float, seed: int) -> LSTMLanguageModel:
    """Return an untrained LSTM, initialized with ``seed``."""
    return lstm.build(text().vocab.size, WIDTH, dropout, seed)


def train(model: LSTMLanguageModel, dropout: float, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train the LSTM on the training text and return the run's history."""
    return lstm.train(model, text(), updates, lr, seed, **options)


def development(run: Run) -> float:
    """Negative loss on the development sentences."""
    return -network_losses(run.model, text(), text().development).mean().item()


def test(run: Run) -> dict[str, Any]:
    """Test loss of an LSTM, and the training time in seconds."""
    losses = network_losses(run.model, text(), text().test_set)
    return {"loss": losses.mean().item(), "seen": by_seen(losses), "seconds": run.history.seconds}


STUDY = Study(name="wikipedia", arms={(dropout,): (3e-3, 1e-2) for dropout in (0.0, 0.3)}, build=build, train=train,
              development=development, test=test, updates={(0.0,): (2400,), (0.3,): (2400, 4800)}, pilots=(8,),
              nothing=-log(WORDS), unequal="2,400 updates read each sentence five times; with dropout one learns "
              "slower, and may read them ten times")


def mixing(folder: str, dropout: float, updates: int, way: str, order: int, seed: int) -> dict[str, float]:
    """Interpolate a trained LSTM with the best n-gram model and return the test results."""
    model = STUDY.trained(folder, dropout, updates=updates, seed=seed)
    return interpolated(model, smoothed(text(), way)(order), text())


def measure(parts: Parts, study: Study = STUDY) -> dict[str, Any]:
    """Sizes of the sample; each smoothing method; and the ``LSTM`` with dropout, updates, learning rate and spread."""
    outcomes = parts(counting, [(way,) for way in SMOOTHING_METHODS])
    counted = {way: outcomes[way,] for way in SMOOTHING_METHODS}
    way = best_way(counted)
    tried = study.best(parts, [(*arm, updates) for arm in study.arms for updates in study.budgets(arm)])
    best = max(tried, key=lambda run: max(tried[run][1].values()))
    net = study.at(parts, {best: tried[best]})[best]
    mixture = (str(parts.folder), *best, way, counted[way]["order"])
    mixed = parts(mixing, [(*mixture, seed) for seed in study.seeds])
    kinds = Counter(seen(list(text().test_set)))  # type: ignore[arg-type]
    return {
        "words": len(text().vocab.words), "tokens": {part: sum(len(ids) + 1 for ids in rows) for part, rows in (
            ("read", text().read), ("development", text().development), ("test_set", text().test_set))},
        "unknown": mean(float(token == text().vocab.unk) for ids in text().test_set for token in ids),
        "seen": {name: kinds[kind] / kinds.total() for kind, name in enumerate(SEEN)},
        "best n-gram": way, **counted,
        "LSTM": {"dropout": best[0], "updates": best[1], "lr": net.lr, "width": WIDTH,
                 "tried": [{"dropout": dropout, "updates": updates, "rates": rates_tried(scores)}
                           for (dropout, updates), (_, scores) in tried.items()],
                 **seed_statistics({seed: run | mixed[*mixture, seed] for seed, run in net.runs.items()})}}
