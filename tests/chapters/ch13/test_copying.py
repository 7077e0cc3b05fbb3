"""Heads that copy: attention weights made by hand, counted by hand."""

import pytest
import torch

from plmlab.chapters.ch13 import copying
from plmlab.chapters.ch13.copying import copy_rates
from plmlab.models.bart import BART, BARTConfig
from plmlab.text import Tokenizer

WORDS = Tokenizer.words(["the bank was closed ."], 60)
SENTENCES = [("the", "bank", "was", "closed", "."), ("the", "bank", "closed")]
"""Four and two copied tokens at positions 1, 2, 4, 5 and 1, 3; sources of seven and five positions."""


def test_rates_are_counted_over_copied_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first head is always right, the second is one position late, and the third right at position 1 only."""
    model = BART(BARTConfig(len(WORDS), layers=2, model=12, heads=3, inner=24, time=20)).eval()
    seen: dict[str, torch.Tensor] = {}

    class Seen:
        def __init__(self, _: object) -> None: ...

        def __enter__(self) -> dict[str, torch.Tensor]:
            return seen

        def __exit__(self, *_: object) -> None: ...

    def forward(batch: object) -> None:
        time = batch.source.size[1]  # type: ignore[attr-defined]
        right = torch.eye(time)[:time - 1]
        weights = torch.stack([right, right.roll(-1, 0), torch.eye(time)[[1] * (time - 1)]])[None]
        seen.update({f"decoder.layers.{layer}.cross_attention.weights": weights for layer in range(2)})

    monkeypatch.setattr(copying, "watch", Seen)
    monkeypatch.setattr(model, "forward", forward)
    rates, chance = copy_rates(model, WORDS, SENTENCES)
    torch.testing.assert_close(rates, torch.tensor([[1, 0, 2 / 6]] * 2))
    assert chance == pytest.approx((4 / 7 + 2 / 5) / 6)


def test_weights_are_those_of_the_model() -> None:
    torch.manual_seed(0)
    model = BART(BARTConfig(len(WORDS), layers=1, model=12, heads=3, inner=24, time=20)).eval()
    rates, _ = copy_rates(model, WORDS, SENTENCES)
    assert rates.shape == (1, 3) and bool(((rates >= 0) & (rates <= 1)).all())
