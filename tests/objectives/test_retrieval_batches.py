"""Statements with what was retrieved for each, side by side: every row against the texts alone, by loops."""

from random import Random

import pytest
import torch

from plmlab.example import IGNORE, Batch, Example
from plmlab.objectives.reader_inputs import pair_input, query_input, reader_input
from plmlab.objectives.retrieval_batches import RetrievedBatch
from plmlab.retrieval import NULL, Retrieved
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(90)
BODIES = {NULL: (), 0: (60, 61, 62), 3: (63,), 7: (64, 65, 66, 67, 68), 11: (69, 70)}
DOCUMENTS = {number: pair_input([80 + number][:number >= 0], body, VOCAB) for number, body in BODIES.items()}


Given = list[tuple[list[int], list[int], list[int]]]
"""Statements, the places of their hidden tokens, the numbers of documents."""


def query(statement: list[int], hidden: list[int], numbers: list[int]) -> Example:
    return query_input(statement, hidden, VOCAB)


def read(statement: list[int], hidden: list[int], numbers: list[int]) -> list[Example]:
    return [reader_input(statement, BODIES[number], vocab=VOCAB, rng=Random(0), hidden=hidden) for number in numbers]


def batch_of(given: Given) -> RetrievedBatch:
    found = Retrieved.of([numbers for _, _, numbers in given])
    return RetrievedBatch.of([query(*one) for one in given], found,
                             [DOCUMENTS[number] for number in found.documents.tolist()],
                             [reading for one in given for reading in read(*one)], pad=0)


GIVEN = [([40, 41, 42, 43], [1, 3], [NULL, 7, 0]), ([44], [0], [7]), ([45, 46, 47], [0, 1, 2], [3, NULL, 0, 7]),
         ([48, 49], [], [3, 11])]
BATCH = batch_of(GIVEN)
ROWS = torch.searchsorted(BATCH.retrieved.documents, BATCH.retrieved.numbers)
"""Which row of the documents is whose."""


def row_of(batch: Batch, row: int) -> tuple[list[int], list[int], list[int]]:
    """What stands in a row, and not its padding, which nobody looks at."""
    real = batch.padding_mask[row]
    size = int(real.sum())
    assert not real[size:].any() and (batch.tokens[row, size:] == 0).all()
    return (batch.tokens[row, :size].tolist(), batch.segments[row, :size].tolist(), batch.targets[row, :size].tolist())


def alone(one: object) -> tuple[list[int], list[int], list[int]]:
    return one.tokens.tolist(), one.segments.tolist(), one.targets.tolist()


def test_each_row_is_what_it_is_alone() -> None:
    for row, one in enumerate(GIVEN):
        assert row_of(BATCH.queries, row) == alone(query(*one))
        rows = ROWS[row, BATCH.retrieved.doc_mask[row]].tolist()
        assert [row_of(BATCH.documents, place) for place in rows] == [alone(DOCUMENTS[n]) for n in one[2]]
    readings = [reading for one in GIVEN for reading in read(*one)]
    assert [row_of(BATCH.reader_inputs, row) for row in range(BATCH.reader_inputs.size[0])] == [*map(alone, readings)]
    assert BATCH.targets is BATCH.reader_inputs.targets


def test_each_document_is_read_once() -> None:
    named = {number for _, _, numbers in GIVEN for number in numbers}
    assert BATCH.documents.size[0] == len(named) == 5
    assert sum(len(numbers) for _, _, numbers in GIVEN) == 10


def test_there_and_asked_by_loops() -> None:
    for row, (_, hidden, numbers) in enumerate(GIVEN):
        assert BATCH.retrieved.doc_mask[row].tolist() == [place < len(numbers) for place in range(4)]
        assert BATCH.retrieved.numbers[row].tolist() == numbers + [-1] * (4 - len(numbers))
        assert BATCH.target_mask[row].tolist() == [place < len(hidden) for place in range(3)]


@pytest.mark.parametrize("seed", range(20))
def test_any_numbers_of_documents_and_of_hidden_tokens(seed: int) -> None:
    rng = Random(seed)
    given: Given = []
    for _ in range(rng.randrange(1, 6)):
        size = rng.randrange(1, 7)
        numbers = rng.sample([*BODIES], rng.randrange(1, len(BODIES) + 1))
        given.append(([rng.randrange(40, 60) for _ in range(size)],
                      sorted(rng.sample(range(size), rng.randrange(1, size + 1))), numbers))
    batch = batch_of(given)
    assert batch.retrieved.doc_mask.sum(1).tolist() == [len(numbers) for _, _, numbers in given]
    assert batch.target_mask.sum(1).tolist() == [len(hidden) for _, hidden, _ in given]
    each = iter(range(batch.reader_inputs.size[0]))
    for statement, hidden, numbers in given:
        for _ in numbers:
            told = batch.targets[next(each)]
            assert told[told != IGNORE].tolist() == [statement[place] for place in hidden]


def test_moving_keeps_everything() -> None:
    moved = BATCH.to("meta")
    for name in ("queries", "documents", "reader_inputs"):
        assert getattr(moved, name).tokens.device.type == "meta"
        assert getattr(moved, name).size == getattr(BATCH, name).size
    for tensor in (moved.retrieved.numbers, moved.retrieved.scores, moved.targets):
        assert tensor.device.type == "meta"
    same = BATCH.to("cpu")
    assert torch.equal(same.retrieved.numbers, BATCH.retrieved.numbers) and torch.equal(same.target_mask,
                                                                                        BATCH.target_mask)


@pytest.mark.parametrize(("numbers", "readings"), [((), 0), ((0,), 2), ((0, 3), 1)])
def test_documents_and_readings_that_do_not_fit(numbers: tuple[int, ...], readings: int) -> None:
    one, documents = GIVEN[0], [DOCUMENTS[number] for number in numbers]
    with pytest.raises(ValueError, match=f"got {len(numbers)} documents and {readings} reader inputs"):
        RetrievedBatch.of([query(*one)], Retrieved.of([numbers]), documents, read(*one)[:readings], pad=0)


def test_scores_are_the_inner_products_of_the_vectors() -> None:
    generator = torch.Generator().manual_seed(0)
    queries, documents = torch.randn(4, 3, generator=generator), torch.randn(5, 3, generator=generator)
    scored = BATCH.scored(queries, documents)
    order = sorted({number for _, _, numbers in GIVEN for number in numbers})
    for row, (_, _, numbers) in enumerate(GIVEN):
        expected = [float(queries[row] @ documents[order.index(number)]) for number in numbers]
        assert scored.scores[row].tolist() == pytest.approx(expected + [-torch.inf] * (4 - len(numbers)), abs=1e-6)
    assert torch.equal(scored.numbers, BATCH.retrieved.numbers)
