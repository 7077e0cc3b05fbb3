"""Heads that copy: attention weights made by hand, counted by hand."""

import pytest
import torch

from plmlab.chapters.ch13 import copying
from plmlab.chapters.ch13.copying import copy_rates
from plmlab.models.bart import BART, BARTConfig
from plmlab.text import Tokenizer

WORDS = Tokenizer.words(["the bank was closed ."], 60)
SENTENCES = [("the", "bank", "was", "closed", "."), ("the", "bank", "closed", ".")]
"""Only the last "." of the first counts, at position 4 of 6 in the source; of the second, no token."""


def test_rates_are_counted_after_the_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    """At decoder position 5, the first head is right, the second looks at the same position in the source, and the
    third at the first position."""
    model = BART(BARTConfig(len(WORDS), layers=2, model=12, heads=3, inner=24, time=20)).eval()
    seen: dict[str, torch.Tensor] = {}

    class Seen:
        def __init__(self, _: object) -> None: ...

        def __enter__(self) -> dict[str, torch.Tensor]:
            return seen

        def __exit__(self, *_: object) -> None: ...

    def forward(batch: object) -> None:
        size, time = batch.source.size[1], batch.target.size[1]  # type: ignore[attr-defined]
        heads = [torch.eye(size)[[max(0, min(i - late, size - 1)) for i in range(time)]] for late in (1, 0, time)]
        seen.update({f"decoder.layers.{layer}.cross_attention.weights": torch.stack(heads)[None]
                     for layer in range(2)})

    monkeypatch.setattr(copying, "watch", Seen)
    monkeypatch.setattr(model, "forward", forward)
    rates, chance = copy_rates(model, WORDS, SENTENCES)
    torch.testing.assert_close(rates, torch.tensor([[1.0, 0, 0]] * 2))
    assert chance == pytest.approx(1 / 6)


def test_weights_are_those_of_the_model() -> None:
    torch.manual_seed(0)
    model = BART(BARTConfig(len(WORDS), layers=1, model=12, heads=3, inner=24, time=20)).eval()
    rates, _ = copy_rates(model, WORDS, SENTENCES)
    assert rates.shape == (1, 3) and bool(((rates >= 0) & (rates <= 1)).all())
