"""Questions and what was retrieved for them: where answers stand, span by span; rows of a batch by loops."""

from random import Random

import pytest
import torch

from plmlab.example import IGNORE
from plmlab.objectives.open_questions import QuestionBatch, QuestionExample, pointed_at
from plmlab.objectives.retrieved import queried
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(60)


@pytest.mark.parametrize("seed", range(40))
def test_spans_are_all_places_that_spell_an_answer(seed: int) -> None:
    """The slots count from [CLS], as in the authors' code (language/orqa/ops/orqa_ops.cc); few words, so that answers
    stand several times, overlap and contain each other."""
    rng = Random(seed)
    question, document = ([40 + rng.randrange(3) for _ in range(rng.randrange(least, 9))] for least in (0, 1))
    answers = [[40 + rng.randrange(3) for _ in range(rng.randrange(1, 4))] for _ in range(rng.randrange(4))]
    example = pointed_at(question, document, answers, vocab=VOCAB)
    assert example.tokens.tolist() == [2, *question, 3, *document, 3]
    assert example.segments.tolist() == [0] * (len(question) + 2) + [1] * (len(document) + 1)
    assert bool((example.targets == IGNORE).all())
    tokens, first = example.tokens.tolist(), len(question) + 2
    expected = [[i, j] for i in range(first, len(tokens) - 1) for j in range(i, len(tokens) - 1)
                if tokens[i:j + 1] in answers]
    assert example.labels["spans"].tolist() == expected


def test_what_cannot_be_pointed_at_is_refused() -> None:
    with pytest.raises(ValueError, match="a document without a token"):
        pointed_at([40], [], [[41]], vocab=VOCAB)
    with pytest.raises(ValueError, match="an answer without a token"):
        pointed_at([40], [41], [[41], []], vocab=VOCAB)


def example(question: list[int], documents: list[list[int]], answers: list[list[int]]) -> QuestionExample:
    vectors = torch.tensor([[len(one), sum(one)] for one in documents], dtype=torch.float64)
    return QuestionExample(queried(question, (), VOCAB), vectors, tuple(
        pointed_at(question, one, answers, vocab=VOCAB) for one in documents))


def test_a_batch_by_loops() -> None:
    given = [([40, 41], [[50, 51, 50], [52]], [[50]]), ([42], [[53], [53, 54], [55]], [[57]]),
             ([43, 44, 45], [[56]], [])]
    examples = [example(*one) for one in given]
    batch = QuestionBatch.of(examples, pad=0)
    assert batch.there.tolist() == [[True, True, False], [True, True, True], [True, False, False]]
    assert batch.vectors.tolist() == [[[3, 151], [1, 52], [0, 0]], [[1, 53], [2, 107], [1, 55]],
                                      [[1, 56], [0, 0], [0, 0]]]
    readings = [reading for one in examples for reading in one.readings]
    for row, one in enumerate(readings):
        size = len(one.tokens)
        assert torch.equal(batch.readings.tokens[row, :size], one.tokens)
        assert batch.readings.looked_at[row].tolist() == [slot < size for slot in range(batch.readings.size[1])]
        assert batch.readings.labels["spans"][row].tolist() == [
            *one.labels["spans"].tolist(), *[[IGNORE, IGNORE]] * (2 - len(one.labels["spans"]))]
    assert batch.targets is batch.queries.targets and bool((batch.targets == IGNORE).all())
    moved = batch.to("meta")
    assert {moved.vectors.device.type, moved.there.device.type, moved.queries.tokens.device.type,
            moved.readings.labels["spans"].device.type} == {"meta"}


def test_vectors_and_readings_that_do_not_fit() -> None:
    one = example([40], [[50], [51]], [])
    with pytest.raises(ValueError, match="1 vectors came with 2 readings"):
        QuestionExample(one.query, one.vectors[:1], one.readings)
    with pytest.raises(ValueError, match="one document at least"):
        QuestionExample(one.query, one.vectors[:0], ())
