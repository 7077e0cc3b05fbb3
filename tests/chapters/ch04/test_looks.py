"""Links by hand, other weights, the lag by hand, the probe on a planted word, and first mistakes."""

import pytest
import torch
from torch import Tensor, tensor

from plmlab.chapters.ch04 import exposure, held, looks, other_weights, reversal
from plmlab.chapters.ch04.exposure import first_mistakes
from plmlab.chapters.ch04.translation import Arm, exam, new, pairs
from plmlab.interpret.alignments import looks_across
from plmlab.world.datasets.passages import Passage

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


@pytest.mark.parametrize(("found", "told"), [(0.9, "holds"), (0.8, "holds in part"), (0.6, "fails")])
def test_the_rule_of_alignments(found: float, told: str) -> None:
    figures = {"attention": {"dot": {"30": {"shift 0": {"mean": found}}}}, "pull": 4.0,
               "ibm": {"0": {"30": {"mean": 0.7}}, "4": {"30": {"mean": 0.85}}}}
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
    turned = reversal.lags([PASSAGE], Arm("fixed", backwards=True))
    assert turned == {"mean": ((4 - 0) + (4 - 1 + 2)) / 2, "shortest": 4}


def lost(first: float, last: float, whole: float, spread: float = 0.0) -> dict:
    return {"30": {part: {"mean": value, "low": value - spread, "high": value + spread}
                   for part, value in {"first": first, "last": last, "whole": whole}.items()}}


def test_the_rules_of_reversal() -> None:
    told = {"fixed": lost(.5, .4, .5), "backwards": lost(.1, .45, .3), "delay": lost(.6, .5, .6),
            "delay, backwards": lost(.5, .5, .55)}
    assert reversal.verdict(told) == "helps"
    assert reversal.is_lag(told) == (True, True)
    assert reversal.verdict(told | {"backwards": lost(.5, .4, .52, .1)}) == "open"
    assert reversal.verdict(told | {"backwards": lost(.9, .4, .9)}) == "hurts"
    assert reversal.is_lag(told | {"delay, backwards": lost(.1, .5, .4)}) == (True, False)
    assert reversal.is_lag(told | {"backwards": lost(.45, .1, .3)})[0] is False


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


def test_first_mistakes() -> None:
    def cut(text: str) -> tuple[str, ...]:
        return tuple(text.split())

    passage = Passage((), (), cut("一 。 二 。 三 。"), ())
    found = first_mistakes([cut("一 。 四 五 。 三 。")], [passage])
    assert [(one.right, one.own, one.next) for one in found] == [
        (cut("一 。 二 。"), cut("一 。 四 五 。"), cut("三 。"))]
    for text in ("一 。 二 。 三 。", "一 。 二 。 四 。", "一 。 四", "一 。"):
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
    assert torch.allclose(other_weights.shuffled(0)(weights, real).sort(-1).values, weights.sort(-1).values)
    assert torch.equal(other_weights.one(weights, real).argmax(-1), weights.argmax(-1))


def test_weights_that_stay_change_nothing_and_others_do() -> None:
    model, some = new(Arm("general", 16), 0), exam(20, 0, 4)
    same = other_weights.said_as_before(model, some, lambda weights, real: weights, Arm("general"))
    assert same == {"same": 1.0, "moved": 0.0, "beliefs": 0.0}
    turned = other_weights.said_as_before(model, some, other_weights.one, Arm("general"))
    assert turned["moved"] > 0.5 and turned["beliefs"] > 0
    stepwise = other_weights.said_as_before(new(Arm("additive", 16), 0), some, other_weights.one, Arm("additive"))
    assert stepwise["moved"] > 0.5
