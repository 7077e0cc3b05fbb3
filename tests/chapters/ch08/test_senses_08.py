"""The accuracies of the sense probes, by side of the cue, on rows made by hand."""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from plmlab.chapters.ch08.senses import above_most_frequent_sense, accuracy, by_side, encodes_cue, held_out_count
from plmlab.world.datasets.occurrences import Occurrence, other_patterns


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


def test_the_cue_is_encoded_if_bert_is_two_standard_errors_above_both_models() -> None:
    def told(untrained: float, gpt: float) -> dict[str, dict[str, tuple[float, float]]]:
        return {"BERT": {"right": (0.9, 0.0)}, "untrained BERT": {"right": (untrained, 0.1)},
                "GPT": {"right": (gpt, 0.1)}}

    assert encodes_cue(told(0.6, 0.6))
    assert not encodes_cue(told(0.75, 0.6)) and not encodes_cue(told(0.6, 0.75))


def test_the_models_above_the_most_frequent_sense_are_named() -> None:
    told = {"most frequent sense": (0.5, 0.1), "GPT": (0.55, 0.06), "BERT": (0.6, 0.05)}
    assert above_most_frequent_sense(told) == ["BERT"]


def test_the_held_out_templates_are_those_of_both_splits() -> None:
    splits = [{row.pattern for row in probed} for _, probed in other_patterns()]
    assert max(map(len, splits)) <= held_out_count() <= sum(map(len, splits))
