"""Near words against all edit distances, what is told of a model against sums by hand, and a tiny run of the whole."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from nltk import edit_distance

from plmlab import world
from plmlab.chapters.ch05.cnn_softmax import added, confusion_verdict, correction_verdict
from plmlab.example import IGNORE
from plmlab.objectives import bidirectional_lm
from plmlab.recipes import Parts
from plmlab.recipes.study import Run
from plmlab.world.datasets.batches import sentence_batches
from plmlab.world.datasets.tokenizer import small_world_tokenizer
from studies.ch05 import cnn_softmax
from studies.ch05.cnn_softmax import build, costs, measure, near, neighbours


def by_distances(words: list[str]) -> dict[str, list[str]]:
    told = {one: sorted({other for other in words if len(other) > 1 and edit_distance(one, other) == 1})
            for one in words if len(one) > 1}
    return {word: others for word, others in told.items() if others}


@pytest.mark.parametrize("words", [
    ["an", "a", "n", "and", "at", "aan", "cat", "cut", "café"], ["aab", "abb", "ab", "ba"], ["x", "y"], [],
    world.small().vocabulary], ids=["mixed", "doubled letters", "single", "none", "small world"])
def test_near_words_are_one_edit_apart(words: list[str]) -> None:
    assert near(words) == by_distances(words)


def test_an_arm_spells_what_it_says() -> None:
    model = build("CNN", 0)
    words = small_world_tokenizer().tokens(list(range(len(small_world_tokenizer()))))
    hidden = torch.randn(3, 32, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        logits, vectors = model.token_logits(hidden), model.softmax.cnn(model.codes[None].long())[0]
    assert logits.shape == (3, len(words))
    torch.testing.assert_close(logits, hidden @ vectors.T)
    names = set(model.state_dict())
    assert set(build("corrected", 0).state_dict()) - names == {"softmax.corrections", "softmax.matrix.weight"}
    assert names < set(build("corrected", 0).state_dict())
    assert {name for name in names if not name.startswith("softmax.")} == {
        name for name in build("full", 0).state_dict() if not name.startswith("softmax.")}


def test_all_arms_begin_with_the_same_reader_and_both_cnns_alike() -> None:
    models = {arm: build(arm, 3).state_dict() for arm in cnn_softmax.ARMS}
    for name in models["full"]:
        if name.startswith("bilm."):
            assert torch.equal(models["full"][name], models["CNN"][name])
    for name in models["CNN"]:
        assert torch.equal(models["CNN"][name], models["corrected"][name])


def test_what_a_model_costs_by_hand() -> None:
    model = build("full", 0).eval()
    batch = sentence_batches(world.small(), "test", small_world_tokenizer(), bidirectional_lm, 6, 0)(0)
    with torch.no_grad():
        beliefs = model(batch).softmax(-1)  # type: ignore[arg-type]
    tokenizer, others = small_world_tokenizer(), near(world.small().vocabulary)
    vocabulary = tokenizer.tokens(list(range(len(tokenizer))))
    lost: dict[str, list[float]] = {}
    taken = []
    for row, targets in enumerate(batch.targets.tolist()):
        for position, target in enumerate(targets):
            if target != IGNORE:
                word, belief = vocabulary[target], beliefs[row, position]
                lost.setdefault(word, []).append(-float(belief[target].log()))
                if word in others:
                    taken.append(sum(float(belief[vocabulary.index(other)]) for other in others[word]))

    def mean(told: list[float]) -> float:
        return sum(told) / len(told)

    assert costs(model, batch) == pytest.approx({  # type: ignore[arg-type]
        "all": mean([one for some in lost.values() for one in some]),
        "near": mean([mean(some) for word, some in lost.items() if word in others]),
        "others": mean([mean(some) for word, some in lost.items() if word not in others]),
        "taken": mean(taken)}, rel=1e-4)
    assert int(neighbours().any(-1).sum()) == len(others)


def told(**arms: dict[str, list[float]]) -> dict[str, Any]:
    return {arm: {"costs": {of: {"values": values} for of, values in figures.items()}} for arm, figures in arms.items()}


FULL = {"near": [.8, .9], "others": [.5, .5], "taken": [.02, .02]}


@pytest.mark.parametrize(("near", "others", "taken", "verdict"), [
    ([.9, 1.0], [.51, .52], [.03, .03], "supported"), ([.9, 1.0], [.51, .7], [.03, .03], "inconclusive"),
    ([.9, 1.0], [.51, .52], [.03, .02], "inconclusive"), ([.7, .8], [.4, .3], [.03, .03], "not supported"),
    ([.82, .92], [.6, .6], [.03, .03], "not supported"), ([.7, 1.0], [.5, .5], [.03, .03], "inconclusive")])
def test_the_rule_of_what_is_hard_to_tell(
        near: list[float], others: list[float], taken: list[float], verdict: str) -> None:
    arms = told(full=FULL, CNN={"near": near, "others": others, "taken": taken})
    assert confusion_verdict(arms) == verdict


@pytest.mark.parametrize(("corrected", "verdict"), [
    ([.85, .95], "supported"), ([.85, .99], "inconclusive"), ([.91, 1.1], "not supported"), ([.7, .8], "supported")])
def test_the_rule_of_what_is_mended(corrected: list[float], verdict: str) -> None:
    arms = told(full=FULL, CNN={"near": [.9, 1.0]}, corrected={"near": corrected})
    assert added(arms, "CNN", "near") == pytest.approx([.1, .1])
    assert correction_verdict(arms) == verdict


def test_where_nothing_is_lost_there_is_nothing_to_mend() -> None:
    assert correction_verdict(told(full=FULL, CNN={"near": [.9, .85]}, corrected={"near": [.6, .6]})) == "inconclusive"


def best_at_1e_2(run: Run) -> float:
    return -abs(run.lr - 1e-2)


def test_a_tiny_run(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    toy = replace(cnn_softmax.STUDY, updates=(2,), pilot_updates=1, seeds=(0, 1), pilots=(9,),
                  development=best_at_1e_2)
    monkeypatch.setattr(cnn_softmax, "TIMED", 2)
    monkeypatch.setattr(cnn_softmax, "BATCH", 4)
    few = sentence_batches(world.small(), "test", small_world_tokenizer(), bidirectional_lm, 40, 0)(0)
    monkeypatch.setattr(cnn_softmax, "test_set", lambda split="test": few)
    figures = measure(parts, toy)
    assert 0 < figures["share"] < 1 and "cats" in figures["near"] and "." not in figures["near"]
    arms = figures["arms"]
    assert arms["full"]["parameters"] == len(small_world_tokenizer()) * 32
    assert arms["corrected"]["parameters"] - arms["CNN"]["parameters"] == 8 * (len(small_world_tokenizer()) + 32)
    for one in arms.values():
        assert one["lr"] == 0.01 and one["microseconds"] > 0 and set(one["costs"]) == {"all", "near", "others", "taken"}
        assert one["costs"]["all"]["low"] > figures["floor"]
    assert {confusion_verdict(arms), correction_verdict(arms)} <= {"supported", "not supported", "inconclusive"}
