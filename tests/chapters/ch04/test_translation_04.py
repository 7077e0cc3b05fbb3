"""What the experiments of chapter 04 share: what is read, how a translation is judged, and the experiments themselves
on the smallest of scales."""

from collections.abc import Callable
from functools import partial
from random import Random
from statistics import fmean
from typing import Any

import pytest
import torch

from plmlab import world
from plmlab.chapters.ch04 import arms, bottleneck, exposure, held, looks, reversal, translation
from plmlab.chapters.ch04.translation import Arm, exam, example, judged, lessons, loss, new, pairs, pieces, spelling
from plmlab.recipes import Parts
from plmlab.world.datasets.passages import Passage


def words(ids: torch.Tensor) -> list[str]:
    return list(spelling().tokens(ids.tolist()))


def passage(english: str, chinese: str = "", partners: tuple[tuple[int, int], ...] = ()) -> Passage:
    told = tuple(english.split())
    return Passage((told,), told, tuple(chinese.split()), partners)


def test_what_an_arm_reads_and_writes() -> None:
    one = passage("the key is new .", "那 把 钥匙 很 新 。")
    made = example(one, Arm("fixed", backwards=True, delay=2))
    assert words(made.source.tokens) == [*[".", "new", "is", "key", "the"], "[SEP]", "[SEP]", "[END]"]
    assert words(made.target.tokens) == ["[START]", *one.chinese]
    assert words(example(one).source.tokens) == [*one.english, "[END]"]


def test_a_lesson_has_passages_of_one_length_and_some_thousand_words() -> None:
    for step in range(6):
        lengths = [len(made.source.tokens) - 1 for made in lessons(3).examples(step)]
        assert max(lengths) <= 60
        assert 600 <= sum(lengths) <= 1100
        assert max(lengths) - min(lengths) <= 13


def test_no_exam_is_a_lesson() -> None:
    """Held-out combinations stand in no lesson, neither does a sentence that only the test has."""
    taught = {sentence for step in range(30) for sentence in
              (one for told in [translation.passages(world.small(), "train", Random(step))] for _ in range(20)
               for one in next(told).sentences)}
    asked = {sentence for one in exam(30, 0, 30, "combinations") for sentence in one.sentences}
    assert asked and not asked & taught


def test_pieces() -> None:
    assert pieces(["你", "好", "？", "好", "。", "再", "见"]) == [("你", "好", "？"), ("好", "。"), ("再", "见")]
    assert pieces([]) == []


def test_a_translation_is_judged_by_hand() -> None:
    some = [passage("a", "一 。 二 。"), passage("b", "三 四 五 六 。")]
    told = judged([("一", "。", "三", "。"), ("三", "四", "五", "六", "。")], some)
    assert told["exact"] == 0.5
    assert told["sentences"] == pytest.approx((0.5 + 1) / 2)
    assert judged([one.chinese for one in some], some) == {"exact": 1.0, "sentences": 1.0, "bleu": pytest.approx(100)}
    assert judged([("一", "。", "二", "。", "二", "。"), ()], some)["sentences"] == pytest.approx((2 / 3 + 0) / 2)


def test_the_loss_is_that_of_each_word_alone() -> None:
    model, some = new(Arm("general", 16), 0).eval().requires_grad_(False), exam(20, 0, 7)
    lost = []
    for one in some:
        batch = pairs([one])
        logprobs = model(batch).log_softmax(-1)[0]
        lost += [-float(logprobs[slot, target]) for slot, target in enumerate(batch.targets[0].tolist())]
    assert loss(model, some) == pytest.approx(fmean(lost), rel=1e-5)


@pytest.mark.parametrize("arm", [Arm("fixed", 8), Arm("additive", 8, backwards=True), Arm("transformer", 8)])
def test_translations_are_words_without_end(arm: Arm) -> None:
    some = exam(10, 0, 3)
    found = translation.translations(new(arm, 0).eval(), some, arm)
    assert len(found) == 3
    assert not any("[END]" in text for text in found)


TINY = {"UPDATES": 2, "LONGER": 3}


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, best_at: Callable[[float], Callable[..., float]]) -> None:
    """Every experiment at its smallest: the best rate is known, budgets are a few updates, exams a few passages."""
    for module in (arms, bottleneck, held, looks, reversal, exposure):
        for name, value in ({"COUNT": 6, "SEEDS": (2,)} | TINY).items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(arms, "ARMS", {name: Arm(arm.kind, 8, arm.backwards, arm.delay)
                                       for name, arm in arms.ARMS.items()})
    for module in (bottleneck, held, looks, reversal):
        monkeypatch.setattr(module, "AIMS", (10, 30, 60), raising=False)
        if hasattr(module, "ARMS"):
            monkeypatch.setattr(module, "ARMS", arms.ARMS)
    monkeypatch.setattr(arms, "rate_score", best_at(1e-2))
    monkeypatch.setattr(arms, "learn", partial(translation.learn, longest=10))
    monkeypatch.setattr(translation, "WRITTEN", 5)
    monkeypatch.setattr(translation, "WORDS", 100)
    monkeypatch.setattr(translation, "development", lambda: tuple(exam(30, 0, 6)))
    monkeypatch.setattr(arms, "development", translation.development)
    monkeypatch.setattr(looks, "development", translation.development)
    monkeypatch.setattr(bottleneck, "COUNTED", 20)
    monkeypatch.setattr(bottleneck, "ROUNDS", 1)
    monkeypatch.setattr(looks, "PULLS", (0.0, 4.0))
    monkeypatch.setattr(held, "PROBED", {"fixed": 3, "backwards": 2})
    for name, value in {"LEARNED": 12, "ASKED": 5, "ROUNDS": 2}.items():
        monkeypatch.setattr(held, name, value)
    bottleneck.table.cache_clear()
    bottleneck.training_text.cache_clear()


def test_every_experiment_is_measured(tiny: None, parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    told = arms.trainings(parts)
    assert set(told) == set(arms.ARMS)
    assert told["fixed"]["lr"] == told["delay"]["lr"] == 1e-2 and told["delay"]["like"] == "fixed"
    assert set(told["general, 32"]["loss"]) == {"2", "3"} and set(told["dot"]["loss"]) == {"2"}
    lengths = bottleneck.measure(parts)
    assert set(lengths["arms"]["fixed"]["3"]["60"]) == {"exact", "sentences", "bleu", "loss"}
    assert 0 < lengths["rivals"]["memory"]["test"]["10"]["read before"]["mean"] <= 1
    assert bottleneck.verdict(lengths["arms"], "") in ("holds", "holds in part", "fails", "no bottleneck here")
    found = looks.measure(parts)
    assert set(found["attention"]) == {"dot", "general", "two-way", "additive"}
    assert looks.verdict(found, "dot") == "fails"
    turned = reversal.measure(parts)
    assert reversal.verdict(turned["loss"]) in ("helps", "hurts", "open")
    assert turned["lags"]["delay"]["30"]["mean"] == turned["lags"]["fixed"]["30"]["mean"] + reversal.DELAY
    kept = held.measure(parts)
    assert len(kept["arms"]["backwards"]["untrained"]) == held.PLACES == len(kept["commonest"])
    monkeypatch.setattr(exposure, "translations", lambda model, some: [
        ("那", "。", *sum(pieces(one.chinese)[1:], ())) for one in some])
    exposed = exposure.measure(parts)
    assert exposed["fixed"]["mistakes"]["mean"] > 0.5
    assert exposed["general"]["own"]["loss"]["mean"] != exposed["general"]["right"]["loss"]["mean"]


def figures(value: float) -> dict[str, Any]:
    return {"mean": value, "low": value - 1, "high": value + 1}


@pytest.mark.parametrize(("fixed", "general", "told"), [
    ((90, 60), (95, 93), "holds"), ((90, 75), (95, 91), "holds in part"), ((90, 75), (95, 85), "fails"),
    ((90, 86), (95, 95), "no bottleneck here"), ((90, 71), (95, 94), "holds in part")])
def test_the_rule_of_the_bottleneck(fixed: tuple[int, int], general: tuple[int, int], told: str) -> None:
    def arm(ends: tuple[int, int]) -> dict[str, Any]:
        return {"6000": {aim: {"bleu": figures(float(bleu))} for aim, bleu in zip(("10", "60"), ends, strict=True)}}

    assert bottleneck.verdict({"fixed": arm(fixed), "general": arm(general)}, "") == told


def test_rivals_without_a_network() -> None:
    some = exam(20, 5, 6)
    known = [one for one in some if bottleneck.read_before([one]) == 1]
    assert known
    assert bottleneck.by_memory(known) == [one.chinese for one in known]
