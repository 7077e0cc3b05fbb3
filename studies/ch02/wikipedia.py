"""Vectors of real text, the Wikipedia sample: ours beside gensim's on the same sentences, with Mikolov's questions."""

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
    """Section → its questions, in lower case."""
    from gensim.test.utils import datapath

    found: dict[str, list[Question]] = defaultdict(list)
    with open(datapath(QUESTIONS), encoding="utf-8") as file:
        for line in file:
            if line.startswith(":"):
                section = line[1:].strip()
            else:
                found[section].append(Question(*line.lower().split()))
    return dict(found)


def trained(who: str, read: Sequence[Sequence[str]], rate: float, seed: int) -> Pair:
    """Vectors of some sentences, with this chapter's settings for real text."""
    return TRAINERS[who](read, rate, seed, size=SIZE, least=LEAST, sample=SAMPLE, rounds=ROUNDS)


def closeness(who: str, rate: float, seed: int) -> float:
    """What a learning rate is judged by: minus the mean loss over pairs of a twentieth of the sentences, which was not
    read, in nats a pair, with all words as negatives in place of a draw."""
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
    one, other = torch.tensor(list(pairs)).T
    weight = torch.tensor([float(count) for count in pairs.values()])
    real = weight @ F.softplus(-(words.matrix[one] * contexts.matrix[other]).sum(-1))
    asked = torch.zeros(len(words)).index_add_(0, one, weight)
    refused = sum(float(asked[part] @ (F.softplus(words.matrix[part] @ contexts.matrix.T) @ noise))
                  for part in torch.arange(len(words)).split(1000))
    return -float(real + NEGATIVES * refused) / float(weight.sum())


@cache
def learned(who: str, rate: float, seed: int) -> WordVectors:
    """The vectors of the whole sample."""
    return trained(who, sentences(), rate, seed)[0]


def worth(who: str, rate: float, seed: int) -> dict[str, Any]:
    """What Mikolov's questions come to, all sections together, of those whose words all have a vector."""
    vectors = learned(who, rate, seed)
    questions = [question for section in mikolovs_questions().values() for question in known(vectors, section)]
    return {"words": len(vectors), "questions": len(questions), **answers(vectors, questions)}


def agreement(one: WordVectors, other: WordVectors) -> float:
    """Of the `NEAREST` neighbours of each of the `COMMONEST` words, the share that both have."""
    common = [word for word in one.words[:COMMONEST] if word in other.row]
    pairs = [({found.word for found in one.neighbours(word, NEAREST)},
              {found.word for found in other.neighbours(word, NEAREST)}) for word in common]
    return sum(len(a & b) for a, b in pairs) / (NEAREST * len(pairs))


def agreements(ours: float, theirs: float, first: int, second: int) -> dict[str, float]:
    """How far two seeds agree, of ours, of gensim's, and of ours with gensim's, each at its rate."""
    mine, again = (learned("ours", ours, seed) for seed in (first, second))
    one, other = (learned("gensim", theirs, seed) for seed in (first, second))
    return {"ours": agreement(mine, again), "gensim": agreement(one, other), "both": agreement(mine, other)}


def measure(parts: Parts) -> dict[str, Any]:
    """Who → its learning rate, and the spread of what its vectors are worth; and how far neighbours agree."""
    best = tune_learning_rates(parts, closeness, PILOTS, {(who,): RATES for who in TRAINERS})
    rates = {who: best[who,][0] for who in TRAINERS}
    done = parts(worth, [(who, rates[who], seed) for who in TRAINERS for seed in SEEDS])
    same = parts(agreements, [(rates["ours"], rates["gensim"], SEEDS[0], SEEDS[1])])
    told: dict[str, Any] = {"sentences": len(sentences()), "tokens": sum(map(len, sentences())), "size": SIZE,
                            "rounds": ROUNDS, "agreement": next(iter(same.values()))}
    for who, rate in rates.items():
        runs = {seed: done[who, rate, seed] for seed in SEEDS}
        told[who] = {"lr": rate, "tried": {str(one): -score for one, score in best[who,][1].items()},
                     **{way: seed_summary({seed: run[way] for seed, run in runs.items()}) for way in runs[SEEDS[0]]}}
    return told
