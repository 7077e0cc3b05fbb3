"""The baselines without a language model, counted by hand."""

from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

import pytest
from toy_size import changed

from plmlab import transfer
from plmlab.chapters.ch08 import word_overlap
from plmlab.chapters.ch08.word_overlap import overlap, overlap_score
from plmlab.transfer import TASKS, majority
from plmlab.transfer import test_set as evaluation_set


@cache
def few(name: str, seed: int) -> list[Any]:
    """The first rows to learn from."""
    return list(islice(TASKS[name].rows("train", seed), 200))


@pytest.fixture(scope="module", autouse=True)
def few_labels() -> Iterator[None]:
    with changed((transfer, "training_rows", few), (word_overlap, "training_rows", few)):
        yield


def test_overlap_is_the_share_of_different_words_that_both_have() -> None:
    assert overlap(["a", "b", "b", "c"], ["b", "c", "d"]) == 2 / 4
    assert overlap(["a"], ["a"]) == 1 and overlap(["a"], ["b"]) == 0


@pytest.mark.parametrize("name", ["acceptability", "paraphrase"])
def test_the_majority_is_right_as_often_as_its_class_comes(name: str) -> None:
    def said(rows: list) -> list[bool]:
        return [bool(row.right if name == "acceptability" else row.same) for row in rows]

    learned, asked = said(few(name, 0)), said(evaluation_set(name))
    assert majority(name) == asked.count(sum(learned) > len(learned) / 2) / len(asked)
    assert 0.4 < majority(name) < 0.6


def test_overlap_tells_more_than_the_majority_and_not_all() -> None:
    assert majority("paraphrase") + 0.1 < overlap_score() < 0.9
