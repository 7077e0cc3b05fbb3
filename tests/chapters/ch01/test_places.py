"""A probe for positions: what it must find, and what it cannot."""

import pytest
import torch

from plmlab.chapters.ch01.places import (
    cell_states,
    concatenated,
    probe_r2,
    read_so_far,
    sentences,
    still_to_come,
    words_alone,
)
from plmlab.interpret.watching import watch
from plmlab.models.recurrent import LSTMLanguageModel, RecurrentConfig
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

ROWS = [("the", "keys", "are", "lost", "."), ("Rose", "sings", ".")]


def test_steps_are_counted_from_both_ends() -> None:
    assert read_so_far(ROWS) == [1, 2, 3, 4, 5, 1, 2, 3]
    assert still_to_come(ROWS) == [4, 3, 2, 1, 0, 2, 1, 0]


def test_words_alone_are_one_hot() -> None:
    found = words_alone(ROWS)
    assert found.shape == (8, len(world_tokenizer())) and found.argmax(-1).tolist() == [i for row in ROWS
                                                                                        for i in ids(row)]
    assert (found.sum(-1) == 1).all()


def test_memories_are_those_after_each_word() -> None:
    torch.manual_seed(0)
    model = LSTMLanguageModel(RecurrentConfig(len(world_tokenizer()), layers=2, model=8, dropout=0.0)).eval()
    found = cell_states(model, 1)(ROWS)
    for row, start in zip(ROWS, (0, 5), strict=True):
        tokens = torch.tensor([[world_tokenizer().vocab.need("start"), *ids(row)]])
        with torch.no_grad(), watch(model):
            _, (_, c) = model.read(tokens, None)
        assert torch.allclose(found[start + len(row) - 1], c[1, 0], atol=1e-6)


def test_what_holds_the_position_tells_all_of_it_and_noise_tells_nothing() -> None:
    learn, ask = sentences(1, 60), sentences(2, 60)

    def held(rows: list) -> torch.Tensor:
        return torch.tensor(read_so_far(rows), dtype=torch.float)[:, None]

    def noise(rows: list) -> torch.Tensor:
        return torch.randn(len(read_so_far(rows)), 3, generator=torch.Generator().manual_seed(len(rows)))
    assert probe_r2(held, read_so_far, learn, ask, learn) == pytest.approx([1, 1], abs=1e-4)
    assert probe_r2(noise, read_so_far, learn, ask)[0] < 0.05


def test_sentences_are_read_as_one() -> None:
    assert concatenated([("a",), ("b", "c"), ("d",), ("e",), ("f",)], 2) == [("a", "b", "c"), ("d", "e")]
    assert read_so_far(concatenated([("a",), ("b", "c")], 2)) == [1, 2, 3]
