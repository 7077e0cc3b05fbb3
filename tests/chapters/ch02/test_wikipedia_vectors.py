"""Vectors of real text: the held-out loss by loops, and the experiment on the smallest of scales."""

from collections.abc import Callable
from random import Random

import pytest
import torch
from torch.nn import functional as F

from plmlab.draws import shuffled
from plmlab.recipes import Parts
from plmlab.vectors import WordVectors
from studies.ch02 import wikipedia

TEXT = [["the", "old", "tea", "is", "green"], ["green", "tea", "is", "old"], ["tea", "the", "green"]] * 20


def test_the_questions_are_mikolovs() -> None:
    told = wikipedia.mikolovs_questions()
    assert sum(map(len, told.values())) == 19_544 and len(told) == 14
    assert told["capital-common-countries"][0] == ("athens", "greece", "baghdad", "iraq")


def test_the_held_out_loss_by_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """All words as negatives: the mean over pairs, each weighed by how often a shrinking window holds it."""
    rng = torch.Generator().manual_seed(0)
    words = ("the", "old", "tea", "is", "green")
    W, C = (torch.randn(5, 3, generator=rng) for _ in "wc")
    monkeypatch.setattr(wikipedia, "sentences", lambda: TEXT)
    monkeypatch.setattr(wikipedia, "trained", lambda *_: (WordVectors(words, W), WordVectors(words, C)))
    order = shuffled(Random(4), TEXT)
    held, read = order[:3], order[3:]
    counts = torch.tensor([float(sum(sentence.count(word) for sentence in read)) for word in words])
    noise = counts ** 0.75 / (counts ** 0.75).sum()
    total = weight = 0.0
    for sentence in held:
        for i, word in enumerate(sentence):
            for j, other in enumerate(sentence):
                if 0 < abs(i - j) <= 5:
                    share = (6 - abs(i - j)) / 5
                    a, b = words.index(word), words.index(other)
                    total += share * float(F.softplus(-W[a] @ C[b]) + 5 * noise @ F.softplus(C @ W[a]))
                    weight += share
    assert -wikipedia.closeness("ours", 0.03, 4) == pytest.approx(total / weight, rel=1e-5)


def test_agreement_by_sets() -> None:
    rng = torch.Generator().manual_seed(2)
    names = tuple(f"w{i}" for i in range(30))
    one, other = (WordVectors(names, torch.randn(30, 4, generator=rng)) for _ in "ab")
    assert wikipedia.agreement(one, one) == 1
    near = [[{found.word for found in vectors.neighbours(word, 10)} for vectors in (one, other)] for word in names]
    assert wikipedia.agreement(one, other) == pytest.approx(sum(len(a & b) for a, b in near) / 300)


def test_it_tells_what_the_notebook_reads(monkeypatch: pytest.MonkeyPatch, parts: Parts, best_at: Callable) -> None:
    few = [["a", "boy", "and", "a", "girl"], ["a", "man", "and", "a", "woman"],
           ["the", "old", "man", "is", "a", "boy"]] * 60
    for name, value in (("sentences", lambda: few), ("SEEDS", (0, 1)), ("PILOTS", (8,)), ("SIZE", 4), ("ROUNDS", 1),
                        ("SAMPLE", 0.0), ("closeness", best_at(0.03))):
        monkeypatch.setattr(wikipedia, name, value)
    wikipedia.learned.cache_clear()
    told = wikipedia.measure(parts)
    wikipedia.learned.cache_clear()
    assert told["sentences"] == 180 and told["tokens"] == 960
    assert set(told["agreement"]) == {"ours", "gensim", "both"} and all(0 <= x <= 1 for x in told["agreement"].values())
    for who in ("ours", "gensim"):
        assert told[who]["lr"] == 0.03 and told[who]["words"]["values"] == [9, 9] and told[who]["questions"]["low"] == 2
