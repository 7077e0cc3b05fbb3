"""Questions and what was retrieved for them: where answers stand, span by span; rows of a batch by loops."""

from itertools import count
from random import Random

import pytest
import torch

from plmlab.example import IGNORE, Example
from plmlab.objectives.open_domain_qa import QuestionBatch, answer_spans
from plmlab.objectives.reader_inputs import query_input
from plmlab.retrieval import Retrieved
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(60)


@pytest.mark.parametrize("seed", range(40))
def test_spans_are_all_places_that_spell_an_answer(seed: int) -> None:
    """The positions count from [CLS], as in the authors' code (language/orqa/ops/orqa_ops.cc); few words, so that
    answers stand several times, overlap and contain each other."""
    rng = Random(seed)
    question, document = ([40 + rng.randrange(3) for _ in range(rng.randrange(least, 9))] for least in (0, 1))
    answers = [[40 + rng.randrange(3) for _ in range(rng.randrange(1, 4))] for _ in range(rng.randrange(4))]
    example = answer_spans(question, document, answers, vocab=VOCAB)
    assert example.tokens.tolist() == [2, *question, 3, *document, 3]
    assert example.segments.tolist() == [0] * (len(question) + 2) + [1] * (len(document) + 1)
    assert bool((example.targets == IGNORE).all())
    tokens, first = example.tokens.tolist(), len(question) + 2
    expected = [[i, j] for i in range(first, len(tokens) - 1) for j in range(i, len(tokens) - 1)
                if tokens[i:j + 1] in answers]
    assert example.labels["spans"].tolist() == expected


def test_what_cannot_be_pointed_at_is_refused() -> None:
    with pytest.raises(ValueError, match="the document is empty"):
        answer_spans([40], [], [[41]], vocab=VOCAB)
    with pytest.raises(ValueError, match="an answer is empty"):
        answer_spans([40], [41], [[41], []], vocab=VOCAB)


def batch_of(given: list[tuple[list[int], list[list[int]], list[list[int]]]]) -> QuestionBatch:
    """Each document has a number of its own, in the order of the questions."""
    number = count()
    documents = [one for _, some, _ in given for one in some]
    return QuestionBatch.of(
        [query_input(question, (), VOCAB) for question, _, _ in given],
        Retrieved.of([[next(number) for _ in some] for _, some, _ in given]),
        torch.tensor([[len(one), sum(one)] for one in documents], dtype=torch.float64), read(given), pad=0)


def read(given: list[tuple[list[int], list[list[int]], list[list[int]]]]) -> list[Example]:
    return [answer_spans(question, one, answers, vocab=VOCAB) for question, some, answers in given for one in some]


def test_a_batch_by_loops() -> None:
    given = [([40, 41], [[50, 51, 50], [52]], [[50]]), ([42], [[53], [53, 54], [55]], [[57]]),
             ([43, 44, 45], [[56]], [])]
    batch = batch_of(given)
    assert batch.retrieved.doc_mask.tolist() == [[True, True, False], [True, True, True], [True, False, False]]
    assert batch.documents.tolist() == [[3, 151], [1, 52], [1, 53], [2, 107], [1, 55], [1, 56]]
    ones = torch.ones(3, 2, dtype=torch.float64)
    assert batch.scored(ones, batch.documents).scores.tolist() == [[154, 53, -torch.inf], [54, 109, 56],
                                                                   [57, -torch.inf, -torch.inf]]
    for row, one in enumerate(read(given)):
        size = len(one.tokens)
        assert torch.equal(batch.reader_inputs.tokens[row, :size], one.tokens)
        assert batch.reader_inputs.padding_mask[row].tolist() == [position < size
                                                                  for position in range(batch.reader_inputs.size[1])]
        assert batch.reader_inputs.labels["spans"][row].tolist() == [
            *one.labels["spans"].tolist(), *[[IGNORE, IGNORE]] * (2 - len(one.labels["spans"]))]
    assert batch.targets is batch.queries.targets and bool((batch.targets == IGNORE).all())
    moved = batch.to("meta")
    assert {moved.documents.device.type, moved.retrieved.scores.device.type, moved.queries.tokens.device.type,
            moved.reader_inputs.labels["spans"].device.type} == {"meta"}


def test_vectors_and_readings_that_do_not_fit() -> None:
    query, readings = query_input([40], (), VOCAB), read([([40], [[50], [51]], [])])
    with pytest.raises(ValueError, match="got 1 documents and 2 reader inputs"):
        QuestionBatch.of([query], Retrieved.of([[0]]), torch.zeros(1, 2), readings, pad=0)
    with pytest.raises(ValueError, match="at least one document"):
        QuestionBatch.of([query], Retrieved.of([[]]), torch.zeros(0, 2), [], pad=0)
