"""The variants of chapter 11: their targets and inputs, their evaluation set, and saving and loading."""

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
WITH_CLOZE = [name for name, arm in arms.ARMS.items() if arm.cloze]


@pytest.fixture(autouse=True, scope="module")
def one_batch() -> Iterator[None]:
    """Evaluate on one batch."""
    with changed((arms, "EVAL_BATCHES", 1), forget=[arms.evaluation_batches]):
        yield


def ids() -> list[int]:
    return small_world_tokenizer().encode(" ".join(WORDS), plain=True)


@pytest.mark.parametrize("name", arms.ARMS)
@torch.no_grad()
def test_an_untrained_variant_is_at_chance_and_variants_of_a_network_have_one_size(name: str) -> None:
    model = arms.untrained(name, 0)
    batch, count = arms.evaluation_batches(name, "test")[0]
    assert model.loss(batch) == pytest.approx(torch.tensor(len(small_world_tokenizer())).log().item(), abs=0.3)
    assert count == int((batch.targets != IGNORE).sum())
    alike = next(other for other in arms.ARMS if arms.ARMS[other].network is arms.ARMS[name].network)
    assert sum(p.numel() for p in arms.untrained(alike, 0).parameters()) == sum(p.numel() for p in model.parameters())


def test_all_variants_are_evaluated_on_the_same_sentences_with_about_a_third_as_targets() -> None:
    read = {name: arms.evaluation_batches(name, "test")[0] for name in arms.ARMS}
    plain = {name: {tuple(sorted(set(row.tolist()) - {0, 2, 3, 4, 5, 6})) for row in batch.tokens}
             for name, (batch, _) in read.items() if name in ("GPT", "XLNet", "XLNet, ordered context")}
    assert len(set(map(frozenset, plain.values()))) == 1
    counts = {name: count for name, (_, count) in read.items()}
    words = counts["GPT"] - arms.EVAL_BATCH_SIZE
    for name, count in counts.items():
        share = {"GPT": 1.13, "XLNet, one target in six": 0.17}.get(name, 0.35)
        assert count / words == pytest.approx(share, abs=0.06), name


@pytest.mark.parametrize("name", WITH_CLOZE)
def test_masked_words_are_targets_and_not_in_the_input(name: str) -> None:
    """Changing them changes no prediction of a masked LM; in a permutation LM the first one changes the prediction of
    the second."""
    arm, vocab = arms.ARMS[name], small_world_tokenizer().vocab
    model, targets = arms.untrained(name, 1).eval(), (1, 5)
    changed = [*ids()[:5], ids()[0], *ids()[6:]], [ids()[0], ids()[3], *ids()[2:]]

    def predictions(tokens: list[int]) -> torch.Tensor:
        one = arm.cloze(tokens, targets, vocab)
        with torch.no_grad():
            logits = model(Batch.of([one], pad=0))[0]
        positions = (one.targets != IGNORE).nonzero().flatten().tolist()
        assert sorted(one.targets[positions].tolist()) == sorted(tokens[position] for position in targets)
        places = [int(one.position_ids[0, position]) for position in positions]
        return logits[[position for _, position in sorted(zip(places, positions, strict=True))]]

    first, second = predictions(ids())
    for tokens, moved in zip(changed, ((False, False), (False, arm.sequential)), strict=True):
        for before, after, differs in zip((first, second), predictions(tokens), moved, strict=True):
            assert ((before - after).abs().max() > 1e-6) == differs, (name, differs)


def test_without_position_compensation_no_mask_is_visible() -> None:
    """The query stream still has its own position; the content stream has no masks."""
    vocab = small_world_tokenizer().vocab
    one = arms.without_position_compensation(ids(), vocab=vocab, rng=Random(0), predict=[2, 6])
    both = arms.masked_and_permuted(ids(), vocab=vocab, rng=Random(0), predict=[2, 6])
    time = len(ids()) + 2
    assert not one.visible.dense()[:, time:].any() and not one.query_stream_mask.dense()[:, time:].any()
    assert torch.equal(one.query_stream_mask.dense()[:, :time], both.query_stream_mask.dense()[:, :time])
    assert one.tokens[time:].tolist() == [vocab.mask] * 2 and one.position_ids[0, time:].tolist() == [2, 6]


def test_masks_in_xlnets_layout_are_berts() -> None:
    vocab = small_world_tokenizer().vocab
    one = arms.masked_in_xlnet_layout(ids(), vocab=vocab, rng=Random(0), select=[3], corrupt=always_mask)
    assert one.tokens.tolist() == [*ids()[:2], vocab.mask, *ids()[3:], vocab.sep, vocab.cls]
    assert (one.targets != IGNORE).nonzero().flatten().tolist() == [2] and one.targets[2] == ids()[2]
    assert one.segments.tolist() == [0] * 9 + [2] and one.query_stream_mask is None and one.visible.dense().all()


def test_saved_weights_are_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("BATCH", 4), ("WIDTH", 16)):
        monkeypatch.setattr(arms, name, value)
    loss = arms.train_and_save(str(tmp_path), "XLNet", 3, 1e-3, 4)
    assert arms.loss("XLNet", arms.load_trained(str(tmp_path), "XLNet", 3, 4)) == loss
    assert arms.loss("XLNet", arms.train("XLNet", 3, 1e-3, 4)) == loss
    assert arms.loss("XLNet", arms.train("XLNet", 3, 1e-3, 5)) != loss


def test_a_learning_rate_that_diverges_has_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    def diverges(*_: object) -> None:
        raise Diverged("not a number", 3, History(1))
    monkeypatch.setattr(arms, "train", diverges)
    assert arms.lr_score("BERT", 1.0, 0) is None
