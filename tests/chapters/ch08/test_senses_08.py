"""The accuracies of the sense probes are those of their rows, by side of the cue; a bag of words contains every cue."""

import pytest

from plmlab.chapters.ch08.senses import accuracy, by_side
from plmlab.senses import bag_of_words, most_frequent
from plmlab.world.datasets.occurrences import other_sentences


def test_a_bag_of_words_has_the_cue_on_both_sides() -> None:
    known, probed = other_sentences()
    found = by_side({"bag of words": bag_of_words}, known, probed)
    assert [*found] == ["most frequent sense", "bag of words"]
    assert found["bag of words"] == {"left": (1.0, 0.0), "right": (1.0, 0.0)}
    on_the_right = [(guess, row) for guess, row in zip(most_frequent(known, probed), probed, strict=True)
                    if row.side == "right"]
    correct = sum(guess == row.sense for guess, row in on_the_right)
    assert found["most frequent sense"]["right"][0] == pytest.approx(correct / len(on_the_right))


def test_the_error_counts_patterns_and_not_sentences() -> None:
    _, probed = other_sentences()
    first = next(row for row in probed if row.pattern != probed[0].pattern)
    once, often = (accuracy([(True, probed[0]), (False, first)] * times) for times in (1, 5))
    assert once == pytest.approx(often)
