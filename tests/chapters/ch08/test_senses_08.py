"""The accuracies of the sense probes, by side of the cue, on rows made by hand."""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from plmlab.chapters.ch08.senses import accuracy, by_side
from plmlab.world.datasets.occurrences import Occurrence


def row(sense: str, side: str, pattern: str) -> Occurrence:
    return Occurrence(("a", "bank"), 1, sense, pattern, side)


ROWS = [row("money", "left", "1"), row("river", "left", "2"), row("money", "right", "3"), row("money", "right", "4"),
        row("river", "right", "5")]


def with_the_sense(rows: Sequence[Occurrence]) -> Tensor:
    return torch.tensor([[10.0 * (row.sense == "money"), 1.0] for row in rows])


def test_a_vector_with_the_sense_is_correct_on_both_sides_and_the_most_frequent_sense_is_not() -> None:
    found = by_side({"vector": with_the_sense}, ROWS, ROWS)
    assert [*found] == ["most frequent sense", "vector"]
    assert found["vector"] == {"left": (1.0, 0.0), "right": (1.0, 0.0)}
    assert [found["most frequent sense"][side][0] for side in ("left", "right")] == pytest.approx([1 / 2, 2 / 3])


def test_the_error_counts_patterns_and_not_sentences() -> None:
    once, often = (accuracy([(True, ROWS[0]), (False, ROWS[1])] * times) for times in (1, 5))
    assert once == pytest.approx(often)
