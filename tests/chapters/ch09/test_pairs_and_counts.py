"""Probes of sentence pairs, and the parameters of BERT and ALBERT."""

from collections.abc import Callable, Iterator

import pytest

from plmlab.chapters.ch09.order_probe import ordered_features, probe_accuracy, topic_features
from plmlab.chapters.ch09.parameter_counts import SIZES, millions
from plmlab.exercises.exercise import of_chapter

NAMES = ("Ann", "Bob", "Eve", "Tom")


def swaps(split: str, seed: int) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], bool]]:
    """A pronoun is always in the second sentence of the original order."""
    for name in NAMES:
        yield (name, "sings"), ("she", "works"), True
        yield ("she", "works"), (name, "sings"), False


def test_the_topic_does_not_reveal_the_order() -> None:
    one, other = ("she", "sings", "."), ("Ann", "sings", ".")
    assert topic_features(one, other) == topic_features(other, one)
    assert ordered_features(one, other) != ordered_features(other, one)
    assert topic_features(one, other)["shared words"] == 2 and topic_features(one, other)["both:sings"] == 1


@pytest.mark.parametrize(("features", "expected"), [(topic_features, 0.5), (ordered_features, 1.0)])
def test_only_the_ordered_probe_learns_an_order(features: Callable, expected: float) -> None:
    assert probe_accuracy(swaps, features) == expected


@pytest.mark.parametrize("name", SIZES)
def test_parameters_are_those_of_the_exercise(name: str) -> None:
    """Counted from the modules, and by the formula of exercise 09.6."""
    _, config, _ = SIZES[name]
    [exercise] = [e for e in of_chapter("09") if e.number == "09.6"]
    shared = name.startswith("ALBERT")
    count = exercise.solution(config.vocab, config.embedding if shared else config.model, config.model, config.inner,
                              config.layers, 1 if shared else config.layers)
    assert sum(millions(name).values()) * 1e6 == pytest.approx(count, abs=0.5)
