"""What the experiments of chapter 04 share: what is read, how a translation is judged, and the experiments themselves
on the smallest of scales."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from random import Random
from statistics import fmean
from typing import Any

import pytest
import torch
from toy_size import changed

from plmlab import world
from plmlab.chapters.ch04 import arms, bottleneck, looks, reversal, translation
from plmlab.chapters.ch04.gold import gold, names
from plmlab.chapters.ch04.translation import Arm, exam, example, judged, lessons, loss, new, pairs, pieces, spelling
from plmlab.interpret.alignments import looks_across
from plmlab.recipes import Parts
from plmlab.world.datasets.passages import Passage
from studies.ch04 import exposure, held

pytestmark = pytest.mark.usefixtures("one_thread")


def words(ids: torch.Tensor) -> list[str]:
    return list(spelling().tokens(ids.tolist()))


def passage(english: str, chinese: str = "", partners: tuple[tuple[int, int], ...] = ()) -> Passage:
    told = tuple(english.split())
    return Passage((told,), told, tuple(chinese.split()), partners)


def test_what_an_arm_reads_and_writes() -> None:
    one = passage("the key is new .", "那 把 钥匙 很 新 。")
    made = example(one, Arm("fixed", order="backwards", delay=2))
    assert words(made.source.tokens) == [*[".", "new", "is", "key", "the"], "[SEP]", "[SEP]", "[END]"]
    assert words(made.target.tokens) == ["[START]", *one.chinese]
    assert words(example(one).source.tokens) == [*one.english, "[END]"]
    two = Passage((("a", "b"), ("c",)), ("a", "b", "c"), (), ())
    assert Arm("fixed", order="last sentence first").reads(two).english == ("c", "a", "b")


def test_only_the_end_is_in_sight() -> None:
    model, some = new(Arm("end only", 16), 0), [*exam(10, 0, 2), *exam(20, 0, 2)]
    for rows, one in zip(looks_across(model, pairs(some)), some, strict=True):
        assert torch.equal(rows[:len(one.chinese) + 1, len(one.english)], torch.ones(len(one.chinese) + 1))
    attentive = new(Arm("general", 16), 0)
    assert {name: weight.shape for name, weight in model.named_parameters()} == {
        name: weight.shape for name, weight in attentive.named_parameters()}


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
    assert judged([one.chinese for one in some], some) == {
        "exact": 1.0, "sentences": 1.0, "bleu": pytest.approx(100), "length": 1.0}
    assert told["length"] == 1.0 and judged([("一", "。"), ()], some)["length"] == 2 / 9
    assert judged([("一", "。", "二", "。", "二", "。"), ()], some)["sentences"] == pytest.approx((2 / 3 + 0) / 2)


def test_the_loss_is_that_of_each_word_alone() -> None:
    model, some = new(Arm("general", 16), 0).eval().requires_grad_(False), exam(20, 0, 7)
    lost = []
    for one in some:
        batch = pairs([one])
        logprobs = model(batch).log_softmax(-1)[0]
        lost += [-float(logprobs[slot, target]) for slot, target in enumerate(batch.targets[0].tolist())]
    assert loss(model, some) == pytest.approx(fmean(lost), rel=1e-5)


@pytest.mark.parametrize("arm", [Arm("fixed", 8), Arm("additive", 8, order="backwards"), Arm("transformer", 8)])
def test_translations_are_words_without_end(arm: Arm) -> None:
    some = exam(10, 0, 3)
    found = translation.translations(new(arm, 0).eval(), some, arm)
    assert len(found) == 3
    assert not any("[END]" in text for text in found)


@pytest.fixture(scope="module")
def few_known() -> Iterator[None]:
    """The long training text is shorter."""
    with changed((bottleneck, "islice", lambda some, count: islice(some, min(count, 2000))), forget=[bottleneck.known]):
        yield


TINY = {"UPDATES": 2, "LONGER": 3, "DOUBLED": 4, "LOOKING": (("dot", 2), ("general", 3))}


@pytest.fixture
def tiny(few_known: None, monkeypatch: pytest.MonkeyPatch, best_at: Callable[[float], Callable[..., float]]) -> None:
    """Every experiment at its smallest: the best rate is known, budgets are a few updates, exams a few passages."""
    for module in (arms, bottleneck, held, looks, reversal, exposure):
        for name, value in ({"COUNT": 6, "ALONE": 12, "SEEDS": (2,)} | TINY).items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)
    some = (*reversal.WAYS, "general", "end only", "dot", "transformer")
    monkeypatch.setattr(arms, "ARMS", {name: replace(arms.ARMS[name], width=8, longest=10) for name in some})
    monkeypatch.setattr(arms, "MAIN", ("fixed", "general"))
    for module in (bottleneck, held, looks, reversal):
        monkeypatch.setattr(module, "ARMS", arms.ARMS)
    for module, aims in ((bottleneck, (10, 60)), (looks, (30,)), (reversal, (30,))):
        monkeypatch.setattr(module, "AIMS", aims)
    monkeypatch.setattr(arms, "rate_score", best_at(1e-2))
    monkeypatch.setattr(translation, "WRITTEN", 5)
    monkeypatch.setattr(translation, "WORDS", 100)
    monkeypatch.setattr(translation, "development", lambda: tuple(exam(30, 0, 6)))
    monkeypatch.setattr(arms, "development", translation.development)
    monkeypatch.setattr(looks, "development", translation.development)
    monkeypatch.setattr(exposure, "ASKED", {"fixed": 30, "general": 30})
    monkeypatch.setattr(exposure, "ENOUGH", 1)
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
    assert set(told["general"]["loss"]) == {"2", "3"} and set(told["dot"]["loss"]) == {"2"}
    assert told["fixed"]["loss"]["4"]["seeds"] == [2] and told["backwards"]["history"]["2"][-1][0] == 2
    lengths = bottleneck.measure(parts)
    assert set(lengths["arms"]["fixed"]["3"]["60"]) == {"exact", "sentences", "bleu", "length", "loss"}
    assert 0 < lengths["rivals"]["memory"]["test"]["10"]["read before"]["mean"] <= 1
    assert bottleneck.verdict(lengths["arms"], "general", "end only", 2) == "untrained"
    found = looks.measure(parts)
    assert set(found["attention"]) == {"dot, 2", "general, 3"}
    assert looks.verdict(found, "dot, 2") == "fails"
    turned = reversal.measure(parts)
    assert reversal.verdict(turned["loss"]) in ("helps", "hurts", "open")
    assert turned["lags"]["delay"]["30"]["mean"] == turned["lags"]["fixed"]["30"]["mean"] + reversal.DELAY
    assert reversal.signs(told) == (False, None)
    kept = held.measure(parts)
    assert kept["places"] == [*range(held.EACH), *range(-held.EACH, 0)]
    assert len(kept["arms"]["backwards"]["untrained"]) == len(held.PLACES) == len(kept["guessed"]["neighbours"])
    assert kept["guessed"]["commonest"][-1]["mean"] > 0.9
    assert kept["arms"]["backwards"]["written"][0]["mean"] == 0
    assert max(place["mean"] for place in kept["guessed"]["neighbours"]) > 0
    monkeypatch.setattr(exposure, "translations", lambda model, some: [
        ("那", *one.chinese[1:]) for one in some])
    exposed = exposure.measure(parts)
    for what in ("rest", "next"):
        asked = exposed["general"][what]
        assert asked["own"]["loss"]["mean"] != asked["right"]["loss"]["mean"]
    monkeypatch.setattr(exposure, "ENOUGH", 100)
    assert exposure.after_mistakes(str(parts.folder), "fixed", 2)["next"]["own"] is None


def figures(value: float) -> dict[str, Any]:
    return {"mean": value, "low": value - 1, "high": value + 1}


@pytest.mark.parametrize(("fixed", "general", "rise", "told"), [
    ((90, 60), (95, 93), 0.01, "holds"), ((90, 75), (95, 91), 0.01, "holds in part"),
    ((90, 75), (95, 85), 0.01, "fails"), ((90, 86), (95, 95), 0.01, "no bottleneck here"),
    ((90, 71), (95, 94), 0.01, "holds in part"), ((90, 60), (95, 93), 0.2, "holds in part"),
    ((90, 60), (89, 88), 0.01, "untrained")])
def test_the_rule_of_the_bottleneck(fixed: tuple[int, int], general: tuple[int, int], rise: float, told: str) -> None:
    def arm(ends: tuple[int, int], rise: float) -> dict[str, Any]:
        return {"6000": {aim: {"bleu": figures(float(bleu)), "loss": figures(loss)} for aim, bleu, loss in zip(
            ("10", "60"), ends, (0.1, 0.1 + rise), strict=True)}}

    both = {"fixed": arm(fixed, 0.5), "general": arm(general, rise)}
    assert bottleneck.verdict(both, "general", "fixed", 6000) == told


def test_rivals_without_a_network(few_known: None) -> None:
    some = exam(20, 5, 6)
    known = [one for one in some if bottleneck.read_before([one]) == 1]
    assert known
    assert bottleneck.by_memory(known) == [one.chinese for one in known]
    assert bottleneck.by_another(some)[1] == some[0].chinese
    turned = bottleneck.reversed_sentences(some)
    assert [pieces(text) for text in turned] == [pieces(one.chinese)[::-1] for one in some]
    assert judged(turned, some)["bleu"] > 60


def test_names_are_linked_where_it_is_sure() -> None:
    one = passage("Helen Quinn knows Henry Quinn .", "海伦 · 奎因 认识 亨利 · 奎因 。")
    assert names(one) == ((0, 0), (4, 3))
    two = Passage((("Helen", "Quinn"), ("Henry", "Quinn", "1958")), ("Helen", "Quinn", "Henry", "Quinn", "1958"),
                  ("海伦", "·", "奎因", "亨利", "·", "奎因", "1958", "年"), ((0, 0),))
    assert gold(two) == ((0, 0), (2, 1), (3, 2), (5, 3), (6, 4))
