"""The arms of the transfer: what each starts with, and that its best weights by the development rows are examined."""

import pytest
import torch

from plmlab.transfer import EVERY, development
from plmlab.transfer import test_set as evaluation_set
from studies.ch08 import labels
from studies.ch08.encoders import AllLayersBiLSTM


def test_from_scratch_starts_as_large_as_the_checkpoint_with_other_weights_a_seed() -> None:
    one, same, other = (labels.start("from scratch", seed) for seed in (0, 0, 1))
    tuned = labels.start("fine-tuned", 0)
    assert one.config == tuned.config
    assert torch.equal(one.pooler.weight, same.pooler.weight)
    assert not torch.equal(one.pooler.weight, other.pooler.weight)
    assert not torch.equal(one.pooler.weight, tuned.pooler.weight)


def test_what_stands_on_frozen_layers_is_new_with_each_seed() -> None:
    one, same, other = (labels.start("frozen, all layers + BiLSTM", seed) for seed in (0, 0, 1))
    assert isinstance(one, AllLayersBiLSTM)
    weights = [encoder.top.state_dict()["recurrent.layers.1.cells.0.weight_hh"] for encoder in (one, same, other)]
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])


def test_a_run_is_measured_by_its_best_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judged by fifty rows of each kind."""
    monkeypatch.setattr(labels, "STEPS", 150)
    monkeypatch.setattr("plmlab.transfer.test_set", lambda name: evaluation_set(name)[:50])
    monkeypatch.setattr("plmlab.transfer.development", lambda name, seed: development(name, seed)[:50])
    told = labels.run_result("frozen, last layer", "NER", 64, 3e-2, 0)
    assert told["development"] == max(told["curve"]) == told["curve"][told["updates"] // EVERY - 1]
    assert told["made"] == 150 and len(told["curve"]) == 3 and 0.2 < told["score"] <= 1
