"""The recipe of chapter 08 on the smallest of scales: each experiment tells what the notebook reads."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import torch

from plmlab.example import IGNORE
from plmlab.models.bert import BERT
from plmlab.objectives import masked
from plmlab.recipes import Parts
from plmlab.train import Diverged, History
from plmlab.transfer import TASKS
from plmlab.world import World
from plmlab.world.datasets.masked_test_set import all_masked
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from studies.ch08 import both_sides, labels, positions_asked, smaller
from studies.ch08.both_sides import NOT_AT_ALL, Arm
from studies.ch08.encoders import LastPosition

SEEDS = (0, 1)


@pytest.fixture(autouse=True)
def small_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """One layer of width 16, two updates."""
    for name, value in (("LAYERS", 1), ("WIDTH", 16), ("STEPS", 2), ("SAMPLE", 1)):
        monkeypatch.setattr(smaller, name, value)


def test_of_the_exam_all_that_is_asked_is_hidden(small: World) -> None:
    words = small_world_tokenizer().encode(" ".join(next(small.text("train", 3))), plain=True)
    vocab = small_world_tokenizer().vocab
    shown = all_masked(words, vocab=vocab, rng=Random(1))
    plain = masked(words, vocab=vocab, rng=Random(1))
    assert torch.equal(shown.targets, plain.targets)
    assert (shown.tokens[shown.targets != IGNORE] == vocab.need("mask")).all()
    assert torch.equal(shown.tokens[shown.targets == IGNORE], plain.tokens[plain.targets == IGNORE])


def test_shares_of_positions_are_told_with_their_updates(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SEEDS", SEEDS), ("STEPS", 2), ("BATCH", 8), ("SHARES", ((0.15, 1), (0.3, 2)))):
        monkeypatch.setattr(positions_asked, name, value)
    told = positions_asked.measure(parts)
    assert [(row["share"], row["updates"]) for row in told] == [(0.15, 2), (0.3, 4)]
    assert all(row["above"]["seeds"] == [0, 1] and row["above"]["low"] > 0.5 for row in told)


def test_both_sides_tells_ways_and_arms(parts: Parts, monkeypatch: pytest.MonkeyPatch, best_at: Callable) -> None:
    arms = {"BERT": Arm("BERT", tasks=("NER",)), "frozen": Arm("always [MASK]", features=True, tasks=("NER",)),
            "left to right": Arm("left to right", LastPosition, tasks=("NER",))}
    for place, name, value in (
            (smaller, "lr_score", best_at(3e-3)), (smaller, "in_sight", lambda model: 0.5),
            (both_sides, "SEEDS", SEEDS), (both_sides, "ARMS", arms), (both_sides, "LIKE", {"frozen": "BERT"}),
            (both_sides, "lr_score", best_at(1e-3)), (both_sides, "run_result", run)):
        monkeypatch.setattr(place, name, value)
    told = both_sides.measure(parts)
    assert set(told["ways"]) == set(smaller.LIKE) and told["ways"]["left to right"]["lr"] == 3e-3
    assert told["ways"]["BERT"]["million"]["mean"] == pytest.approx(2 * 0.002, rel=0.3)
    assert {name: arm["NER"]["lr"] for name, arm in told["arms"].items()} == dict.fromkeys(arms, 1e-3)
    assert told["arms"]["frozen"]["NER"]["score"]["values"] == [0.0, 0.1]
    assert told["follows"]["mean"] == pytest.approx(0.5, abs=0.15)


def run(*arm_rate_seed: object) -> dict:
    """What a run of whatever arm tells."""
    seed = float(arm_rate_seed[-1])  # type: ignore[arg-type]
    return {"score": seed / 10, "development": 0.5, "updates": 50, "made": 100, "curve": [0.5, 0.4]}


@pytest.mark.parametrize(("arm", "way"), [("left to right", "left to right"), ("from scratch", NOT_AT_ALL)])
def test_an_arm_begins_with_its_own_weights(arm: str, way: str, tmp_path: Path,
                                            monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    def tune(bert: BERT, *rest: object, **options: object) -> None:
        given.append(bert)
        raise Diverged("enough", 1, History(1, "cpu", "float32"))
    monkeypatch.setattr(both_sides, "fine_tune", tune)
    if way != NOT_AT_ALL:
        smaller.pretrain(str(tmp_path), way, 3e-3, 1)
    assert both_sides.lr_score(str(tmp_path), arm, "NER", 1e-3, 10) is None
    seed = 1 if way != NOT_AT_ALL else 10
    made = smaller.pretrained(str(tmp_path), way, seed) if way != NOT_AT_ALL else smaller.build("BERT", seed).encoder
    assert torch.equal(given[0].embeddings.token.weight, made.embeddings.token.weight)
    assert isinstance(given[0], LastPosition) == (arm == "left to right")


def test_labels_tells_every_number_of_labels_with_its_curves(
        parts: Parts, monkeypatch: pytest.MonkeyPatch, best_at: Callable) -> None:
    arms = ("from scratch", "frozen, all layers", "frozen, all layers + BiLSTM")
    for name, value in (("SEEDS", SEEDS), ("LABELS", (16, 64)), ("CURVES", ("from scratch",)), ("run_result", run),
                        ("lr_score", best_at(1e-2)), ("RATES", dict.fromkeys(arms, (3e-3, 1e-2, 3e-2))),
                        ("TASKS", {name: TASKS[name] for name in ("NER", "acceptability")})):
        monkeypatch.setattr(labels, name, value)
    told = labels.measure(parts)
    assert set(told["tasks"]["NER"]) == set(arms) and set(told["tasks"]["acceptability"]) == set(arms[:2])
    scratch = told["tasks"]["NER"]["from scratch"]
    assert scratch["lr"] == 1e-2 and [rate for rate, _ in scratch["rates"]] == [3e-3, 1e-2, 3e-2]
    assert set(scratch["labels"]) == {16, 64} and set(told["tasks"]["NER"][arms[1]]["labels"]) == {64}
    assert scratch["labels"][64]["curves"] == [[0.5, 0.4]] * 2
