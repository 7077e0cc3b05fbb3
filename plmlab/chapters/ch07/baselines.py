"""Baselines without a neural network: n-gram models, counts of a word pair, and a logistic regression on word pairs."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from math import log
from typing import Any

from plmlab.chapters.ch07.acceptability import Judged, corrupt, training_rows
from plmlab.chapters.ch07.corpus import OTHER, Words, held_out_sentences


def ngram_model(n: int, texts: Sequence[Words]) -> Callable[[Words], float]:
    """Train an n-gram model with Kneser–Ney smoothing (`nltk`); return a function sentence → −log P, in nats."""
    from nltk.lm import KneserNeyInterpolated
    from nltk.lm.preprocessing import padded_everygram_pipeline

    model: Any = KneserNeyInterpolated(n)
    model.fit(*padded_everygram_pipeline(n, texts))

    @cache
    def negative_log_prob(words: Words) -> float:
        text = ["<s>"] * (n - 1) + [*words, "</s>"]
        return -sum(log(max(model.score(text[i], text[i - n + 1:i]), 1e-9)) for i in range(n - 1, len(text)))
    return negative_log_prob


def loss_per_token(negative_log_prob: Callable[[Words], float], texts: Sequence[Words]) -> float:
    """Loss of a language model in nats per token; [END] counts as a token."""
    return sum(map(negative_log_prob, texts)) / sum(len(words) + 1 for words in texts)


def verb_of(words: Words) -> str:
    """The first "is" or "are" of a sentence."""
    return next(word for word in words if word in OTHER)


def pair_counts(texts: Sequence[Words]) -> Callable[[Words], float]:
    """Return a function sentence → minus the number of training texts with its second word and its verb."""
    counts = Counter((words[1], verb_of(words)) for words in texts if set(words) & set(OTHER))
    return lambda words: -counts[words[1], verb_of(words)]


def features(rows: Sequence[Judged]) -> list[dict[str, int]]:
    """One feature per pair of a word of the sentence and its verb, such as "keys … is"."""
    return [{f"{word} … {verb_of(words)}": 1 for word in words if word not in OTHER} for words, _ in rows]


def logistic_regression(labels: int, seed: int) -> float:
    """Test accuracy of a logistic regression on word pairs, trained on the same labels as the fine-tuned models."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    known = training_rows(labels, seed)
    test = [row for words in sorted(held_out_sentences()) for row in ((words, 1), (corrupt(words), 0))]
    model: Any = make_pipeline(DictVectorizer(), LogisticRegression(C=100, max_iter=1000))
    model.fit(features(known), [label for _, label in known])
    return float(model.score(features(test), [label for _, label in test]))
