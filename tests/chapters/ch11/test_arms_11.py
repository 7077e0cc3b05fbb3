"""The arms of chapter 11: each is asked what it says it is asked, is judged on the same sentences, and comes back."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import torch
from toy_size import changed

from plmlab.chapters.ch11 import arms
from plmlab.example import IGNORE, Batch
from plmlab.objectives import always_mask
from plmlab.train import Diverged, History
from plmlab.world.datasets.tokenizer import small_world_tokenizer

WORDS = ["the", "cup", "near", "the", "chairs", "is", "lost", "."]
ASKED = [name for name, arm in arms.ARMS.items() if arm.ask]


@pytest.fixture(autouse=True, scope="module")
def one_batch() -> Iterator[None]:
    """An arm's loss is told by its first batch."""
    with changed((arms, "JUDGED", 1), forget=[arms.evaluation_batches]):
        yield


def ids() -> list[int]:
    return small_world_tokenizer().encode(" ".join(WORDS), plain=True)


@pytest.mark.parametrize("name", arms.ARMS)
@torch.no_grad()
def test_every_arm_says_what_it_is_trained_to_say(name: str) -> None:
    """Untrained, as much as a word of the vocabulary by chance; and no two arms of a network differ in size."""
    model = arms.new(name, 0)
    batch, count = arms.evaluation_batches(name, "test")[0]
    assert model.loss(batch) == pytest.approx(torch.tensor(len(small_world_tokenizer())).log().item(), abs=0.3)
    assert count == int((batch.targets != IGNORE).sum())
    alike = next(other for other in arms.ARMS if arms.ARMS[other].network is arms.ARMS[name].network)
    assert sum(p.numel() for p in arms.new(alike, 0).parameters()) == sum(p.numel() for p in model.parameters())


def test_all_are_judged_on_the_same_sentences_and_asked_for_about_a_third() -> None:
    read = {name: arms.evaluation_batches(name, "test")[0] for name in arms.ARMS}
    plain = {name: {tuple(sorted(set(row.tolist()) - {0, 2, 3, 4, 5, 6})) for row in batch.tokens}
             for name, (batch, _) in read.items() if name in ("GPT", "XLNet", "XLNet, all in order")}
    assert len(set(map(frozenset, plain.values()))) == 1
    counts = {name: count for name, (_, count) in read.items()}
    words = counts["GPT"] - arms.JUDGED_TEXTS
    for name, count in counts.items():
        share = {"GPT": 1.13, "XLNet, one in six": 0.17}.get(name, 0.35)
        assert count / words == pytest.approx(share, abs=0.06), name


@pytest.mark.parametrize("name", ASKED)
def test_hidden_words_are_asked_and_not_shown(name: str) -> None:
    """Both are targets; changed, they change no guess of an arm of masks, and the second none of an arm with an
    order, in whose sight the first is."""
    arm, vocab = arms.ARMS[name], small_world_tokenizer().vocab
    model, asked = arms.new(name, 1).eval(), (1, 5)
    changed = [*ids()[:5], ids()[0], *ids()[6:]], [ids()[0], ids()[3], *ids()[2:]]

    def guesses(tokens: list[int]) -> torch.Tensor:
        one = arm.ask(tokens, asked, vocab)
        with torch.no_grad():
            logits = model(Batch.of([one], pad=0))[0]
        positions = (one.targets != IGNORE).nonzero().flatten().tolist()
        assert sorted(one.targets[positions].tolist()) == sorted(tokens[position] for position in asked)
        places = [int(one.position_ids[0, position]) for position in positions]
        return logits[[position for _, position in sorted(zip(places, positions, strict=True))]]

    first, second = guesses(ids())
    for tokens, moved in zip(changed, ((False, False), (False, arm.in_order)), strict=True):
        for before, after, differs in zip((first, second), guesses(tokens), moved, strict=True):
            assert ((before - after).abs().max() > 1e-6) == differs, (name, differs)


def test_without_compensation_no_mask_is_seen() -> None:
    """The query stream still knows its own place; the content stream has no masks."""
    vocab = small_world_tokenizer().vocab
    one = arms.uncompensated(ids(), vocab=vocab, rng=Random(0), predict=[2, 6])
    both = arms.masked_and_permuted(ids(), vocab=vocab, rng=Random(0), predict=[2, 6])
    time = len(ids()) + 2
    assert not one.visible.dense()[:, time:].any() and not one.query_stream_mask.dense()[:, time:].any()
    assert torch.equal(one.query_stream_mask.dense()[:, :time], both.query_stream_mask.dense()[:, :time])
    assert one.tokens[time:].tolist() == [vocab.mask] * 2 and one.position_ids[0, time:].tolist() == [2, 6]


def test_masks_in_xlnets_layout_are_berts() -> None:
    vocab = small_world_tokenizer().vocab
    one = arms.denoised(ids(), vocab=vocab, rng=Random(0), select=[3], corrupt=always_mask)
    assert one.tokens.tolist() == [*ids()[:2], vocab.mask, *ids()[3:], vocab.sep, vocab.cls]
    assert (one.targets != IGNORE).nonzero().flatten().tolist() == [2] and one.targets[2] == ids()[2]
    assert one.segments.tolist() == [0] * 9 + [2] and one.query_stream_mask is None and one.visible.dense().all()


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    loss = arms.train(str(tmp_path), "XLNet", 3, 1e-3, 4)
    assert arms.loss("XLNet", arms.trained(str(tmp_path), "XLNet", 3, 4)) == loss
    assert arms.loss("XLNet", arms.learn("XLNet", 3, 1e-3, 4)) == loss
    assert arms.loss("XLNet", arms.learn("XLNet", 3, 1e-3, 5)) != loss


def test_a_rate_that_diverges_is_the_worst(monkeypatch: pytest.MonkeyPatch) -> None:
    def diverges(*_: object) -> None:
        raise Diverged("not a number", 3, History(1))
    monkeypatch.setattr(arms, "learn", diverges)
    assert arms.lr_score("BERT", 1.0, 0) is None
