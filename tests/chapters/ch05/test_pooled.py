"""Beliefs from one side, pooled: against numbers worked by hand and the world's own figures."""

from math import log

import pytest

from plmlab.chapters.ch05.pooled import Beliefs, frequencies, pooled, predictions
from plmlab.world import World


def test_two_beliefs_are_multiplied_and_made_to_add_up_to_one() -> None:
    told = Beliefs("a", {"a": 0.5, "b": 0.5}, {"a": 0.2, "b": 0.3, "c": 0.5}, {"a": 1.0}, {"a": 0.25, "b": 0.5})
    assert pooled(told, 1.0, 1.0, 0.0) == pytest.approx(-log(0.10 / (0.10 + 0.15)))
    assert pooled(told, 1.0, 1.0, 1.0) == pytest.approx(-log(0.40 / (0.40 + 0.30)))
    assert pooled(told, 0.0, 2.0, 0.0) == pytest.approx(-log(0.04 / (0.04 + 0.09)))


def test_from_either_side_a_sentence_costs_its_probability(small: World) -> None:
    words = next(small.text("train", seed=3))
    told = predictions(small, words)
    ends = [log(small.next_words(words)["[END]"]), 0.0]
    left = sum(log(one.left[one.word]) for one in told) + ends[0]
    assert left == pytest.approx(small.logprob(words))
    for one in told:
        assert one.both[one.word] > 0 and sum(one.both.values()) == pytest.approx(1)


def test_how_usual_words_are_adds_up_to_one(small: World) -> None:
    assert sum(frequencies(small).values()) == pytest.approx(1)
    assert frequencies(small)["the"] > 10 * frequencies(small)["piano"] > 0
