"""The cheap rules, counted by hand."""

import pytest

from plmlab.chapters.ch08.cheap_rules import majority, overlap, overlap_score
from plmlab.transfer import exam


def test_overlap_is_the_share_of_different_words_that_both_have() -> None:
    assert overlap(["a", "b", "b", "c"], ["b", "c", "d"]) == 2 / 4
    assert overlap(["a"], ["a"]) == 1 and overlap(["a"], ["b"]) == 0


@pytest.mark.parametrize("name", ["one sentence", "a pair"])
def test_the_majority_is_right_as_often_as_its_class_comes(name: str) -> None:
    said = [bool(row.right if name == "one sentence" else row.same) for row in exam(name)]
    shares = [said.count(kind) / len(said) for kind in (True, False)]
    assert majority(name) in shares and 0.4 < majority(name) < 0.6


def test_overlap_tells_more_than_the_majority_and_not_all() -> None:
    assert majority("a pair") + 0.1 < overlap_score() < 0.9
