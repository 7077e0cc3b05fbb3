"""The evaluation of the live ELECTRA, counted by hand."""

from math import log

import pytest
import torch
from torch.nn import functional as F

from plmlab.chapters.ch09.albert_electra_checks import VOCAB, small_electra, texts
from plmlab.chapters.ch09.detection import Detection, detect
from plmlab.example import IGNORE


def test_scores_counted_by_hand() -> None:
    """Five real tokens, three of them selected, of which two are replaced; one is detected, with one false alarm."""
    selected, replaced = torch.tensor([[0, 1, 1, 1, 0, 0]]).bool(), torch.tensor([[0, 1, 1, 0, 0, 0]]).bool()
    found = Detection(torch.tensor([[1, 9, 8, 4, 5, 0]]), selected, replaced, torch.tensor([[1, 1, 1, 1, 1, 0]]).bool(),
                      torch.tensor([[0.6, 0.9, 0.3, 0.2, 0.1, 0.99]]), 0.0, 0.0)
    assert found.replaced_share == pytest.approx(2 / 5) and found.lucky_share == pytest.approx(1 / 3)
    accuracy, f1, area = found.scores()
    assert accuracy == pytest.approx(3 / 5) and f1 == pytest.approx(1 / 2)
    assert area == pytest.approx(5 / 6)  # of the six pairs, only (0.3, 0.6) is in the wrong order
    assert found.constant_loss() == pytest.approx(-0.4 * log(0.4) - 0.6 * log(0.6), abs=1e-6)


def test_samples_are_replaced_where_the_generator_has_targets() -> None:
    """Elsewhere the discriminator's input is the text; torch's random state is left as it was."""
    model, batch, state = small_electra(), texts(), torch.get_rng_state()
    found, again, other = detect(model, batch), detect(model, batch), detect(model, batch, seed=1)
    assert torch.equal(torch.get_rng_state(), state) and torch.equal(found.corrupted, again.corrupted)
    assert not torch.equal(found.corrupted, other.corrupted)
    targets = batch.targets != IGNORE
    original = torch.where(targets, batch.targets, batch.tokens)
    assert torch.equal(found.selected, targets) and torch.equal(found.replaced, found.corrupted != original)
    assert torch.equal(found.corrupted[~targets], batch.tokens[~targets])
    assert torch.equal(found.real, batch.padding_mask)
    assert not (found.corrupted[found.real] == VOCAB.need("mask")).any() and 0 < found.lucky_share < 1
    assert found.generator_loss == pytest.approx(model.generator.loss(batch).item(), abs=1e-5)
    expected = F.binary_cross_entropy(found.probability[found.real], found.replaced[found.real].float()).item()
    assert found.loss == pytest.approx(expected, abs=1e-3)
