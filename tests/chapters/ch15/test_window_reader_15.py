"""Window readers of chapter 15 on documents made by hand, whose tokens count from 10."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
import torch
from fake_gpu import fake_gpu
from torch import nn

from plmlab.chapters.ch15.window_reader import (
    LONGEST,
    labelled_window,
    read,
    sliding_windows,
    vote,
    window_batches,
    with_more_positions,
)
from plmlab.example import Batch
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.registry import ModelSpec
from plmlab.models.task_heads import SpanClassifier, TaskHeadConfig
from plmlab.text import Text
from plmlab.world.datasets.long_documents import LongDocument

pytestmark = pytest.mark.usefixtures("one_thread")
CLS, SEP = 2, 3
SIZE = BERTConfig(200, time=16, layers=2, model=16, heads=2, inner=32, dropout=0.2)


def document(length: int, answer: tuple[int, int] = (0, 1), query: Sequence[int] = (5, 6, 7)) -> LongDocument:
    return LongDocument(None, tuple(query), Text(range(10, 10 + length)), (), (), (), answer)


def reader() -> SpanClassifier:
    model = SpanClassifier(TaskHeadConfig(ModelSpec(BERT, SIZE))).eval()
    generator = torch.Generator().manual_seed(0)
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.4, generator=generator)
    return model


def test_windows_by_hand() -> None:
    """16 positions less 6 for [CLS], question and two [SEP] leave 10."""
    assert sliding_windows(document(20), 16) == [(0, 10), (5, 15), (10, 20)]
    assert sliding_windows(document(22), 16) == [(0, 10), (5, 15), (10, 20), (12, 22)]
    assert sliding_windows(document(11), 16) == [(0, 10), (1, 11)]
    assert sliding_windows(document(10), 16) == [(0, 10)] and sliding_windows(document(7), 16) == [(0, 7)]


def test_windows_cover_the_text_fill_the_positions_and_overlap_by_half() -> None:
    for length in range(2, 60):
        for time in (8, 13, 16, 31):
            spans = sliding_windows(document(length), time)
            assert {place for span in spans for place in range(*span)} == {*range(length)}
            assert {end - start for start, end in spans} == {min(length, time - 6)}
            steps = [later[0] - earlier[0] for earlier, later in pairwise(spans)]
            assert all(0 < step <= (time - 6) // 2 for step in steps)


def test_the_answer_or_the_null_answer() -> None:
    one = document(20, (4, 7))
    for start in range(20):
        for end in range(start + 1, 21):
            example = labelled_window(one, (start, end))
            assert example.tokens.tolist() == [CLS, 5, 6, 7, SEP, *range(10 + start, 10 + end), SEP]
            assert example.segments.tolist() == [0] * 5 + [1] * (end - start + 1)
            first, last = (int(example.labels[name]) for name in ("start", "end"))
            if {4, 5, 6} <= {*range(start, end)}:
                assert example.tokens[first:last + 1].tolist() == [14, 15, 16]
            else:
                assert (first, last) == (0, 0)


def test_two_windows_of_each_document_once_per_epoch() -> None:
    """The first has the answer, at any place; the second is any sliding window."""
    documents = [document(20 + number, (3 * number, 3 * number + 2), (100 + number, 6, 7)) for number in range(6)]
    batches, again = (window_batches(documents, 16, 2, 5) for _ in range(2))
    orders, firsts, seconds = [], set(), set()
    for step in range(240):
        batch = batches(step)
        numbers = (batch.tokens[:, 1] - 100).tolist()
        assert numbers[::2] == numbers[1::2] and torch.equal(again(step).tokens, batch.tokens)
        orders += numbers[::2]
        for number, row, start, end in zip(numbers, batch.tokens.tolist(), batch.labels["start"].tolist(),
                                           batch.labels["end"].tolist(), strict=True):
            if start:
                assert row[start:end + 1] == [10 + 3 * number, 11 + 3 * number]
            span = row[5] - 10, row[5]
            assert row[5:] == [*range(span[0] + 10, span[1] + 10), SEP]
            assert (start > 0) == (span[0] <= 3 * number and 3 * number + 2 <= span[1])
        assert (batch.labels["start"][::2] > 0).all()
        firsts |= {row[5] - 10 for row, number in zip(batch.tokens.tolist()[::2], numbers[::2], strict=True)
                   if number == 5}
        seconds |= {(number, row[5] - 10) for row, number in zip(batch.tokens.tolist()[1::2], numbers[1::2],
                                                                 strict=True)}
    assert all(sorted(orders[at:at + 6]) == [*range(6)] for at in range(0, len(orders), 6))
    assert len({tuple(orders[at:at + 6]) for at in range(0, len(orders), 6)}) > 3
    assert firsts == {*range(7, 16)}  # the answer 15 … 16 is in ten tokens that begin at 7 … 15
    assert seconds == {(number, span[0]) for number, one in enumerate(documents) for span in sliding_windows(one, 16)}


def by_hand(model: SpanClassifier, one: LongDocument, span: tuple[int, int]) -> tuple[tuple[int, ...], float]:
    """Of one window without padding: the best span of its text, and its probability among all positions."""
    with torch.no_grad():
        logits = model(Batch.of([labelled_window(one, span)], pad=0))[0]
    starts, ends = (column.softmax(0).tolist() for column in logits.T)
    places = range(5, 5 + span[1] - span[0])
    first, last = max(((i, j) for i in places for j in places if i <= j < i + LONGEST),
                      key=lambda pair: starts[pair[0]] * ends[pair[1]])
    return tuple(one.tokens[span[0] + first - 5:span[0] + last - 4]), starts[first] * ends[last]


def test_answers_are_read_from_each_window_as_from_one_alone() -> None:
    """In batches of windows of different lengths."""
    model, one = with_more_positions(reader(), 40), document(60, query=(105, 106, 107))
    spans = [(start, min(60, start + 3 + 5 * (start % 7))) for start in range(50)]
    found = read(model, one, spans)
    assert len(found) == 50
    for span, (words, probability) in zip(spans, found, strict=True):
        expected, value = by_hand(model, one, span)
        assert words == expected and probability == pytest.approx(value, rel=1e-3)
    assert {len(words) for words, _ in found} >= {1, 2} and len({words for words, _ in found}) > 10
    with fake_gpu():
        there = read(with_more_positions(reader(), 40).to("cuda"), one, spans)
        assert [words for words, _ in there] == [words for words, _ in found]


def test_a_vote_by_hand() -> None:
    """The sums are 0.55 for one, 0.5 for two; two has the most probable vote, three the most votes."""
    one, two, three = (11,), (12, 13), (14,)
    votes = [(three, 0.1), (one, 0.3), (two, 0.5), (three, 0.1), (three, 0.05), (one, 0.25)]
    assert vote(votes) == one and vote(votes[:3]) == two and vote([(three, 0.0)]) == three


def test_more_positions() -> None:
    """Short inputs have the same output; after 16 positions the embeddings are repeated."""
    model = reader()
    longer = with_more_positions(model, 40)
    short = Batch.of([labelled_window(document(8), (0, 8)), labelled_window(document(8, (6, 8)), (3, 7))], pad=0)
    torch.testing.assert_close(longer(short), model(short), rtol=0, atol=1e-5)
    rows = longer.encoder.embeddings.position.weight
    assert [int((model.encoder.embeddings.position.weight == row).all(1).nonzero()) for row in rows] == [
        place % 16 for place in range(40)]
    assert longer(Batch.of([labelled_window(document(34), (0, 34))], pad=0)).shape == (1, 40, 2)
    assert (model.encoder.config.time, longer.encoder.config.time, longer.training) == (16, 40, False)
    assert with_more_positions(model.train().double(), 40).output.weight.dtype == torch.float64
    longer.output.weight.data.zero_()
    assert model.output.weight.any()
