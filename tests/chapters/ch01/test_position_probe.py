"""A probe for positions: what it must find, and what it cannot."""

from itertools import islice

import pytest
import torch

from plmlab import world
from plmlab.chapters.ch01.position_probe import (
    cell_states,
    concatenated,
    one_hot_words,
    probe_r2,
    words_processed,
    words_remaining,
)
from plmlab.interpret.watching import watch
from plmlab.models.recurrent import LSTMLanguageModel, RecurrentConfig
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

ROWS = [("the", "keys", "are", "lost", "."), ("Rose", "sings", ".")]


def test_steps_are_counted_from_both_ends() -> None:
    assert words_processed(ROWS) == [1, 2, 3, 4, 5, 1, 2, 3]
    assert words_remaining(ROWS) == [4, 3, 2, 1, 0, 2, 1, 0]


def test_words_alone_are_one_hot() -> None:
    found = one_hot_words(ROWS)
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


def test_a_feature_that_is_the_position_has_r2_one_and_noise_has_none() -> None:
    train, test = ([tuple(words) for words in islice(world.small().text("test", seed), 60)] for seed in (1, 2))

    def position(rows: list) -> torch.Tensor:
        return torch.tensor(words_processed(rows), dtype=torch.float)[:, None]

    def noise(rows: list) -> torch.Tensor:
        return torch.randn(len(words_processed(rows)), 3, generator=torch.Generator().manual_seed(len(rows)))
    assert probe_r2(position, words_processed, train, test, train) == pytest.approx([1, 1], abs=1e-4)
    assert probe_r2(noise, words_processed, train, test)[0] < 0.05


def test_sentences_are_read_as_one() -> None:
    assert concatenated([("a",), ("b", "c"), ("d",), ("e",), ("f",)], 2) == [("a", "b", "c"), ("d", "e")]
    assert words_processed(concatenated([("a",), ("b", "c")], 2)) == [1, 2, 3]
