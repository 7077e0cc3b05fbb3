"""What a reader of one pass gets: the labels stand at the words that they mean."""

import pytest

from plmlab.example import IGNORE
from plmlab.objectives.single_pass_qa import sentence_starts, with_support
from plmlab.text.words import word_tokenizer

VOCAB = word_tokenizer(["a", "b", "c", "d", "e", "f", "g", "h"]).vocab
A, B, C, D, E, F = (VOCAB.need("sep") + 50 + i for i in range(6))


def test_answer_and_supporting_sentences_are_labelled_at_their_positions() -> None:
    sentences = [[A, B], [C], [D, E, F]]
    example = with_support([A, C], sentences, (2, 1, 3), [0, 2], vocab=VOCAB)
    cls, sep = VOCAB.need("cls"), VOCAB.need("sep")
    assert example.tokens.tolist() == [cls, A, C, sep, A, B, C, D, E, F, sep]
    assert sentence_starts([A, C], sentences) == [4, 6, 7, 10]
    assert (int(example.labels["start"]), int(example.labels["end"])) == (8, 9)
    told = {position: value for position, value in enumerate(example.labels["supporting"].tolist()) if value != IGNORE}
    assert told == {4: 1, 6: 0, 7: 1}


def test_a_text_that_does_not_answer_has_no_place() -> None:
    example = with_support([A], [[B]], None, [], vocab=VOCAB)
    assert int(example.labels["start"]) == int(example.labels["end"]) == IGNORE


def test_a_span_outside_the_text_is_refused() -> None:
    with pytest.raises(ValueError, match="the answer is text"):
        with_support([A], [[B]], (0, 0, 4), [], vocab=VOCAB)
