"""Shares of the masks on the small world: what is read, what is paid, and the floors of the very Examples judged."""

from dataclasses import replace
from math import inf
from random import Random
from typing import Any

import pytest
import torch

from plmlab import world
from plmlab.chapters.ch12 import mask_mixture
from plmlab.chapters.ch12 import passage_translation as passages
from plmlab.chapters.ch12.mask_mixture import losses_by_mask
from plmlab.chapters.ch12.target_masking import OBJECTIVES
from plmlab.objectives.prefix import MASKS, SHARES
from plmlab.recipes import Parts
from plmlab.recipes.study import Run
from studies.ch12 import fine_tuned_translation as tuning
from studies.ch12 import mask_mixture as study
from studies.ch12 import target_masking


@pytest.fixture(autouse=True)
def small_scale(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Two batches to judge by, few updates and seeds, a small exam."""
    for module, name, value in ((mask_mixture, "JUDGED", 2), (tuning, "SEEDS", (0, 1)), (tuning, "TUNED", (1, 2)),
                                (passages, "TEST_SIZE", 6), (target_masking, "BUDGETS", (1, 2)),
                                (target_masking, "SEEDS", (0, 1))):
        monkeypatch.setattr(module, name, value)
    mask_mixture.evaluation_batches.cache_clear()
    yield
    mask_mixture.evaluation_batches.cache_clear()


def test_the_mix_is_the_papers() -> None:
    assert mask_mixture.ARMS["mixture"] == SHARES == {
        "both directions": 1 / 3, "sequence to sequence": 1 / 3, "left to right": 1 / 6, "right to left": 1 / 6}
    assert set(mask_mixture.ARMS) == {"mixture", "half and half", *MASKS}


def test_an_arm_reads_under_its_masks_both_languages_and_both_lengths() -> None:
    kinds = {"both directions": {0}, "sequence to sequence": {4, 5}, "left to right": {2}, "right to left": {3}}
    chinese = passages.ids()["。"]
    for name, known in kinds.items():
        read = mask_mixture.texts(name, 0).examples(3)
        assert {kind for one in read for kind in one.segments.tolist()} == known  # type: ignore[union-attr]
        sides = [chinese in {*one.tokens.tolist(), *one.targets.tolist()} for one in read]  # type: ignore[union-attr]
        assert 0 < sum(sides) < len(sides) == mask_mixture.BATCH
        long = [len(one.tokens) > 15 for one in read]  # type: ignore[union-attr]
        assert len(long) // 4 <= sum(long) <= len(long) * 3 // 4


def test_floors_are_those_of_the_examples_that_are_judged() -> None:
    """Who sees more pays less; and both directions cost what the exact posterior of each Example says."""
    floors = mask_mixture.floors_by_mask()
    assert floors["both directions"] < floors["right to left"] and floors["both directions"] < floors["left to right"]
    assert floors["both directions"] < floors["sequence to sequence"] < floors["left to right"]
    small, tokenizer, nats, count = world.small(), passages.tokenizer(), 0.0, 0
    mask = tokenizer.vocab.mask
    for batch, asked in mask_mixture.evaluation_batches("both directions", "test"):
        count += asked
        for row, targets_of in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True):
            words = tokenizer.tokens([row[i] if t < 0 else t for i, t in enumerate(targets_of) if row[i] > 3 or t >= 0])
            positions = [i - 1 for i, t in enumerate(targets_of) if t >= 0 and row[i] != t]
            if positions:
                found = small.posterior(words, positions, "test")
                nats -= sum(float(torch.tensor(belief[words[position]]).log())
                            for position, belief in zip(positions, found, strict=True))
    assert mask == 4 and floors["both directions"] == pytest.approx(nats / count, abs=1e-5)


def test_what_is_paid_is_the_loss_under_each_mask() -> None:
    model = mask_mixture.new_unilm(0)
    losses = losses_by_mask(model)
    assert set(losses) == set(MASKS) and all(4 < nats < 8 for nats in losses.values())
    batches = mask_mixture.evaluation_batches("right to left", "test")
    with torch.no_grad():
        nats = sum(float(model.loss(batch)) * count for batch, count in batches) / sum(count for _, count in batches)
    assert losses["right to left"] == pytest.approx(nats)


def best_at_3e_3(run: Run) -> float:
    return -abs(run.lr - 3e-3)


def test_arms_are_trained_kept_and_tuned(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in ((mask_mixture, "BATCH", 8), (mask_mixture, "WIDTH", 16), (mask_mixture, "LAYERS", 1),
                                (mask_mixture, "TEXTS", 8), (passages, "BATCH", 4), (passages, "LONGEST", 5),
                                (tuning, "ARMS", {"mixture": SHARES, "left to right": {"left to right": 1.0}})):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(tuning, "lr_score", lambda folder, name, updates, count, lr, seed: -abs(lr - 3e-3))
    toy = replace(study.STUDY, arms={("mixture",): (1e-3, 3e-3, 1e-2), ("left to right",): (1e-3, 3e-3, 1e-2)},
                  updates=(6,), seeds=(0, 1), pilots=(9,), pilot_updates=1, development=best_at_3e_3, nothing=-inf)
    told = study.measure(parts, toy)
    assert set(told["arms"]) == {"mixture", "left to right"} and told["arms"]["mixture"]["lr"] == 3e-3
    kept = losses_by_mask(toy.trained(parts.folder, "left to right", updates=6, seed=1))
    assert told["arms"]["left to right"]["paid"]["left to right"]["values"][1] == pytest.approx(kept["left to right"])
    alone, longer = mask_mixture.new_unilm(1), mask_mixture.new_unilm(0)
    mask_mixture.train(alone, "left to right", study.LONGER, 3e-3, 1, show=False)
    assert set(told["equal"]) == {"left to right"}
    assert told["equal"]["left to right"][1]["values"][-1] == pytest.approx(losses_by_mask(alone)["left to right"])
    mask_mixture.train(longer, "mixture", study.LONGER * 6, 3e-3, 0, show=False)
    assert told["longer"]["both directions"]["values"][0] == pytest.approx(losses_by_mask(longer)["both directions"])
    wrote = tuning.measure(parts, told["updates"])
    assert set(wrote["translation"]) == {tuning.NOTHING, "mixture", "left to right"}
    assert set(wrote["translation"][tuning.NOTHING]["right"]) == set(wrote["table"]) == {"1", "2"}
    assert wrote["translation"]["mixture"]["lr"] == 3e-3


def test_ways_to_tune_are_told_by_their_budgets(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    best = {1: 1e-2, 2: 3e-3}

    def tuned(way: str, updates: int, lr: float, seed: int) -> float:
        assert lr == best[updates]
        return 0.45 * updates + seed / 100
    monkeypatch.setattr(target_masking, "lr_score", lambda way, updates, lr, seed: -abs(lr - best[updates]))
    monkeypatch.setattr(target_masking, "tuned", tuned)
    told = target_masking.measure(parts)
    assert set(told) == set(OBJECTIVES)
    one = told["15% masked"]
    assert one["right"]["1"]["values"] == [0.45, 0.46] and one["lr"] == {"1": 1e-2, "2": 3e-3}
    assert one["learned after"] == 2


def test_each_way_is_written_with_as_it_was_tuned() -> None:
    for name, (make, write) in OBJECTIVES.items():
        example = make([40, 41], [50, 51, 52, 53], vocab=passages.tokenizer().vocab, rng=Random(0))
        hides = passages.tokenizer().vocab.mask in example.tokens.tolist()
        assert (write is passages.in_place) == (not name.startswith("next token")) == hides
