"""Statements with what was retrieved for each, side by side: every row against the texts alone, by loops."""

from random import Random

import pytest
import torch

from plmlab.example import IGNORE, Batch
from plmlab.objectives.retrievals import NULL, RetrievedBatch, RetrievedExample
from plmlab.objectives.retrieved import queried, retrieved, two_texts
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(90)
BODIES = {NULL: (), 0: (60, 61, 62), 3: (63,), 7: (64, 65, 66, 67, 68), 11: (69, 70)}
DOCUMENTS = {number: two_texts([80 + number][:number >= 0], body, VOCAB) for number, body in BODIES.items()}


def example(statement: list[int], hidden: list[int], numbers: list[int]) -> RetrievedExample:
    readings = [retrieved(statement, BODIES[number], vocab=VOCAB, rng=Random(0), hidden=hidden) for number in numbers]
    return RetrievedExample(queried(statement, hidden, VOCAB), tuple(numbers), tuple(readings))


GIVEN = [([40, 41, 42, 43], [1, 3], [NULL, 7, 0]), ([44], [0], [7]), ([45, 46, 47], [0, 1, 2], [3, NULL, 0, 7]),
         ([48, 49], [], [3, 11])]
EXAMPLES = [example(*one) for one in GIVEN]
BATCH = RetrievedBatch.of(EXAMPLES, DOCUMENTS, pad=0)


def row_of(batch: Batch, row: int) -> tuple[list[int], list[int], list[int]]:
    """What stands in a row, and not its padding, which nobody looks at."""
    real = batch.looked_at[row]
    size = int(real.sum())
    assert not real[size:].any() and (batch.tokens[row, size:] == 0).all()
    return (batch.tokens[row, :size].tolist(), batch.segments[row, :size].tolist(), batch.targets[row, :size].tolist())


def alone(one: object) -> tuple[list[int], list[int], list[int]]:
    return one.tokens.tolist(), one.segments.tolist(), one.targets.tolist()


def test_each_row_is_what_it_is_alone() -> None:
    for row, one in enumerate(EXAMPLES):
        assert row_of(BATCH.queries, row) == alone(one.query)
        rows = [int(place) for place in BATCH.choice[row] if place >= 0]
        assert [row_of(BATCH.documents, place) for place in rows] == [alone(DOCUMENTS[n]) for n in one.numbers]
    readings = [reading for one in EXAMPLES for reading in one.readings]
    assert [row_of(BATCH.readings, row) for row in range(BATCH.readings.size[0])] == [*map(alone, readings)]
    assert BATCH.targets is BATCH.readings.targets


def test_each_document_is_read_once() -> None:
    named = {number for one in EXAMPLES for number in one.numbers}
    assert BATCH.documents.size[0] == len(named) == 5
    assert sum(len(one.numbers) for one in EXAMPLES) == 10


def test_there_and_asked_by_loops() -> None:
    for row, (_, hidden, numbers) in enumerate(GIVEN):
        assert BATCH.there[row].tolist() == [place < len(numbers) for place in range(4)]
        assert BATCH.choice[row, len(numbers):].tolist() == [-1] * (4 - len(numbers))
        assert BATCH.asked[row].tolist() == [place < len(hidden) for place in range(3)]


@pytest.mark.parametrize("seed", range(20))
def test_any_numbers_of_documents_and_of_hidden_tokens(seed: int) -> None:
    rng = Random(seed)
    given = []
    for _ in range(rng.randrange(1, 6)):
        size = rng.randrange(1, 7)
        numbers = rng.sample([*BODIES], rng.randrange(1, len(BODIES) + 1))
        given.append(([rng.randrange(40, 60) for _ in range(size)],
                      sorted(rng.sample(range(size), rng.randrange(1, size + 1))), numbers))
    batch = RetrievedBatch.of([example(*one) for one in given], DOCUMENTS, pad=0)
    assert batch.there.sum(1).tolist() == [len(numbers) for _, _, numbers in given]
    assert batch.asked.sum(1).tolist() == [len(hidden) for _, hidden, _ in given]
    each = iter(range(batch.readings.size[0]))
    for statement, hidden, numbers in given:
        for _ in numbers:
            told = batch.targets[next(each)]
            assert told[told != IGNORE].tolist() == [statement[place] for place in hidden]


def test_moving_keeps_everything() -> None:
    moved = BATCH.to("meta")
    for name in ("queries", "documents", "readings"):
        assert getattr(moved, name).tokens.device.type == "meta"
        assert getattr(moved, name).size == getattr(BATCH, name).size
    assert moved.choice.device.type == moved.targets.device.type == "meta"
    same = BATCH.to("cpu")
    assert torch.equal(same.choice, BATCH.choice) and torch.equal(same.asked, BATCH.asked)


@pytest.mark.parametrize(("numbers", "readings"), [((), 0), ((0,), 2), ((0, 3), 1)])
def test_documents_and_readings_that_do_not_fit(numbers: tuple[int, ...], readings: int) -> None:
    one = EXAMPLES[0]
    with pytest.raises(ValueError, match=f"{len(numbers)} documents came with {readings} readings"):
        RetrievedExample(one.query, numbers, one.readings[:readings])
