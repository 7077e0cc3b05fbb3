"""Sequence to sequence: the figure of the encoder-decoder, drawn by hand."""

import pytest

from plmlab.example import IGNORE
from plmlab.objectives import sequence_to_sequence
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(40)
START, END = VOCAB.need("start"), VOCAB.need("end")


def test_the_decoder_writes_the_target_and_sees_all_of_the_source() -> None:
    example = sequence_to_sequence([10, 11, 12], [20, 21], vocab=VOCAB)
    assert example.source.tokens.tolist() == [10, 11, 12, END]
    assert example.target.tokens.tolist() == [START, 20, 21]
    assert example.target.targets.tolist() == [20, 21, END]
    assert example.source.targets.tolist() == [IGNORE] * 4
    assert example.source.visible.dense().all() and example.cross.dense().shape == (3, 4)
    assert example.cross.dense().all()
    assert example.target.visible.dense().int().tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]


@pytest.mark.parametrize("source, target", [([], [20]), ([10], [])])
def test_an_empty_side_still_ends(source: list[int], target: list[int]) -> None:
    example = sequence_to_sequence(source, target, vocab=VOCAB)
    assert example.source.tokens[-1] == END and example.target.targets[-1] == END
