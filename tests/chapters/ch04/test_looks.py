"""Links by hand, other weights, the lag by hand, the probe on a planted word, and first mistakes."""

import pytest
import torch
from torch import Tensor, tensor

from plmlab import checkpoints
from plmlab.chapters.ch04 import looks, other_weights, reversal
from plmlab.chapters.ch04.gold import gold
from plmlab.chapters.ch04.translation import Arm, exam, new, pairs
from plmlab.interpret.alignments import looks_across
from plmlab.world.datasets.passages import Passage
from studies.ch04 import exposure, held
from studies.ch04.exposure import first_mistakes

PASSAGE = Passage((("a", "b", "c"),), ("a", "b", "c"), ("x", "y", "z"), ((0, 2), (2, 1)))


def test_right_links_and_shifts_by_hand() -> None:
    weights = [tensor([[.1, .2, .7, 0], [.2, .6, .2, 0], [.5, .3, .2, 0], [0, .9, 0, .1]])]
    assert looks.right(weights, [PASSAGE]) == 0.5
    assert looks.right(weights, [PASSAGE], 1) == 0.5
    assert looks.right(weights, [PASSAGE], -1) == 1.0
    assert [looks.right(weights, [PASSAGE], behind=behind) for behind in (-1, 1)] == [0.5, 0.0]
    assert looks.on_partners(weights, [PASSAGE]) == pytest.approx((0.7 + 0.3) / 2)


def test_the_end_may_be_looked_at_and_is_no_partner() -> None:
    assert looks.right([tensor([[0, 0, .4, .6], [0, 0, 0, 1.0], [0, .6, 0, .4]])], [PASSAGE]) == 0.5


def test_the_diagonal() -> None:
    straight = Passage((), ("a", "b"), ("x", "y", "z", "u"), ((0, 0), (1, 0), (3, 1)))
    assert looks.diagonal([straight]) == 1.0
    assert looks.diagonal([Passage((), ("a", "b"), ("x", "y"), ((0, 1), (1, 1)))]) == 0.5


@pytest.mark.parametrize(("found", "told"), [
    ((0.9, 0.88), "holds"), ((0.9, 0.86), "holds in part"), ((0.8, 0.8), "holds in part"), ((0.6, 0.5), "fails"),
    ((0.6, 0.7), "open"), ((0.71, 0.8), "open")])
def test_the_rule_of_alignments(found: tuple[float, float], told: str) -> None:
    figures = {"attention": {"dot": {"30": {"shift 0": {"values": list(found)}}}}, "pull": 4.0,
               "ibm": {"0": {"30": {"values": [0.7, 0.7]}}, "4": {"30": {"values": [0.85, 0.85]}}}}
    assert looks.verdict(figures, "dot") == told


def test_heads_average_to_what_is_looked_at() -> None:
    model, some = new(Arm("transformer", 16), 0), exam(20, 0, 4)
    every = looks.heads(model, some)
    assert len(every) == 8
    mean = torch.stack([torch.stack(rows) for rows in every.values()]).mean(0)
    assert torch.allclose(mean, looks_across(model, pairs(some)), atol=1e-6)


def test_lags_by_hand() -> None:
    """Read a b c [END], then x is said at slot 0: c is read 2 slots before [END]'s end, a 4 slots."""
    assert reversal.lags([PASSAGE], Arm("fixed")) == {"mean": ((4 - 2) + (4 - 1 + 2)) / 2, "shortest": 2}
    turned = reversal.lags([PASSAGE], Arm("fixed", order="backwards"))
    assert turned == {"mean": ((4 - 0) + (4 - 1 + 2)) / 2, "shortest": 4}


@pytest.mark.parametrize(("forwards", "backwards", "told"), [
    ((.5, .6), (.3, .4), "helps"), ((.5, .6), (.45, .55), "open"), ((.5, .6), (.7, .9), "hurts")])
def test_the_rule_of_reversal(forwards: tuple[float, float], backwards: tuple[float, float], told: str) -> None:
    losses = {name: {"30": {"whole": {"low": low, "high": high}}}
              for name, (low, high) in {"fixed": forwards, "backwards": backwards}.items()}
    assert reversal.verdict(losses) == told


def test_the_signs_of_the_lag() -> None:
    def learned(*when: float) -> dict:
        return {"history": {str(seed): [[100, 0.9], [updates, 0.4], [2000, 0.6]] for seed, updates in enumerate(when)}}

    never = {"history": {"0": [[100, 0.9], [2000, 0.6]]}}
    assert reversal.begun(learned(700)["history"]["0"]) == 700
    told = {"fixed": learned(900, 1000), "last sentence first": learned(500, 800), "backwards": learned(400, 400),
            "delay": learned(1500, 1600), "delay, backwards": learned(950, 1000)}
    assert reversal.signs(told) == (True, True)
    assert reversal.signs(told | {"last sentence first": learned(500, 950)})[0] is False
    assert reversal.signs(told | {"delay, backwards": learned(700, 800)})[1] is False
    assert reversal.signs(told | {"delay, backwards": never}) == (True, True)
    assert reversal.signs(told | {"delay": never, "delay, backwards": never})[1] is None


def test_the_last_sentence_first_keeps_its_links() -> None:
    one = Passage((("a", "b"), ("c", "d", "e")), ("a", "b", "c", "d", "e"), ("x", "y", "z"), ((0, 1), (1, 2), (2, 4)))
    turned = one.last_sentence_first()
    assert turned.english == ("c", "d", "e", "a", "b")
    assert [turned.english[other] for _, other in turned.partners] == ["b", "c", "e"]
    assert turned.last_sentence_first() == one


def test_a_probe_finds_what_is_planted_and_no_more() -> None:
    """Place 0 stands in the state, place 1 does not."""
    generator = torch.Generator().manual_seed(0)

    def drawn(count: int) -> tuple[Tensor, Tensor]:
        words = torch.randint(5, 9, (count, 2), generator=generator)
        return torch.cat([torch.eye(9)[words[:, 0]], torch.randn(count, 3, generator=generator)], -1), words

    (states, words), (fresh, asked) = drawn(400), drawn(200)
    planted, absent = held.probed(states, words, fresh, asked)
    assert planted == 1.0
    assert 0.1 < absent < 0.45


def test_a_word_is_written_if_its_sentence_stands_where_it_should(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "PLACES", (0, 1, 2, -2, -1))
    one = Passage((), ("a", "b", ".", "c", "."), ("一", "。", "二", "。"), ())
    for text, told in (("一。三。", [1, 1, 1, 0, 0]), ("二。", [0] * 5), ("二。二。", [0, 0, 0, 1, 1])):
        monkeypatch.setattr(held, "translations", lambda model, some, arm, text=text: [tuple(text)])
        assert held.written_rightly(new(Arm("fixed", 8), 0), [one], "fixed") == told


def test_a_guess_by_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "PLACES", (0, 1, -1))
    learned = [Passage((), tuple(text.split()), (), ()) for text in ("a b c", "a b c", "a d c", "e b f")]
    asked = [Passage((), tuple(text.split()), (), ()) for text in ("a b c", "a d c", "x b f")]
    monkeypatch.setattr(held, "long_enough", lambda seed, count: learned if seed == "learned" else asked)
    told = held.guessed(2)
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
    model, passage = new(Arm("general", 16), 0).requires_grad_(False), exam(30, 1, 1)[0]
    whole = -model.eval()(pairs([passage])).log_softmax(-1)[0]
    targets = pairs([passage]).targets[0]
    lost, _ = exposure.cost(model, passage, passage.chinese[:4], passage.chinese[4:9])
    assert lost == pytest.approx(float(whole[torch.arange(4, 9), targets[4:9]].mean()), rel=1e-4)


def test_other_weights_are_weights_on_real_words() -> None:
    model, some = new(Arm("general", 16), 0), [*exam(10, 0, 3), *exam(30, 0, 2)]
    real = pairs(some).source.looked_at[:, None, None]
    weights = looks_across(model, pairs(some))[:, None]
    for exchange in (other_weights.shuffled(0), other_weights.even, other_weights.one):
        changed = exchange(weights, real)
        assert torch.allclose(changed.sum(-1), torch.ones(()))
        assert not changed.masked_select(~real.expand_as(changed)).any()
    turned = other_weights.shuffled(0)(weights, real)
    assert torch.allclose(turned.sort(-1).values, weights.sort(-1).values)
    assert not torch.allclose(turned, weights)
    assert torch.equal(other_weights.one(weights, real).argmax(-1), weights.argmax(-1))


def test_weights_that_stay_change_nothing_and_others_do() -> None:
    model, some = new(Arm("general", 16), 0), exam(20, 0, 4)
    same = other_weights.said_as_before(model, some, lambda weights, real: weights, Arm("general"))
    assert same == pytest.approx({"same": 1.0, "same, gold": 1.0, "moved": 0.0, "beliefs": 0.0}, abs=1e-5)
    turned = other_weights.said_as_before(model, some, other_weights.one, Arm("general"))
    assert turned["moved"] > 0.5 and turned["beliefs"] > 0
    stepwise = other_weights.said_as_before(new(Arm("additive", 16), 0), some, other_weights.one, Arm("additive"))
    assert stepwise["moved"] > 0.5


def test_with_the_source_of_another_passage() -> None:
    model, some = checkpoints.load("general-passages")[0], exam(20, 0, 6)
    kept = {part: other_weights.of_another(model, some, Arm("general"), part)["same"]
            for part in ("source", "slots", "last state")}
    assert kept["source"] <= kept["slots"] < 0.9 < kept["last state"] <= 1
    for part in kept:
        assert other_weights.of_another(model, [some[0]] * 2, Arm("general"), part) == {"same": 1.0, "same, gold": 1.0}
    asked = pairs(some)
    assert [int(row.sum()) for row in other_weights.linked(some, asked)] == [len(gold(one)) for one in some]


def test_what_hangs_on_no_look_is_free() -> None:
    model, some = checkpoints.load("general-passages")[0].eval(), exam(20, 0, 6)
    told = other_weights.on_partners(model, some, Arm("general"))
    assert sum(count for count, _ in told.values()) == sum(len(gold(one)) for one in some) > 20
    assert sum(count * share for count, share in told.values()) == pytest.approx(
        looks.right(looks.looked(model, some), some) * sum(len(gold(one)) for one in some))
    assert 0 < told["free"][0] < told["needed"][0]
    with torch.no_grad():
        model.combine.weight[:, :128] = 0
    assert bool(other_weights.free(model, some, Arm("general")).all())
    assert other_weights.on_partners(model, some, Arm("general"))["needed"][0] == 0


def test_all_weight_on_one_slot() -> None:
    model, some = checkpoints.load("general-passages")[0], exam(20, 0, 6)
    told = other_weights.single_looks(model, some, Arm("general"))
    assert 0 < told["asked"] < sum(len(gold(one)) for one in some)
    assert 0 < told["slots"] < told["another"] <= 1 and told["slots"] < told["partner"] <= 1
    with torch.no_grad():
        model.combine.weight[:, :128] = 0
    told = other_weights.single_looks(model, some, Arm("general"))
    assert told["another"] == told["partner"] == told["slots"] == 1
