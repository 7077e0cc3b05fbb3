"""Probes of sentence-pair prediction without a language model: logistic regression on bags of words."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

Words = Sequence[str]
Features = dict[str, int]


def topic_features(first: Words, second: Words) -> Features:
    """Words of the pair and words that its two sentences share: the same if the sentences are exchanged."""
    shared = {*first} & {*second}
    return {**{f"in:{word}": 1 for word in (*first, *second)}, **{f"both:{word}": 1 for word in shared},
            "shared words": len(shared)}


def ordered_features(first: Words, second: Words) -> Features:
    """`topic_features`, and which words are in the first and which in the second sentence."""
    return {**topic_features(first, second), **{f"first:{word}": 1 for word in first},
            **{f"second:{word}": 1 for word in second}}


def probe_accuracy(draw: Callable[..., Iterator[Any]], features: Callable[[Words, Words], Features],
                   train: int = 4000, test: int = 1000) -> float:
    """Accuracy of the probe on new pairs. ``draw("train", seed=)`` yields (first, second, label), as a world's
    ``next_sentences`` and ``sentence_orders`` do."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    (x, y), (test_x, test_y) = (
        zip(*((features(a, b), label) for a, b, label in islice(draw("train", seed=seed), count)), strict=True)
        for seed, count in ((1, train), (2, test)))
    return float(make_pipeline(DictVectorizer(), LogisticRegression(max_iter=2000)).fit(x, y).score(test_x, test_y))
