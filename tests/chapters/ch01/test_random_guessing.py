"""Guessed weights against a network of our own that has them."""

import pytest
import torch

from plmlab.chapters.ch01 import random_guessing
from plmlab.chapters.ch01.last_state_model import LastStateModel
from plmlab.chapters.ch01.random_guessing import CHOICE_SIZE, TEST_SIZE, guess
from plmlab.chapters.ch01.tasks import NOISE, TASKS


def test_a_guess_is_a_plain_rnn_with_these_weights() -> None:
    found = guess(5, 12, torch.Generator().manual_seed(3))
    generator = torch.Generator().manual_seed(3)
    drawn = [(2 * torch.rand(5, wide, generator=generator) - 1) * 10 for wide in (2 + NOISE, 1, 1)]
    x, first = TASKS["first symbol"].draw(CHOICE_SIZE + TEST_SIZE, 12, generator)
    for i, share in enumerate(found.tolist()):
        network = LastStateModel("RNN", 2 + NOISE, 1, 2, steps=12)
        cell = network.recurrent.cells[0]
        with torch.no_grad():
            for weights, value in zip((cell.weight_ih, cell.weight_hh, cell.bias_ih), drawn, strict=True):
                weights.copy_(value[i].view_as(weights))
            cell.bias_hh.zero_()
            high = network.recurrent(x)[0][:, -1, 0] > 0
        wrong = [(high != (first == 1)).float(), (high == (first == 1)).float()]
        chosen = min(wrong, key=lambda one: float(one[:CHOICE_SIZE].mean()))
        assert share == pytest.approx(float(chosen[CHOICE_SIZE:].mean()), abs=2.5 / TEST_SIZE)  # a state may lie at 0


def test_small_weights_tell_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_guessing, "SIZE", 0.5)
    assert float(guess(50, 100, torch.Generator().manual_seed(0)).min()) > 0.3
