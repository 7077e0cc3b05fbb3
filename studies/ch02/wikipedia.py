"""Vectors trained on real text (the Wikipedia sample), with our implementation and with gensim on the same sentences,
evaluated on Mikolov's analogies."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

import torch
from torch.nn import functional as F

from plmlab.chapters.ch02.factorisation import NEGATIVES, WINDOW
from plmlab.chapters.ch02.judging import answers, known
from plmlab.chapters.ch02.trainers import TRAINERS, Pair
from plmlab.chapters.ch02.wikipedia import LEAST, ROUNDS, SAMPLE, SIZE, sentences
from plmlab.draws import shuffled
from plmlab.layers.sampled_softmax import noise_distribution
from plmlab.recipes import Parts, seed_summary, tune_learning_rates
from plmlab.vectors import WordVectors
from plmlab.world.datasets.analogies import Question

SEEDS, PILOTS = (0, 1, 2), (8, 9)
RATES = (0.01, 0.03, 0.1)
NEAREST, COMMONEST = 10, 2000
QUESTIONS = "questions-words.txt"
"""The analogies of Mikolov et al. (2013a), as they ship with gensim."""


@cache
def mikolovs_questions() -> dict[str, list[Question]]:
    """Map each section to its analogy questions, in lower case."""
    from gensim.test.utils import datapath

    sections: dict[str, list[Question]] = defaultdict(list)
    with open(datapath(QUESTIONS), encoding="utf-8") as file:
        for line in file:
            if line.startswith(":"):
                section = line[1:].strip()
            else:
                sections[section].append(Question(*line.lower().split()))
    return dict(sections)


def trained(who: str, read: Sequence[Sequence[str]], rate: float, seed: int) -> Pair:
    """Train vectors on sentences, with the chapter's settings for real text."""
    return TRAINERS[who](read, rate, seed, size=SIZE, least=LEAST, sample=SAMPLE, rounds=ROUNDS)


def closeness(who: str, rate: float, seed: int) -> float:
    """Score of a learning rate: the negative mean loss in nats per pair on held-out sentences, 5 % of all.

    The term for negative samples is computed as an exact expectation over all words instead of from a sample.
    """
    order = shuffled(Random(seed), sentences())
    cut = len(order) // 20
    held, read = order[:cut], order[cut:]
    words, contexts = trained(who, read, rate, seed)
    counts = Counter(word for sentence in read for word in sentence)
    noise = noise_distribution(torch.tensor([float(counts[word]) for word in words.words]))
    pairs: Counter[tuple[int, int]] = Counter()
    for sentence in held:
        rows = [words.row[word] for word in sentence if word in words.row]
        for i, row in enumerate(rows):
            for j in range(max(0, i - WINDOW), min(len(rows), i + WINDOW + 1)):
                if j != i:
                    pairs[row, rows[j]] += WINDOW + 1 - abs(i - j)
    left, right = torch.tensor(list(pairs)).T
    weight = torch.tensor([float(count) for count in pairs.values()])
    real = weight @ F.softplus(-(words.matrix[left] * contexts.matrix[right]).sum(-1))
    per_word = torch.zeros(len(words)).index_add_(0, left, weight)
    refused = sum(float(per_word[part] @ (F.softplus(words.matrix[part] @ contexts.matrix.T) @ noise))
                  for part in torch.arange(len(words)).split(1000))
    return -float(real + NEGATIVES * refused) / float(weight.sum())


@cache
def learned(who: str, rate: float, seed: int) -> WordVectors:
    """Train word vectors on the whole sample (cached)."""
    return trained(who, sentences(), rate, seed)[0]


def worth(who: str, rate: float, seed: int) -> dict[str, Any]:
    """Accuracy on all of Mikolov's questions whose words have vectors, over all sections together."""
    vectors = learned(who, rate, seed)
    questions = [question for section in mikolovs_questions().values() for question in known(vectors, section)]
    return {"words": len(vectors), "questions": len(questions), **answers(vectors, questions)}


def agreement(one: WordVectors, other: WordVectors) -> float:
    """Overlap of the `NEAREST` neighbours in two sets of vectors, averaged over the `COMMONEST` words."""
    common = [word for word in one.words[:COMMONEST] if word in other.row]
    pairs = [({near.word for near in one.neighbours(word, NEAREST)},
              {near.word for near in other.neighbours(word, NEAREST)}) for word in common]
    return sum(len(a & b) for a, b in pairs) / (NEAREST * len(pairs))


def agreements(ours: float, theirs: float, first: int, second: int) -> dict[str, float]:
    """Overlap of neighbours: between two seeds of our implementation, between two seeds of gensim, and between ours and
    gensim's."""
    mine, second_run = (learned("ours", ours, seed) for seed in (first, second))
    one, other = (learned("gensim", theirs, seed) for seed in (first, second))
    return {"ours": agreement(mine, second_run), "gensim": agreement(one, other), "both": agreement(mine, other)}


def measure(parts: Parts) -> dict[str, Any]:
    """Trainer → learning rate and the spread of the accuracies; and the overlap of neighbours."""
    best = tune_learning_rates(parts, closeness, PILOTS, {(who,): RATES for who in TRAINERS})
    rates = {who: best[who,][0] for who in TRAINERS}
    done = parts(worth, [(who, rates[who], seed) for who in TRAINERS for seed in SEEDS])
    same = parts(agreements, [(rates["ours"], rates["gensim"], SEEDS[0], SEEDS[1])])
    results: dict[str, Any] = {"sentences": len(sentences()), "tokens": sum(map(len, sentences())), "size": SIZE,
                               "rounds": ROUNDS, "agreement": next(iter(same.values()))}
    for who, rate in rates.items():
        runs = {seed: done[who, rate, seed] for seed in SEEDS}
        results[who] = {"lr": rate, "tried": {str(other): -score for other, score in best[who,][1].items()},
                        **{way: seed_summary({seed: run[way] for seed, run in runs.items()}) for way in runs[SEEDS[0]]}}
    return results
