"""Word-sense probing: a linear probe predicts the sense of an ambiguous word from its vector, in held-out sentences.

Probe accuracy alone proves nothing (Hewitt and Liang 2019); the baselines are the most frequent sense, a bag of words,
and untrained models.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from math import sqrt
from operator import mul
from typing import Any, Protocol

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab import world
from plmlab.world.datasets.occurrences import Occurrence
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

Vectors = Callable[[Sequence[Occurrence]], Float[Tensor, "row model"]]


class HasPattern(Protocol):
    """Interface of Small World sentences, each of which was generated from a pattern."""

    @property
    def pattern(self) -> str:
        """The id of the sentence's pattern."""


def bag_of_words(rows: Sequence[Occurrence]) -> Float[Tensor, "row model"]:
    """Binary bag-of-words vectors of the sentences over the vocabulary, without word order and without a vector of the
    ambiguous word itself."""
    bags = torch.zeros(len(rows), len(world_tokenizer()))
    for bag, row in zip(bags, rows, strict=True):
        bag[ids(row.words)] = 1
    return bags


def read_once(vectors: Vectors, rows: Sequence[Occurrence]) -> Vectors:
    """Compute the vectors of all ``rows`` once. Returns a function that looks them up and accepts only these rows."""
    cache = dict(zip(rows, vectors(rows), strict=True))
    return lambda selected: torch.stack([cache[row] for row in selected])


def probe(vectors: Vectors, known: Sequence[Occurrence]) -> Any:
    """Train a linear probe: a logistic regression from the vectors of the sentences ``known`` to senses."""
    from sklearn.linear_model import LogisticRegression
    return LogisticRegression(max_iter=2000).fit(vectors(known).numpy(), [row.sense for row in known])


def error_by_pattern(right: Sequence[float | bool], rows: Sequence[HasPattern],
                     weights: Sequence[float] | None = None) -> float:
    """Cluster-robust standard error of a mean, such as an accuracy, where the sentences of a pattern form a cluster.

    Predictions for sentences of the same pattern tend to be correct or incorrect together. ``weights`` are those of the
    sentences, equal by default.
    """
    weighting = [1.0] * len(rows) if weights is None else weights
    mean = sum(map(mul, weighting, right)) / sum(weighting)
    by_pattern: dict[str, float] = defaultdict(float)
    for hit, row, weight in zip(right, rows, weighting, strict=True):
        by_pattern[row.pattern] += weight * (hit - mean)
    count = len(by_pattern)
    return sqrt(count / (count - 1) * sum(deviation ** 2 for deviation in by_pattern.values())) / sum(weighting)


def most_frequent(known: Sequence[Occurrence], asked: Sequence[Occurrence]) -> list[str]:
    """Most-frequent-sense baseline: for each row of ``asked``, the sense that is most frequent for its word in
    ``known``."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in known:
        counts[row.word][row.sense] += 1
    return [counts[row.word].most_common(1)[0][0] for row in asked]


def among_own_senses(classifier: Any, vectors: Vectors, asked: Sequence[Occurrence]) -> tuple[list[bool], list[float]]:
    """For each row, whether the probe is correct when restricted to the word's own senses, and the accuracy at
    chance."""
    ambiguous, columns = world.full().lexicon.ambiguous, {sense: i for i, sense in enumerate(classifier.classes_)}
    right, guess = [], []
    for row, scores in zip(asked, classifier.decision_function(vectors(asked).numpy()), strict=True):
        senses = [sense for sense in ambiguous[row.word] if sense in columns]
        right.append(max(senses, key=lambda sense: scores[columns[sense]]) == row.sense)
        guess.append(1 / len(senses))
    return right, guess
