"""ALBERT's variants by the formulas of the paper; the criteria on made-up numbers; the study at toy size."""

from pathlib import Path
from typing import Any

import pytest
import torch

from plmlab.recipes import Parts, seed_summary
from studies.ch09 import sharing

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "BATCH", 4)


def test_parameters_are_those_of_the_formulas() -> None:
    vocab, width, layers = len(sharing.world_tokenizer()), sharing.WIDTH, sharing.LAYERS
    attention, feed_forward = 4 * (width * width + width) + 2 * width, 2 * 4 * width * width + 5 * width + 2 * width
    by_hand = {"none": layers * (attention + feed_forward), "attention": attention + layers * feed_forward,
               "feed-forward": layers * attention + feed_forward, "all": attention + feed_forward}
    for embeddings, shared in sharing.VARIANTS:
        found = sharing.parameters(sharing.build(embeddings, shared, 0))
        narrow = width // sharing.EMBEDDINGS[embeddings]
        project = 0 if narrow == width else narrow * width + width
        assert found["layers"] == by_hand[shared]
        assert found["embeddings"] == (vocab + sharing.TIME + 2 + 2) * narrow + project  # segments: 2; LayerNorm: 2
        head = (width * narrow + narrow) + 2 * narrow + vocab  # linear layer, LayerNorm, output bias
        assert found["all"] == found["embeddings"] + found["layers"] + head + width * width + width  # and the pooler


def test_variants_with_equal_seeds_learn_from_the_same_batches(toy: None) -> None:
    one, other = sharing.batches(3)(2), sharing.batches(3)(2)
    assert torch.equal(one.tokens, other.tokens) and not torch.equal(one.tokens, sharing.batches(4)(2).tokens)


def told(*losses: float) -> dict[str, Any]:
    return seed_summary(dict(enumerate(losses)))


LOW, MIDDLE, HIGH, WIDE = told(0.1, 0.2, 0.1), told(0.4, 0.5, 0.4), told(0.8, 0.9, 0.8), told(0.05, 0.95, 0.5)


def verdicts(none: Any = LOW, attention: Any = LOW, feed_forward: Any = HIGH, full: Any = LOW, full_shared: Any = HIGH,
             ratio: float = 1.0) -> dict[str, str]:
    return sharing.criteria({"E = H": {"none": full, "all": full_shared},
                           "E = H/4": {"none": none, "attention": attention, "feed-forward": feed_forward}}, ratio)


def test_the_drop_is_that_of_the_feed_forward_sublayers() -> None:
    assert verdicts()["feed-forward"] == "supported"
    assert verdicts(attention=MIDDLE)["feed-forward"] == "supported"
    assert verdicts(attention=HIGH, feed_forward=MIDDLE)["feed-forward"] == "not supported"
    assert verdicts(feed_forward=LOW)["feed-forward"] == "no effect at this size"
    assert verdicts(attention=WIDE, feed_forward=MIDDLE)["feed-forward"] == "not supported", "not for every seed"


def test_factorizing_costs_little_if_sharing_costs_more() -> None:
    assert verdicts()["factorizing"] == "supported"
    assert verdicts(none=MIDDLE)["factorizing"] == "supported", "less than sharing all parameters"
    assert verdicts(none=HIGH, full_shared=MIDDLE)["factorizing"] == "not supported"


def test_equal_time_is_within_a_twentieth() -> None:
    assert verdicts(ratio=0.96)["time"] == verdicts(ratio=1.04)["time"] == "supported"
    assert verdicts(ratio=0.9)["time"] == verdicts(ratio=1.1)["time"] == "not supported"


def timed(rounds: int) -> dict[str, float]:
    return {"none": 2.0, "all": 1.0}


def test_the_study_records_every_variant(toy: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sharing, "excess_loss", lambda model, seed: 1.0 + seed / 100)
    monkeypatch.setattr(sharing, "train", lambda *args, **options: None)
    monkeypatch.setattr(sharing, "update_seconds", timed)
    monkeypatch.setattr(sharing, "masked_test_set", lambda *given: (None, 0.35))
    toy_study = sharing.Study(name="toy", arms=dict.fromkeys(sharing.VARIANTS, sharing.RATES), build=sharing.build,
                            train=sharing.train, development=sharing.development, test=sharing.test, updates=(2,),
                            nothing=-5, pilots=(9,))
    found = sharing.measure(Parts(tmp_path / "parts.jsonl", processes=0), toy_study)
    assert found["floor"] == 0.35 and found["criteria"]["time"] == "not supported"
    none, shared = found["arms"]["E = H/4"]["none"], found["arms"]["E = H/4"]["all"]
    assert none["excess"]["mean"] == 1.99 and none["lr"] == 3e-3
    assert none["flops"] == shared["flops"], "sharing saves parameters, not operations"
    assert none["parameters"]["layers"] == 4 * shared["parameters"]["layers"]


def test_the_fastest_updates_are_measured(toy: None) -> None:
    assert all(0 < seconds < 60 for seconds in sharing.update_seconds(1).values())
