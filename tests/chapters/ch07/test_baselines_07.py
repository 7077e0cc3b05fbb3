"""Baselines of chapter 07: probabilities of an n-gram model, counts by hand, and features that hold the answer."""

from math import exp, log

import pytest
import torch

from plmlab.chapters.ch07 import acceptability, baselines, corpus

KEYS, KEY = ("the", "keys", "are", "lost"), ("the", "key", "is", "new")


def test_an_ngram_model_is_a_distribution_and_prefers_its_training_text() -> None:
    texts = [("a", "b"), ("a", "c"), ("b",), ("a", "b")]
    model = baselines.ngram_model(2, texts)
    assert exp(-model(("a", "b"))) > exp(-model(("a", "c"))) > exp(-model(("c", "a")))
    first = sum(exp(-model((word, "b")) + model(("a", "b"))) for word in "abc")
    assert first >= 1
    assert baselines.loss_per_token(lambda words: 3.0 * len(words), [("a", "b"), ("a",)]) == pytest.approx(9 / 5)
    assert baselines.loss_per_token(model, [("a", "b")]) < log(5)


def test_pairs_are_counted_by_hand() -> None:
    counts = baselines.pair_counts([KEYS, KEYS, KEY, ("the", "dog", "sings")])
    assert counts(KEYS) == -2 and counts(KEY) == -1 and counts(acceptability.corrupt(KEYS)) == 0


def test_features_are_pairs_with_the_verb() -> None:
    assert baselines.features([(KEYS, 1)]) == [{"the … are": 1, "keys … are": 1, "lost … are": 1}]
    assert baselines.verb_of(KEY) == "is"


def test_the_regression_learns_the_rule_from_many_labels_and_not_from_few() -> None:
    assert baselines.logistic_regression(128, 0) > 0.95 > baselines.logistic_regression(4, 0)


def test_next_word_probabilities_are_those_of_the_model() -> None:
    gpt = corpus.fresh(0).eval()
    probs = corpus.next_word_probs(gpt, "the keys")
    assert sum(probs.values()) == pytest.approx(1, abs=1e-4)
    with torch.no_grad():
        logits = gpt(corpus.causal_batch([("the", "keys", "are")]))[0, 2]
    assert probs["are"] == pytest.approx(float(logits.softmax(-1)[corpus.ids(["are"])[0]]), abs=1e-5)
