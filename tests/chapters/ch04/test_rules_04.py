"""What chapter 04's notebook asks beside its models: the rules that were written down, by hand, and other weights."""

import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from plmlab import checkpoints
from plmlab.chapters.ch04 import attention_alignment, other_weights, reversal, single_vector_bottleneck
from plmlab.chapters.ch04.gold import gold
from plmlab.chapters.ch04.translation import Variant, new, pairs
from plmlab.chapters.ch04.translation import test_set as evaluation_set
from plmlab.interpret.alignments import cross_attention_weights
from studies.ch04.attention_alignment import alignment_accuracy


def figures(value: float) -> dict[str, Any]:
    return {"mean": value, "low": value - 1, "high": value + 1}


@pytest.mark.parametrize(("fixed", "general", "rise", "told"), [
    ((90, 60), (95, 93), 0.01, "supported"), ((90, 75), (95, 91), 0.01, "partly supported"),
    ((90, 75), (95, 85), 0.01, "not supported"), ((90, 86), (95, 95), 0.01, "no bottleneck here"),
    ((90, 71), (95, 94), 0.01, "partly supported"), ((90, 60), (95, 93), 0.2, "partly supported"),
    ((90, 60), (89, 88), 0.01, "untrained")])
def test_the_rule_of_the_bottleneck(fixed: tuple[int, int], general: tuple[int, int], rise: float, told: str) -> None:
    def arm(ends: tuple[int, int], rise: float) -> dict[str, Any]:
        return {"6000": {aim: {"bleu": figures(float(bleu)), "loss": figures(loss)} for aim, bleu, loss in zip(
            ("10", "60"), ends, (0.1, 0.1 + rise), strict=True)}}

    both = {"fixed": arm(fixed, 0.5), "general": arm(general, rise)}
    assert single_vector_bottleneck.verdict(both, "general", "fixed", 6000) == told


def test_the_loss_without_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sentences of probability 3/4 and 1/4, with two and four Chinese words."""
    texts = {("a",): ("x", "y"), ("b",): ("x", "y", "z", "u")}
    monkeypatch.setattr(single_vector_bottleneck, "single_sentence_baseline", lambda: texts)
    fake = SimpleNamespace(logprob=lambda words: math.log(0.75 if words == ("a",) else 0.25))
    monkeypatch.setattr(single_vector_bottleneck.world, "small", lambda: fake)
    entropy = 0.75 * math.log(4 / 3) + 0.25 * math.log(4)
    assert single_vector_bottleneck.loss_without_source() == pytest.approx(entropy / 2.5)


@pytest.mark.parametrize(("found", "told"), [
    ((0.9, 0.88), "supported"), ((0.9, 0.86), "partly supported"), ((0.8, 0.8), "partly supported"),
    ((0.6, 0.5), "not supported"), ((0.6, 0.7), "undecided"), ((0.71, 0.8), "undecided")])
def test_the_rule_of_alignments(found: tuple[float, float], told: str) -> None:
    figures = {"attention": {"dot": {"30": {"shift 0": {"values": list(found)}}}}, "pull": 4.0,
               "ibm": {"0": {"30": {"values": [0.7, 0.7]}}, "4": {"30": {"values": [0.85, 0.85]}}}}
    assert attention_alignment.verdict(figures, "dot") == told


@pytest.mark.parametrize(("forwards", "backwards", "told"), [
    ((.5, .6), (.3, .4), "helps"), ((.5, .6), (.45, .55), "undecided"), ((.5, .6), (.7, .9), "hurts")])
def test_the_rule_of_reversal(forwards: tuple[float, float], backwards: tuple[float, float], told: str) -> None:
    losses = {name: {"30": {"whole": {"low": low, "high": high}}}
              for name, (low, high) in {"fixed": forwards, "backwards": backwards}.items()}
    assert reversal.verdict(losses) == told


def test_the_signs_of_the_lag() -> None:
    def learned(*when: float) -> dict:
        return {"history": {str(seed): [[100, 0.9], [updates, 0.4], [2000, 0.6]] for seed, updates in enumerate(when)}}

    never = {"history": {"0": [[100, 0.9], [2000, 0.6]]}}
    assert reversal.onset_update(learned(700)["history"]["0"]) == 700
    told = {"fixed": learned(900, 1000), "last sentence first": learned(500, 800), "backwards": learned(400, 400),
            "delay": learned(1500, 1600), "delay, backwards": learned(950, 1000)}
    assert reversal.predictions_confirmed(told) == (True, True)
    assert reversal.predictions_confirmed(told | {"last sentence first": learned(500, 950)})[0] is False
    assert reversal.predictions_confirmed(told | {"delay, backwards": learned(700, 800)})[1] is False
    assert reversal.predictions_confirmed(told | {"delay, backwards": never}) == (True, True)
    assert reversal.predictions_confirmed(told | {"delay": never, "delay, backwards": never})[1] is None


def test_other_weights_are_weights_on_real_words() -> None:
    model, some = new(Variant("general", 16), 0), [*evaluation_set(10, 0, 3), *evaluation_set(30, 0, 2)]
    real = pairs(some).source.padding_mask[:, None, None]
    weights = cross_attention_weights(model, pairs(some))[:, None]
    for exchange in (other_weights.shuffled(0), other_weights.uniform_weights, other_weights.one_hot_on_highest):
        changed = exchange(weights, real)
        assert torch.allclose(changed.sum(-1), torch.ones(()))
        assert not changed.masked_select(~real.expand_as(changed)).any()
    turned = other_weights.shuffled(0)(weights, real)
    assert torch.allclose(turned.sort(-1).values, weights.sort(-1).values)
    assert not torch.allclose(turned, weights)
    assert torch.equal(other_weights.one_hot_on_highest(weights, real).argmax(-1), weights.argmax(-1))


def test_weights_that_stay_change_nothing_and_others_do() -> None:
    model, some = new(Variant("general", 16), 0), evaluation_set(20, 0, 4)
    same = other_weights.predictions_unchanged(model, some, lambda weights, real: weights, Variant("general"))
    assert same == pytest.approx({"same": 1.0, "same, gold": 1.0, "weight change": 0.0, "output change": 0.0}, abs=1e-5)
    turned = other_weights.predictions_unchanged(model, some, other_weights.one_hot_on_highest, Variant("general"))
    assert turned["weight change"] > 0.5 and turned["output change"] > 0
    stepwise = other_weights.predictions_unchanged(new(Variant("additive", 16), 0), some,
                                                   other_weights.one_hot_on_highest, Variant("additive"))
    assert stepwise["weight change"] > 0.5


def test_with_the_source_of_another_passage() -> None:
    model, some = checkpoints.load("general-passages")[0], evaluation_set(20, 0, 6)
    kept = {part: other_weights.swapped_source(model, some, Variant("general"), part)["same"]
            for part in ("source", "positions", "last state")}
    assert kept["source"] <= kept["positions"] < 0.9 < kept["last state"] <= 1
    for part in kept:
        assert other_weights.swapped_source(model, [some[0]] * 2, Variant("general"), part) == {"same": 1.0,
                                                                                            "same, gold": 1.0}
    asked = pairs(some)
    assert [int(row.sum()) for row in other_weights.has_gold_link(some, asked)] == [len(gold(one)) for one in some]


def test_words_that_depend_on_no_weights_are_free() -> None:
    model, some = checkpoints.load("general-passages")[0].eval(), evaluation_set(20, 0, 6)
    told = other_weights.mass_on_aligned(model, some, Variant("general"))
    assert sum(count for count, _ in told.values()) == sum(len(gold(one)) for one in some) > 20
    assert sum(count * share for count, share in told.values()) == pytest.approx(
        alignment_accuracy(attention_alignment.attention_matrices(model, some), some)
        * sum(len(gold(one)) for one in some))
    assert 0 < told["independent"][0] < told["dependent"][0]
    with torch.no_grad():
        model.combine.weight[:, :128] = 0
    assert bool(other_weights.weight_independent(model, some, Variant("general")).all())
    assert other_weights.mass_on_aligned(model, some, Variant("general"))["dependent"][0] == 0


def test_all_weight_on_one_position() -> None:
    model, some = checkpoints.load("general-passages")[0], evaluation_set(20, 0, 6)
    told = other_weights.one_hot_attention(model, some, Variant("general"))
    assert 0 < told["tested"] < sum(len(gold(one)) for one in some)
    assert 0 < told["positions"] < told["another"] <= 1 and told["positions"] < told["aligned"] <= 1
    with torch.no_grad():
        model.combine.weight[:, :128] = 0
    told = other_weights.one_hot_attention(model, some, Variant("general"))
    assert told["another"] == told["aligned"] == told["positions"] == 1
