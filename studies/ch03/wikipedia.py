"""Real text: n-grams and the LSTM on the Wikipedia sample, whose floor nobody knows.

The rule is that of `amounts`, at this one amount of text. Each dropout and budget has its own rate; only those that are
best on the development sentences are measured.
"""

from collections import Counter
from functools import cache
from itertools import chain, pairwise
from math import log
from statistics import mean
from typing import Any

import torch

from plmlab.chapters.ch03 import baselines
from plmlab.chapters.ch03.amounts import WAYS
from plmlab.chapters.ch03.baselines import Losses, Text, counted_losses, network_losses
from plmlab.models.recurrent import LSTMLanguageModel
from plmlab.recipes import Parts, rates_tried, seed_statistics
from plmlab.recipes.study import Run, Study
from plmlab.text import articles
from plmlab.text.words import word_sentences, word_tokenizer
from plmlab.train import History
from studies.ch03.ngrams import beside, best_order, best_way, smoothed

LEAST = 5
"""Words that stand less often in what is read are [UNK]."""
WIDTH = 128
WORDS = 7126
"""The types of the vocabulary that this makes of the sample."""
SEEN = ("the two words before and this one", "the word before and this one", "neither")


@cache
def parted() -> dict[str, list[list[str]]]:
    """The sentences of the sample as lowercase words: of ten articles eight are read, one is for choices
    ("development") and one for the "exam"."""
    found: dict[str, list[list[str]]] = {"read": [], "development": [], "test_set": []}
    for number, article in enumerate(articles()):
        part = {8: "development", 9: "test_set"}.get(number % 10, "read")
        found[part] += [words for words in word_sentences(article.paragraphs) if words]
    return found


@cache
def text() -> Text:
    """The same as ids, one token a word that stands at least `LEAST` times in what is read."""
    counts = Counter(chain.from_iterable(parted()["read"]))
    tokenizer = word_tokenizer(word for word, count in counts.most_common() if count >= LEAST)
    rows = {part: tokenizer.encode_all([" ".join(words) for words in sentences], plain=True)
            for part, sentences in parted().items()}
    return Text(rows["read"], rows["development"], rows["test_set"], tokenizer.vocab)


def seen(sentences: list[list[int]]) -> list[int]:
    """For each token of some sentences and each [END], which of `SEEN` stood together in what is read."""
    start, end = text().vocab.need("start"), text().vocab.need("end")
    pairs, triples = set[tuple[int, ...]](), set[tuple[int, ...]]()
    for ids in text().read:
        row = (start, start, *ids, end)
        pairs.update(pairwise(row[1:]))
        triples.update(zip(row, row[1:], row[2:], strict=False))
    found = []
    for ids in sentences:
        row = (start, start, *ids, end)
        found += [0 if triple in triples else 1 if triple[1:] in pairs else 2
                  for triple in zip(row, row[1:], row[2:], strict=False)]
    return found


def by_seen(losses: Losses) -> dict[str, float]:
    """What is paid on the exam for the tokens of each kind of `SEEN`, in nats."""
    kinds = torch.tensor(seen(list(text().test_set)))  # type: ignore[arg-type]
    return {name: losses[kinds == kind].mean().item() for kind, name in enumerate(SEEN)}


def counting(way: str) -> dict[str, Any]:
    """The best order of one way to smooth, what each order pays, and what it pays on the exam."""
    order, tried = best_order(text(), smoothed(text(), way))
    losses = counted_losses(smoothed(text(), way)(order), text().test_set)
    return {"order": order, "tried": {str(n): loss for n, loss in tried.items()}, "loss": losses.mean().item(),
            "seen": by_seen(losses)}


def build(dropout: float, seed: int) -> LSTMLanguageModel:
    """An LSTM with random weights of this seed."""
    return baselines.build(text().vocab.size, WIDTH, dropout, seed)


def train(model: LSTMLanguageModel, dropout: float, updates: int, lr: float, seed: int, **options: Any) -> History:
    """Train it on what is read; the run's history."""
    return baselines.train(model, text(), updates, lr, seed, **options)


def development(run: Run) -> float:
    """Minus the loss on the development sentences."""
    return -network_losses(run.model, text(), text().development).mean().item()


def test(run: Run) -> dict[str, Any]:
    """What an LSTM pays on the exam, and the seconds of its training."""
    own = network_losses(run.model, text(), text().test_set)
    return {"loss": own.mean().item(), "seen": by_seen(own), "seconds": run.history.seconds}


STUDY = Study(name="wikipedia", arms={(dropout,): (3e-3, 1e-2) for dropout in (0.0, 0.3)}, build=build, train=train,
              development=development, test=test, updates={(0.0,): (2400,), (0.3,): (2400, 4800)}, pilots=(8,),
              nothing=-log(WORDS), unequal="2,400 updates read each sentence five times; with dropout one learns "
                                           "slower, and may read them ten times")


def mixing(folder: str, dropout: float, updates: int, way: str, order: int, seed: int) -> dict[str, float]:
    """What an LSTM that was trained comes to, mixed with the best n-gram."""
    model = STUDY.trained(folder, dropout, updates=updates, seed=seed)
    return beside(model, smoothed(text(), way)(order), text())


def measure(parts: Parts, study: Study = STUDY) -> dict[str, Any]:
    """What stands in the sample; each way of counting; and the ``LSTM`` with its dropout, updates, rate and spread."""
    found = parts(counting, [(way,) for way in WAYS])
    counted = {way: found[way,] for way in WAYS}
    way = best_way(counted)
    tried = study.best(parts, [(*arm, updates) for arm in study.arms for updates in study.budgets(arm)])
    best = max(tried, key=lambda one: max(tried[one][1].values()))
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
