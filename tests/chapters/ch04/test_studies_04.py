"""The studies of chapter 04: links, lags, the probe and first mistakes by hand, and each on the smallest of scales."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from math import inf

import pytest
import torch
from torch import Tensor, tensor
from toy_size import changed

from plmlab.chapters.ch04 import arms, translation
from plmlab.chapters.ch04 import attention_alignment as rule_of_alignments
from plmlab.chapters.ch04 import reversal as rule_of_reversal
from plmlab.chapters.ch04 import single_vector_bottleneck as rule_of_the_bottleneck
from plmlab.chapters.ch04.translation import Variant, evaluate_translations, new, pairs, split_sentences
from plmlab.chapters.ch04.translation import test_set as evaluation_set
from plmlab.interpret.alignments import cross_attention_weights
from plmlab.recipes import Parts
from plmlab.recipes.study import Run
from plmlab.world.datasets.passages import Passage
from studies.ch04 import attention_alignment, exposure, reversal, single_vector_bottleneck, state_probe, trainings
from studies.ch04.exposure import first_mistakes

pytestmark = pytest.mark.usefixtures("one_thread")
PASSAGE = Passage((("a", "b", "c"),), ("a", "b", "c"), ("x", "y", "z"), ((0, 2), (2, 1)))


def test_right_links_and_shifts_by_hand() -> None:
    weights = [tensor([[.1, .2, .7, 0], [.2, .6, .2, 0], [.5, .3, .2, 0], [0, .9, 0, .1]])]
    assert attention_alignment.alignment_accuracy(weights, [PASSAGE]) == 0.5
    assert attention_alignment.alignment_accuracy(weights, [PASSAGE], 1) == 0.5
    assert attention_alignment.alignment_accuracy(weights, [PASSAGE], -1) == 1.0
    neighbours = [attention_alignment.alignment_accuracy(weights, [PASSAGE], behind=behind) for behind in (-1, 1)]
    assert neighbours == [0.5, 0.0]
    assert attention_alignment.weight_on_aligned(weights, [PASSAGE]) == pytest.approx((0.7 + 0.3) / 2)


def test_the_end_can_be_attended_to_and_is_no_aligned_word() -> None:
    weights = [tensor([[0, 0, .4, .6], [0, 0, 0, 1.0], [0, .6, 0, .4]])]
    assert attention_alignment.alignment_accuracy(weights, [PASSAGE]) == 0.5


def test_the_diagonal() -> None:
    straight = Passage((), ("a", "b"), ("x", "y", "z", "u"), ((0, 0), (1, 0), (3, 1)))
    assert attention_alignment.diagonal([straight]) == 1.0
    assert attention_alignment.diagonal([Passage((), ("a", "b"), ("x", "y"), ((0, 1), (1, 1)))]) == 0.5


def test_heads_average_to_the_attention_matrices() -> None:
    model, some = new(Variant("transformer", 16), 0), evaluation_set(20, 0, 4)
    every = attention_alignment.heads(model, some)
    assert len(every) == 8
    mean = torch.stack([torch.stack(rows) for rows in every.values()]).mean(0)
    assert torch.allclose(mean, cross_attention_weights(model, pairs(some)), atol=1e-6)


def test_lags_by_hand() -> None:
    """Read a b c [END], then x is said at position 0: c is read 2 positions before [END]'s end, a 4 positions."""
    assert reversal.lags([PASSAGE], Variant("fixed")) == {"mean": ((4 - 2) + (4 - 1 + 2)) / 2, "shortest": 2}
    turned = reversal.lags([PASSAGE], Variant("fixed", order="backwards"))
    assert turned == {"mean": ((4 - 0) + (4 - 1 + 2)) / 2, "shortest": 4}


def test_a_probe_finds_what_is_planted_and_no_more() -> None:
    """Place 0 stands in the state, place 1 does not."""
    generator = torch.Generator().manual_seed(0)

    def drawn(count: int) -> tuple[Tensor, Tensor]:
        words = torch.randint(5, 9, (count, 2), generator=generator)
        return torch.cat([torch.eye(9)[words[:, 0]], torch.randn(count, 3, generator=generator)], -1), words

    (states, words), (fresh, asked) = drawn(400), drawn(200)
    planted, absent = state_probe.probed(states, words, fresh, asked)
    assert planted == 1.0
    assert 0.1 < absent < 0.45


def test_a_word_is_written_if_its_sentence_stands_where_it_should(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_probe, "PLACES", (0, 1, 2, -2, -1))
    one = Passage((), ("a", "b", ".", "c", "."), ("一", "。", "二", "。"), ())
    for text, told in (("一。三。", [1, 1, 1, 0, 0]), ("二。", [0] * 5), ("二。二。", [0, 0, 0, 1, 1])):
        monkeypatch.setattr(state_probe, "translations", lambda model, some, arm, text=text: [tuple(text)])
        assert state_probe.written_rightly(new(Variant("fixed", 8), 0), [one], "fixed") == told


def test_a_guess_by_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_probe, "PLACES", (0, 1, -1))
    learned = [Passage((), tuple(text.split()), (), ()) for text in ("a b c", "a b c", "a d c", "e b f")]
    asked = [Passage((), tuple(text.split()), (), ()) for text in ("a b c", "a d c", "x b f")]
    monkeypatch.setattr(state_probe, "long_enough", lambda seed, count: learned if seed == "learned" else asked)
    told = state_probe.guessed(2)
    assert told["commonest"] == pytest.approx([2 / 3, 2 / 3, 2 / 3])
    assert told["neighbours"] == pytest.approx([2 / 3, 1 / 3, 2 / 3])


def test_first_mistakes() -> None:
    def cut(text: str) -> tuple[str, ...]:
        return tuple(text.split())

    passage = Passage((), (), cut("一 。 二 。 三 。"), ())
    [one] = first_mistakes([cut("一 。 四 五 。 三 。")], [passage])
    assert (one.right[-1], one.own[-1], one.next) == (cut("二 。"), cut("四 五 。"), cut("三 。"))
    assert one.asked("next", "own", ()) == (cut("一 。 四 五 。"), cut("三 。"))
    assert one.asked("next", "another's", cut("九 。")) == (cut("一 。 九 。"), cut("三 。"))
    assert one.asked("rest", "own", ()) is None
    [one] = first_mistakes([cut("一 。 四 。 五 。")], [passage])
    assert one.asked("rest", "own", ()) == (cut("一 。 四"), cut("。"))
    assert one.asked("rest", "right", ()) == (cut("一 。 二"), cut("。"))
    for text in ("一 。 二 。 三 。", "一 。 二 。 四 。", "一 。 四", "一 。", "一 。 三 。",
                 "一 。 四 。 二 。 三 。"):
        assert first_mistakes([cut(text)], [passage]) == []


def test_a_cost_is_that_of_the_words_after_the_history() -> None:
    model, passage = new(Variant("general", 16), 0).requires_grad_(False), evaluation_set(30, 1, 1)[0]
    whole = -model.eval()(pairs([passage])).log_softmax(-1)[0]
    targets = pairs([passage]).targets[0]
    lost, _ = exposure.cost(model, passage, passage.chinese[:4], passage.chinese[4:9])
    assert lost == pytest.approx(float(whole[torch.arange(4, 9), targets[4:9]].mean()), rel=1e-4)


@pytest.fixture(scope="module")
def few_known() -> Iterator[None]:
    """The long training text is shorter."""
    with changed((rule_of_the_bottleneck, "islice", lambda some, count: islice(some, min(count, 2000))),
                 forget=[rule_of_the_bottleneck.single_sentence_baseline, single_vector_bottleneck.table,
                         single_vector_bottleneck.training_text]):
        yield


def test_baselines_without_a_network(few_known: None) -> None:
    some = evaluation_set(20, 5, 6)
    known = [one for one in some if single_vector_bottleneck.read_before([one]) == 1]
    assert known
    assert single_vector_bottleneck.by_memory(known) == [one.chinese for one in known]
    assert single_vector_bottleneck.by_another(some)[1] == some[0].chinese
    turned = single_vector_bottleneck.reversed_sentences(some)
    assert [split_sentences(text) for text in turned] == [split_sentences(one.chinese)[::-1] for one in some]
    assert evaluate_translations(turned, some)["bleu"] > 60


MAIN = ("fixed", "general")
TINY = {"COUNT": 6, "ALONE": 12, "SEEDS": (2,), "UPDATES": 2, "LONGER": 3, "DOUBLED": 4,
        "MECHANISMS": (("dot", 2), ("general", 3))}


def best_at_1e_2(run: Run) -> float:
    return -abs(run.lr - 1e-2)


@pytest.fixture
def tiny(few_known: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every experiment at its smallest: the best rate is known, budgets are a few updates, test sets a few passages."""
    for module in (trainings, single_vector_bottleneck, state_probe, attention_alignment, reversal, exposure):
        for name, value in TINY.items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)
    some = (*rule_of_reversal.SOURCE_ORDERS, "general", "end only", "dot", "transformer")
    small = {name: replace(arms.ARMS[name], width=8, longest=10) for name in some}
    for module in (trainings, single_vector_bottleneck, state_probe, attention_alignment, reversal):
        monkeypatch.setattr(module, "ARMS", small)
    monkeypatch.setattr(trainings, "STUDY", replace(
        trainings.STUDY, seeds=(2,), pilots=(9,), pilot_updates=2, development=best_at_1e_2, nothing=-inf,
        arms={(name,): (3e-3, 1e-2, 3e-2) for name in small},
        updates={(name,): (2, 3) if name in MAIN else (2,) for name in small}))
    for module, aims in ((single_vector_bottleneck, (10, 60)), (rule_of_the_bottleneck, (10, 60)),
                         (attention_alignment, (30,)), (reversal, (30,))):
        monkeypatch.setattr(module, "AIMS", aims)
    monkeypatch.setattr(translation, "WRITTEN", 5)
    monkeypatch.setattr(translation, "WORDS", 100)
    for module in (trainings, attention_alignment):
        monkeypatch.setattr(module, "to_choose", lambda: tuple(evaluation_set(30, 0, 6)))
    monkeypatch.setattr(exposure, "ASKED", {"fixed": 30, "general": 30})
    monkeypatch.setattr(exposure, "ENOUGH", 1)
    monkeypatch.setattr(single_vector_bottleneck, "COUNTED", 20)
    monkeypatch.setattr(single_vector_bottleneck, "ROUNDS", 1)
    monkeypatch.setattr(attention_alignment, "PULLS", (0.0, 4.0))
    monkeypatch.setattr(state_probe, "PROBED", {"fixed": 3, "backwards": 2})
    for name, value in {"LEARNED": 12, "ASKED": 5, "ROUNDS": 2}.items():
        monkeypatch.setattr(state_probe, name, value)


def test_every_experiment_is_measured(tiny: None, parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    told = trainings.measure(parts)
    assert set(told) == set(trainings.ARMS)
    assert told["fixed"]["lr"] == told["delay"]["lr"] == 1e-2 and told["delay"]["like"] == "fixed"
    assert set(told["general"]["loss"]) == {"2", "3"} and set(told["dot"]["loss"]) == {"2"}
    assert told["fixed"]["loss"]["4"]["seeds"] == [2] and told["backwards"]["history"]["2"][-1][0] == 2
    lengths = single_vector_bottleneck.measure(parts)
    assert set(lengths["arms"]["fixed"]["3"]["60"]) == {"exact", "sentences", "bleu", "length", "loss"}
    assert 0 < lengths["baselines"]["memory"]["test"]["10"]["read before"]["mean"] <= 1
    assert rule_of_the_bottleneck.verdict(lengths["arms"], "general", "end only", 2) == "untrained"
    found = attention_alignment.measure(parts)
    assert set(found["attention"]) == {"dot, 2", "general, 3"}
    assert rule_of_alignments.verdict(found, "dot, 2") == "not supported"
    turned = reversal.measure(parts)
    assert rule_of_reversal.verdict(turned["loss"]) in ("helps", "hurts", "undecided")
    assert turned["lags"]["delay"]["30"]["mean"] == turned["lags"]["fixed"]["30"]["mean"] + reversal.DELAY
    assert rule_of_reversal.predictions_confirmed(told) == (False, None)
    kept = state_probe.measure(parts)
    assert kept["places"] == [*range(state_probe.EACH), *range(-state_probe.EACH, 0)]
    assert len(kept["arms"]["backwards"]["untrained"]) == len(state_probe.PLACES) == len(kept["guessed"]["neighbours"])
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
