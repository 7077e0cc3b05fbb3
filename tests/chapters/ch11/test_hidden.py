"""Hidden words: the exam is what it says, and a reader who knows the exact answer gets the exact figures."""

from collections.abc import Sequence
from math import log

import pytest
import torch
from torch import Tensor, nn

from plmlab import world
from plmlab.chapters.ch11 import arms, hidden
from plmlab.chapters.ch11.hidden import (
    AT_ONCE,
    IN_ORDER,
    IN_TURN,
    KINDS,
    MaskedWords,
    exact,
    impossible,
    masked_words,
    nats,
    orders,
)
from plmlab.example import IGNORE, Batch
from plmlab.world.datasets.tokenizer import small_world_tokenizer


class Knowing(nn.Module):
    """Says at each asked position the exact chance of every word, given what its Example shows: the words in sight, and
    of those that are asked the ones that its query stream sees."""

    def forward(self, batch: Batch) -> Tensor:
        vocab, time = small_world_tokenizer().vocab, batch.size[1]
        logits = torch.full((*batch.size, len(small_world_tokenizer())), -1e9)
        looks = (batch.query_stream_mask or batch.visible).dense(time, time)
        for row, tokens in enumerate(batch.tokens.tolist()):
            places = batch.position_ids[row % len(batch.position_ids), 0].tolist()
            asked = [position for position, target in enumerate(batch.targets[row].tolist()) if target != IGNORE]
            first = int(tokens[0] == vocab.cls)
            length = places[tokens.index(vocab.sep)] - first
            for position in asked:
                seen = [key for key in range(time) if looks is None or looks[row, 0, position, key]]
                known = {places[key] - first: tokens[key] for key in seen if tokens[key] not in vocab.special}
                words = [small_world_tokenizer().tokens([known.get(place, 0)])[0] for place in range(length)]
                missing = [place for place in range(length) if place not in known]
                beliefs = dict(zip(missing, world.small().posterior(words, missing, "test"), strict=True))
                for word, p in beliefs[places[position] - first].items():
                    logits[row, position, small_world_tokenizer().encode(word, plain=True)[0]] = log(p)
        return logits


@pytest.mark.parametrize("kind", KINDS)
def test_the_exam_of_a_kind(kind: str) -> None:
    test_set = masked_words(kind)
    assert len({gap.words for gap in test_set}) == len(test_set) >= 90
    assert hidden.read(kind) > 0.9, "and that is told"
    for gap in test_set:
        assert len(gap.hidden) == (1 if kind == "a word" else 2) and gap.hidden == tuple(sorted(gap.hidden))
        if kind in ("a name", "neighbours"):
            assert gap.hidden[1] - gap.hidden[0] == 1
    if kind == "a name":
        assert all(gap.words[position][0].isupper() for gap in test_set for position in gap.hidden)


def test_the_best_product_and_the_exact_joint_by_hand() -> None:
    """Of a noun and its verb the number must agree: guessed apart, half of all is wrong."""
    gap = next(gap for gap in masked_words("noun and verb") if len(gap.words) == 4)
    together = world.small().joint(list(gap.words), gap.hidden, "test")
    true = tuple(gap.words[position] for position in gap.hidden)
    left = sum(p for said, p in together.items() if said[0] == true[0])
    right = sum(p for said, p in together.items() if said[1] == true[1])
    found = exact(gap)
    assert found.together == pytest.approx(-log(together[true])) and found.apart == pytest.approx(-log(left * right))
    ones = {said: sum(p for other, p in together.items() if other[0] == said) for said in {a for a, _ in together}}
    others = {said: sum(p for other, p in together.items() if other[1] == said) for said in {b for _, b in together}}
    assert found.impossible == pytest.approx(sum(p * q for a, p in ones.items() for b, q in others.items()
                                                 if (a, b) not in together))
    assert exact(masked_words("a word")[0]).impossible == pytest.approx(0)


@pytest.mark.parametrize("name", ["BERT", "masks on XLNet", "MPNet", "order on MPNet", "XLNet"])
@pytest.mark.parametrize("kind", ["a word", "a name", "noun and verb"])
def test_who_knows_pays_the_exact_price(name: str, kind: str) -> None:
    """One word after the other, the joint price, in either order; apart, that of the best product. And it draws no
    impossible name one after the other, and apart as many as the exact marginals do."""
    arm, test_set, knowing = arms.ARMS[name], masked_words(kind)[:12], Knowing()
    prices = [exact(gap).together if arm.in_order else exact(gap).apart for gap in test_set]
    for i in range(len(orders(test_set[0]))):
        got = nats(arm, knowing, [(gap, orders(gap)[i]) for gap in test_set])
        assert got.sum(1).tolist() == pytest.approx(prices, abs=1e-4)
    if kind == "noun and verb":
        wrong = impossible(arm, knowing, test_set * 4, IN_ORDER if arm.in_order else AT_ONCE)
        assert wrong == 0 if arm.in_order else 0.2 < wrong < 0.8


@pytest.mark.parametrize("kind", ["a name", "noun and verb"])
def test_who_knows_pays_the_joint_price_when_asked_in_turn(kind: str) -> None:
    """Though it guesses apart when it is asked at once; and the second word is priced with the first in sight."""
    bert, test_set, knowing = arms.ARMS["BERT"], masked_words(kind)[:12], Knowing()
    for i in (0, 1):
        asked = [(gap, orders(gap)[i]) for gap in test_set]
        in_turn = nats(bert, knowing, asked, IN_TURN)
        assert in_turn.sum(1).tolist() == pytest.approx([exact(gap).together for gap in test_set], abs=1e-4)
        at_once, second = nats(bert, knowing, asked), nats(bert, knowing, [(gap, order[1:]) for gap, order in asked])
        assert torch.equal(in_turn, torch.cat([at_once[:, :1], second], 1))
    assert impossible(bert, knowing, test_set * 4, IN_TURN) == 0


def test_what_is_drawn_at_random_is_impossible() -> None:
    class Wild(nn.Module):
        def forward(self, batch: Batch) -> Tensor:
            return torch.zeros(*batch.size, len(small_world_tokenizer()))
    assert impossible(arms.ARMS["XLNet"], Wild(), masked_words("a name")[:30], IN_ORDER) > 0.9


def test_an_arm_is_examined_by_what_was_kept(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    few: dict[str, Sequence[MaskedWords]] = {kind: masked_words(kind)[:6] for kind in KINDS}
    monkeypatch.setattr(hidden, "masked_words", lambda kind, source: few[kind])
    monkeypatch.setattr(arms, "JUDGED", 1)
    arms.evaluation_batches.cache_clear()
    arms.train(str(tmp_path), "MPNet", 2, 1e-3, 0)
    told = hidden.examined(str(tmp_path), "MPNet", 2, 0)
    model = arms.trained(str(tmp_path), "MPNet", 2, 0)
    arms.evaluation_batches.cache_clear()
    one = few["a name"]
    both = [nats(arms.ARMS["MPNet"], model, [(gap, orders(gap)[i]) for gap in one]).sum(1) for i in (0, 1)]
    assert told["a name"]["nats"] == pytest.approx(float((both[0] + both[1]).mean() / 2))
    assert told["a name"]["disagreement"] == pytest.approx(float((both[0] - both[1]).abs().mean()))
    assert set(told["a word"]) == {"nats"} and told["neighbours"]["impossible"] > 0.5
