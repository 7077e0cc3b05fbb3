"""The evaluation of the live ELECTRA, counted by hand, and the order probe."""

from math import log

import pytest
import torch

from plmlab.chapters.ch09.detection import Detection, detect, generator_floor, heldout_batch
from plmlab.chapters.ch09.order_probe import ordered_features, probe_accuracy, topic_features
from plmlab.example import IGNORE
from plmlab.models.electra import ELECTRAPretraining, ELECTRAPretrainingConfig
from plmlab.world.datasets.tokenizer import small_world_tokenizer


def test_scores_counted_by_hand() -> None:
    """Five real tokens; three are selected, of which two are replaced; one of the two is found, with one false alarm."""
    found = Detection(
        torch.tensor([[1, 2, 3, 4, 5, 0]]), torch.tensor([[1, 9, 8, 4, 5, 0]]),
        torch.tensor([[False, True, True, True, False, False]]), torch.tensor([[False, True, True, False, False, False]]),
        torch.tensor([[True] * 5 + [False]]), torch.tensor([[0.6, 0.9, 0.3, 0.2, 0.1, 0.99]]), 0.0, 0.0)
    assert found.replaced_share == pytest.approx(2 / 5) and found.lucky_share == pytest.approx(1 / 3)
    accuracy, f1, area = found.scores()
    assert accuracy == pytest.approx(3 / 5) and f1 == pytest.approx(1 / 2)
    assert area == pytest.approx(5 / 6)  # of the six pairs, only (0.3, 0.6) is in the wrong order
    assert found.constant_loss() == pytest.approx(-0.4 * log(0.4) - 0.6 * log(0.6), abs=1e-6)


def test_both_networks_on_sentences_of_the_small_world() -> None:
    """What is selected is masked for the generator; nothing else changes for the discriminator."""
    batch, tokenizer = heldout_batch(12), small_world_tokenizer()
    targets = batch.targets != IGNORE
    assert (batch.tokens[targets] == tokenizer.vocab.need("mask")).all()
    torch.manual_seed(0)
    model = ELECTRAPretraining(ELECTRAPretrainingConfig(len(tokenizer), time=32, layers=1, model=8, heads=1, inner=16,
                                                        dropout=0.0, attention_dropout=0.0))
    state = torch.get_rng_state()
    found, again = detect(model, batch), detect(model, batch)
    assert torch.equal(torch.get_rng_state(), state) and torch.equal(found.corrupted, again.corrupted)
    assert torch.equal(found.selected, targets) and torch.equal(found.original[targets], batch.targets[targets])
    assert torch.equal(found.replaced, found.corrupted != found.original)
    assert not found.replaced[~targets].any() and torch.equal(found.real, batch.padding_mask)
    assert found.generator_loss == pytest.approx(log(len(tokenizer)), rel=0.1) and 0 < found.loss < 2
    assert 0 < generator_floor(20) < 1


def test_topic_features_do_not_know_the_order() -> None:
    one, other = ("she", "sings", "."), ("Ann", "sings", ".")
    assert topic_features(one, other) == topic_features(other, one)
    assert ordered_features(one, other) != ordered_features(other, one)
    assert topic_features(one, other)["shared words"] == 2


@pytest.mark.parametrize(("features", "expected"), [(topic_features, 0.5), (ordered_features, 1.0)])
def test_only_the_ordered_probe_learns_an_order(features, expected: float) -> None:
    """A pronoun is always in the second sentence of the original order."""
    pairs = [pair for name in ("Ann", "Bob", "Eve", "Tom") for pair in (
        ((name, "sings"), ("she", "works"), True), (("she", "works"), (name, "sings"), False))]
    assert probe_accuracy(pairs, pairs, features) == expected
