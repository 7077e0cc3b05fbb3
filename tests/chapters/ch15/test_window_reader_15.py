"""Window readers of chapter 15 on blocks made by hand, whose tokens count from 10."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from random import Random

import pytest
import torch
from fake_gpu import fake_gpu
from torch import nn

from plmlab.example import Batch
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.cogltx import ANSWER_TOKENS, window_example
from plmlab.models.cogltx_training import LongText
from plmlab.models.memory_recall import BlockSpan, MemoryBlock, Window
from plmlab.models.registry import ModelSpec
from plmlab.models.task_heads import SpanClassifier, TaskHeadConfig
from studies.ch15.whole_texts import with_more_positions
from studies.ch15.window_reader import (
    labelled_window,
    read,
    sliding_windows,
    vote,
    window_batches,
)

pytestmark = pytest.mark.usefixtures("one_thread")
CLS, SEP = 2, 3
SIZE = BERTConfig(200, time=16, layers=2, model=16, heads=2, inner=32, dropout=0.2)


QUERY = CLS, 5, 6, 7, SEP


def blocks(*lengths: int) -> tuple[MemoryBlock, ...]:
    """Blocks of these lengths, with [SEP]."""
    ends = [0, *accumulate(length - 1 for length in lengths)]
    return tuple(MemoryBlock(number, (*range(10 + begin, 10 + end), SEP))
                 for number, (begin, end) in enumerate(pairwise(ends)))


def positions(windows: Sequence[Window]) -> list[list[int]]:
    return [[block.position for block in window.blocks] for window in windows]


def reader() -> SpanClassifier:
    model = SpanClassifier(TaskHeadConfig(ModelSpec(BERT, SIZE))).eval()
    generator = torch.Generator().manual_seed(0)
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.4, generator=generator)
    return model


def test_windows_by_hand() -> None:
    """16 positions less 5 of the query leave 11."""
    assert positions(sliding_windows(QUERY, blocks(3, 3, 3, 3, 3), 16)) == [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    assert positions(sliding_windows(QUERY, blocks(2, 2, 2, 2, 2, 9, 2), 16)) == [[0, 1, 2, 3, 4], [2, 3, 4], [3, 4],
                                                                              [4, 5], [5, 6]]
    assert positions(sliding_windows(QUERY, blocks(11, 11), 16)) == [[0], [1]]
    assert positions(sliding_windows(QUERY, blocks(5, 6), 16)) == [[0, 1]]


def test_windows_are_consecutive_full_and_cover_the_text() -> None:
    rng = Random(0)
    for _ in range(200):
        text = blocks(*(2 + int(rng.random() * 9) for _ in range(1 + int(rng.random() * 20))))
        windows = sliding_windows(QUERY, text, 16)
        assert {block for window in windows for block in window.blocks} == {*text}
        for window, after in pairwise([*windows, None]):
            first, last = window.blocks[0].position, window.blocks[-1].position
            assert window.blocks == text[first:last + 1] and window.query == QUERY and len(window) <= 16
            assert last == len(text) - 1 or len(window) + len(text[last + 1]) > 16
            if after is not None:
                assert after.blocks[0].position == first + max(1, len(window.blocks) // 2) <= last + 1
        assert windows[-1].blocks[-1] == text[-1] != (windows[-2].blocks[-1] if len(windows) > 1 else None)


def test_the_answer_or_the_null_answer() -> None:
    text = blocks(3, 4, 3, 4)
    for window in sliding_windows(QUERY, text, 13):
        example = labelled_window(window, BlockSpan(1, 1, 3))
        assert example.tokens.tolist() == [*window.ids]
        first, last = (int(example.labels[name]) for name in ("start", "end"))
        if text[1] in window.blocks:
            assert tuple(example.tokens[first:last + 1].tolist()) == text[1].ids[1:3]
        else:
            assert (first, last) == (0, 0)


def test_two_windows_of_each_text_once_per_epoch() -> None:
    """The first has the answer, at any place; the second begins anywhere."""
    texts = [LongText((CLS, 100 + number, 6, 7, SEP), blocks(3, 4, 3, 4, 5, 3), BlockSpan(number, 0, 2), [0] * 6)
             for number in range(6)]
    batches, again = (window_batches(texts, 16, 2, 5) for _ in range(2))
    orders, firsts, seconds = [], set(), set()
    for step in range(240):
        batch = batches(step)
        numbers = (batch.tokens[:, 1] - 100).tolist()
        assert numbers[::2] == numbers[1::2] and torch.equal(again(step).tokens, batch.tokens)
        orders += numbers[::2]
        for number, row, start, end in zip(numbers, batch.tokens.tolist(), batch.labels["start"].tolist(),
                                           batch.labels["end"].tolist(), strict=True):
            wanted = texts[number].blocks[number].ids[:2]
            assert (start > 0) == any(tuple(row[at:at + 2]) == wanted for at in range(5, len(row)))
            assert not start or tuple(row[start:end + 1]) == wanted
        assert (batch.labels["start"][::2] > 0).all()
        firsts |= {row[5] for row, number in zip(batch.tokens.tolist()[::2], numbers[::2], strict=True) if number == 3}
        seconds |= {row[5] for row in batch.tokens.tolist()[1::2]}
    assert all(sorted(orders[at:at + 6]) == [*range(6)] for at in range(0, len(orders), 6))
    assert len({tuple(orders[at:at + 6]) for at in range(0, len(orders), 6)}) > 3
    begins = [block.ids[0] for block in texts[0].blocks]
    assert firsts == {*begins[1:4]} and seconds == {*begins}  # 4 + 3 + 4 tokens fit, 3 + 4 + 3 + 4 do not


def by_hand(model: SpanClassifier, window: Window) -> tuple[tuple[int, ...], float]:
    """Of one window without padding: the best span of its text, and its probability among all positions."""
    with torch.no_grad():
        logits = model(Batch.of([window_example(window)], pad=0))[0]
    starts, ends = (column.softmax(0).tolist() for column in logits.T)
    places = range(5, len(window))
    first, last = max(((i, j) for i in places for j in places if i <= j < i + ANSWER_TOKENS),
                      key=lambda pair: starts[pair[0]] * ends[pair[1]])
    return window.ids[first:last + 1], starts[first] * ends[last]


def test_answers_are_read_from_each_window_as_from_one_alone() -> None:
    """In batches of windows of different lengths."""
    model, text = with_more_positions(reader(), 40), blocks(*[3, 4, 5] * 20)
    windows = [Window(QUERY, text[start:start + 1 + start % 7]) for start in range(50)]
    found = read(model, windows)
    assert len(found) == 50
    for window, (words, probability) in zip(windows, found, strict=True):
        expected, value = by_hand(model, window)
        assert words == expected and probability == pytest.approx(value, rel=1e-3)
    assert {len(words) for words, _ in found} >= {1, 2} and len({words for words, _ in found}) > 10
    with fake_gpu():
        there = read(with_more_positions(reader(), 40).to("cuda"), windows)
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
    short = Batch.of([window_example(Window(QUERY, blocks(*lengths))) for lengths in ((3, 4, 4), (5, 2))], pad=0)
    torch.testing.assert_close(longer(short), model(short), rtol=0, atol=1e-5)
    rows = longer.encoder.embeddings.position.weight
    assert [int((model.encoder.embeddings.position.weight == row).all(1).nonzero()) for row in rows] == [
        place % 16 for place in range(40)]
    assert longer(Batch.of([window_example(Window(QUERY, blocks(5, 30)))], pad=0)).shape == (1, 40, 2)
    assert (model.encoder.config.time, longer.encoder.config.time, longer.training) == (16, 40, False)
    assert with_more_positions(model.train().double(), 40).output.weight.dtype == torch.float64
    longer.output.weight.data.zero_()
    assert model.output.weight.any()
