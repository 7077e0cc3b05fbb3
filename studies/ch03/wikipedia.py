"""Real text: n-grams and the LSTM on the Wikipedia sample, whose floor nobody knows.

The rule is that of `amounts`, at this one amount of text.
"""

from collections import Counter
from functools import cache
from itertools import chain, pairwise
from statistics import mean
from typing import Any

import torch

from plmlab.chapters.ch03.rivals import (
    WAYS,
    Losses,
    Text,
    beside,
    best_order,
    counted_losses,
    learned,
    network_losses,
    smoothed,
)
from plmlab.recipes import Parts, best_rates, spread
from plmlab.text import articles
from plmlab.text.words import word_sentences, word_tokenizer

SEEDS, PILOTS = (0, 1, 2), (8,)
LEAST = 5
"""Words that stand less often in what is read are [UNK]."""
WIDTH = 128
BUDGETS = ((0.0, 2400), (0.3, 2400), (0.3, 4800))
"""Dropout and updates, of pilots too; 2,400 read each sentence five times."""
RATES = (3e-3, 1e-2)
SEEN = ("the two words before and this one", "the word before and this one", "neither")


@cache
def parted() -> dict[str, list[list[str]]]:
    """The sentences of the sample as lowercase words: of ten articles eight are read, one is for choices
    ("development") and one for the "exam"."""
    found: dict[str, list[list[str]]] = {"read": [], "development": [], "exam": []}
    for number, article in enumerate(articles()):
        part = {8: "development", 9: "exam"}.get(number % 10, "read")
        found[part] += [words for words in word_sentences(article.paragraphs) if words]
    return found


@cache
def text() -> Text:
    """The same as ids, one token a word that stands at least `LEAST` times in what is read."""
    counts = Counter(chain.from_iterable(parted()["read"]))
    tokenizer = word_tokenizer(word for word, count in counts.most_common() if count >= LEAST)
    rows = {part: tokenizer.encode_all([" ".join(words) for words in sentences], plain=True)
            for part, sentences in parted().items()}
    return Text(rows["read"], rows["development"], rows["exam"], tokenizer.vocab)


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
    kinds = torch.tensor(seen(list(text().exam)))  # type: ignore[arg-type]
    return {name: losses[kinds == kind].mean().item() for kind, name in enumerate(SEEN)}


def counting(way: str) -> dict[str, Any]:
    """The best order of one way to smooth, what each order pays, and what it pays on the exam."""
    order, tried = best_order(text(), smoothed(text(), way))
    losses = counted_losses(smoothed(text(), way)(order), text().exam)
    return {"order": order, "tried": {str(n): loss for n, loss in tried.items()}, "loss": losses.mean().item(),
            "seen": by_seen(losses)}


def rate_score(dropout: float, updates: int, lr: float, seed: int) -> float:
    """What a learning rate is judged by, the higher the better: minus the loss on the development sentences."""
    model, _ = learned(text(), WIDTH, dropout, updates, lr, seed)
    return -network_losses(model, text(), text().development).mean().item()


def reading(dropout: float, updates: int, lr: float, seed: int, way: str, order: int) -> dict[str, Any]:
    """One LSTM: what it pays on the exam, and what a mixture with the best n-gram pays."""
    model, history = learned(text(), WIDTH, dropout, updates, lr, seed)
    own, both, share = beside(model, smoothed(text(), way)(order), text())
    return {"loss": own.mean().item(), "share": share, "mixed": both.mean().item(), "seen": by_seen(own),
            "seconds": history.seconds}


def measure(parts: Parts) -> dict[str, Any]:
    """What stands in the sample; each way of counting; and the ``LSTM`` with its dropout, updates, rate and spread."""
    found = parts(counting, [(way,) for way in WAYS])
    best = best_rates(parts, rate_score, PILOTS, dict.fromkeys(BUDGETS, RATES))
    budget = max(BUDGETS, key=lambda one: max(best[one][1].values()))
    way = min(WAYS, key=lambda one: min(found[one,]["tried"].values()))
    lr, order = best[budget][0], found[way,]["order"]
    runs = parts(reading, [(*budget, lr, seed, way, order) for seed in SEEDS])
    done = {seed: runs[*budget, lr, seed, way, order] for seed in SEEDS}
    kinds = Counter(seen(list(text().exam)))  # type: ignore[arg-type]
    return {
        "words": len(text().vocab.words), "tokens": {part: sum(len(ids) + 1 for ids in rows) for part, rows in (
            ("read", text().read), ("development", text().development), ("exam", text().exam))},
        "unknown": mean(float(token == text().vocab.unk) for ids in text().exam for token in ids),
        "seen": {name: kinds[kind] / kinds.total() for kind, name in enumerate(SEEN)},
        "best n-gram": way, **{one: found[one,] for one in WAYS},
        "LSTM": {"dropout": budget[0], "updates": budget[1], "lr": lr, "width": WIDTH,
                 "tried": [{"dropout": dropout, "updates": updates, "rates": list(best[dropout, updates][1].items())}
                           for dropout, updates in BUDGETS],
                 **{name: spread({seed: run[name] for seed, run in done.items()})
                    for name in ("loss", "share", "mixed", "seconds")},
                 "seen": {name: spread({seed: run["seen"][name] for seed, run in done.items()}) for name in SEEN}},
    }
