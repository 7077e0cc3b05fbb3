"""Examples, and how they stand side by side in a batch."""

from dataclasses import replace

import jaxtyping
import pytest
import torch

from plmlab.example import IGNORE, Batch, Example, PairBatch, PairExample
from plmlab.visibility import AttentionMask, Visibility


def example(time: int, first: int = 10, axes: int = 1, **labels: torch.Tensor) -> Example:
    tokens = torch.arange(first, first + time)
    return Example(tokens, torch.arange(1, time + 1).repeat(axes, 1) * torch.arange(1, axes + 1)[:, None],
                   torch.ones(time, dtype=torch.long), Visibility.full(time), tokens + 1, labels)


def test_collation_pads_on_the_right() -> None:
    batch = Batch.of([example(2), example(4, 20)], pad=3)
    assert batch.tokens.tolist() == [[10, 11, 3, 3], [20, 21, 22, 23]]
    assert batch.position_ids.tolist() == [[[1, 2, 0, 0]], [[1, 2, 3, 4]]]
    assert batch.segments.tolist() == [[1, 1, 0, 0], [1, 1, 1, 1]]
    assert batch.targets.tolist() == [[11, 12, IGNORE, IGNORE], [21, 22, 23, 24]]
    assert batch.visible.keys.tolist() == [[True, True, False, False], [True] * 4]
    assert batch.size == (2, 4)


def test_two_axes_of_positions() -> None:
    batch = Batch.of([example(2, axes=2), example(3, axes=2)], pad=0)
    assert batch.position_ids.tolist() == [[[1, 2, 0], [2, 4, 0]], [[1, 2, 3], [2, 4, 6]]]


def test_labels_ride_along() -> None:
    rows = [example(2, order=torch.tensor(1), tags=torch.tensor([4, 5])),
            example(3, order=torch.tensor(0), tags=torch.tensor([6, 7, 8]))]
    batch = Batch.of(rows, pad=0)
    assert batch.labels["order"].tolist() == [1, 0]
    assert batch.labels["tags"].tolist() == [[4, 5, IGNORE], [6, 7, 8]]


def test_the_second_stream_has_its_own_mask() -> None:
    rows = [replace(example(n), query_stream_mask=Visibility.causal(n)) for n in (2, 3)]
    assert Batch.of(rows, pad=0).query_stream_mask == AttentionMask(causal=True)
    assert Batch.of([example(2)], pad=0).query_stream_mask is None


def test_windows_of_a_stream() -> None:
    batch = Batch.causal(torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]]))
    assert batch.tokens.tolist() == [[1, 2, 3], [5, 6, 7]] and batch.targets.tolist() == [[2, 3, 4], [6, 7, 8]]
    assert batch.position_ids.tolist() == [[[0, 1, 2]]] and batch.visible == AttentionMask(causal=True)


def test_pairs() -> None:
    pairs = [PairExample(example(n), example(m, 40), Visibility.full(m, n)) for n, m in ((2, 3), (4, 1))]
    batch = PairBatch.of(pairs, pad=0)
    assert batch.source.tokens.shape == (2, 4) and batch.size == (2, 3)
    assert torch.equal(batch.targets, batch.target.targets)
    assert batch.cross.keys.tolist() == [[True, True, False, False], [True] * 4]


def test_moving_keeps_everything() -> None:
    row = replace(example(2, order=torch.tensor(1)), query_stream_mask=Visibility.full(2))
    pair = PairBatch.of([PairExample(row, example(3), Visibility.full(3, 2))] * 2, pad=0)
    moved = pair.to("meta")
    assert moved.source.tokens.is_meta and moved.target.targets.is_meta and moved.source.labels["order"].is_meta
    assert moved.source.query_stream_mask is not None and moved.size == (2, 3)


@pytest.mark.parametrize(("name", "value"), [
    ("targets", torch.zeros(3, dtype=torch.long)), ("segments", torch.zeros(1, dtype=torch.long)),
    ("position_ids", torch.zeros(1, 5, dtype=torch.long)), ("visible", Visibility.full(3)),
])
def test_parts_that_disagree_are_named(name: str, value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)      # as readers have it
    with pytest.raises(ValueError, match=f"an Example of 2 tokens has . {name}.*must be equal"):
        replace(example(2), **{name: value})


def test_an_empty_batch() -> None:
    with pytest.raises(ValueError, match="at least one example"):
        Batch.of([], pad=0)
