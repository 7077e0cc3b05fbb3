"""What does the vector of an ambiguous word tell of its sense? A probe reads it off, and is asked of other sentences.

A probe alone proves nothing (Hewitt and Liang 2019): it is held against the most frequent sense, a bag of words and
untrained models.
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
    """A sentence of the world, which was made by a pattern."""

    @property
    def pattern(self) -> str:
        """The pattern's id."""


def bag_of_words(rows: Sequence[Occurrence]) -> Float[Tensor, "row model"]:
    """Which tokens a sentence has, one number for each of the vocabulary: no order, and no vector of the word."""
    bags = torch.zeros(len(rows), len(world_tokenizer()))
    for bag, row in zip(bags, rows, strict=True):
        bag[ids(row.words)] = 1
    return bags


def read_once(vectors: Vectors, rows: Sequence[Occurrence]) -> Vectors:
    """The same vectors, made once for all ``rows``, among which are the rows that will be asked for."""
    kept = dict(zip(rows, vectors(rows), strict=True))
    return lambda some: torch.stack([kept[row] for row in some])


def probe(vectors: Vectors, known: Sequence[Occurrence]) -> Any:
    """A linear classifier of senses, learned from the vectors of these sentences."""
    from sklearn.linear_model import LogisticRegression
    return LogisticRegression(max_iter=2000).fit(vectors(known).numpy(), [row.sense for row in known])


def error_by_pattern(right: Sequence[float | bool], rows: Sequence[HasPattern],
                     weights: Sequence[float] | None = None) -> float:
    """The standard error of a mean, such as a share of right answers, where the sentences of one pattern are right or
    wrong together: that of a mean of patterns, each with the weight of its sentences. ``weights`` are those of the
    answers, where not all count alike."""
    counted = [1.0] * len(rows) if weights is None else weights
    share = sum(map(mul, counted, right)) / sum(counted)
    by_pattern: dict[str, float] = defaultdict(float)
    for hit, row, weight in zip(right, rows, counted, strict=True):
        by_pattern[row.pattern] += weight * (hit - share)
    count = len(by_pattern)
    return sqrt(count / (count - 1) * sum(off ** 2 for off in by_pattern.values())) / sum(counted)


def most_frequent(known: Sequence[Occurrence], asked: Sequence[Occurrence]) -> list[str]:
    """Each word's most frequent sense."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in known:
        counts[row.word][row.sense] += 1
    return [counts[row.word].most_common(1)[0][0] for row in asked]


def among_its_senses(classifier: Any, vectors: Vectors, asked: Sequence[Occurrence]) -> tuple[list[bool], list[float]]:
    """Of each sentence whether the probe is right, choosing among the word's own senses; and how often a guess is."""
    ambiguous, places = world.full().lexicon.ambiguous, {sense: i for i, sense in enumerate(classifier.classes_)}
    right, guess = [], []
    for row, scores in zip(asked, classifier.decision_function(vectors(asked).numpy()), strict=True):
        senses = [sense for sense in ambiguous[row.word] if sense in places]
        right.append(max(senses, key=lambda sense: scores[places[sense]]) == row.sense)
        guess.append(1 / len(senses))
    return right, guess
