"""The smaller BERTs: the same texts in four ways, each asking what it should, and words that are in sight."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from plmlab.example import IGNORE, Batch
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.objectives import masked
from plmlab.world import World
from plmlab.world.datasets.batches import mixed_batches, pair_batches, sentence_batches
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch08 import smaller


@pytest.fixture(scope="module")
def batch(full: World) -> Batch:
    return mixed_batches(pair_batches(full, "train", world_tokenizer(), 100, 0),
                         sentence_batches(full, "train", world_tokenizer(), masked, 100, 0))(0)


def test_always_masked_hides_just_what_is_asked() -> None:
    batch, altered = (smaller.texts(way, 0)(0) for way in ("BERT", "always [MASK]"))
    mask = world_tokenizer().vocab.need("mask")
    asked = batch.targets != IGNORE
    assert (altered.tokens[asked] == mask).all() and torch.equal(altered.tokens[~asked], batch.tokens[~asked])
    shown = batch.tokens[asked]
    assert 0.7 < (shown == mask).float().mean() < 0.9
    assert torch.equal(altered.targets, batch.targets)
    assert torch.equal(altered.labels["next_sentence"], batch.labels["next_sentence"])


def test_unasked_drops_the_question_and_nothing_else(batch: Batch) -> None:
    torch.manual_seed(0)
    model = BERTPretraining(BERTConfig(len(world_tokenizer()), time=64, layers=1, model=16, heads=2, inner=32)).eval()
    altered = smaller.unasked(batch)
    assert torch.equal(altered.tokens, batch.tokens) and altered.labels == {}
    both, words = model.loss(batch), model.loss(altered)
    logits = model.next_sentence_logits(model.encoder(batch))
    follows = torch.nn.functional.cross_entropy(logits, batch.labels["next_sentence"])
    assert torch.allclose(both, words + follows, atol=1e-5)


class Repeating(BERTPretraining):
    """Names what it sees, in two of three positions."""

    def forward(self, batch: Batch) -> torch.Tensor:
        said = batch.tokens.clone()
        said[:, ::3] = 1
        return torch.nn.functional.one_hot(said, len(world_tokenizer())).float()


def test_words_in_sight_are_counted() -> None:
    whole = smaller.whole_sentences()
    asked = whole.targets != IGNORE
    assert torch.equal(whole.tokens[asked], whole.targets[asked]) and (whole.tokens[asked] > 38).all()
    assert whole.size[0] == 500 and int(asked.sum()) == int((whole.tokens > 38).sum())
    model = Repeating(BERTConfig(len(world_tokenizer()), layers=1, model=8, heads=1))
    positions = torch.arange(whole.size[1]).expand(whole.size)[asked]
    assert smaller.in_sight(model) == pytest.approx(float((positions % 3 != 0).float().mean()))


def test_next_words_asks_each_position_for_the_word_behind_it_and_shows_all(batch: Batch) -> None:
    altered = smaller.next_words(batch)
    whole = torch.where(batch.targets == IGNORE, batch.tokens, batch.targets)
    assert torch.equal(altered.tokens, whole) and altered.labels == {}
    for tokens, targets in zip(whole.tolist(), altered.targets.tolist(), strict=True):
        length = sum(token != 0 for token in tokens)
        assert targets == [*tokens[1:length], *[IGNORE] * (len(tokens) - length + 1)]


def test_a_left_to_right_model_can_not_see_what_it_is_asked_for(batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smaller, "LAYERS", 2)
    model = smaller.build("left to right", 0).eval()
    altered = smaller.next_words(batch)
    with torch.no_grad():
        before, changed = model(altered), altered.tokens.clone()
        changed[:, 9] = 40
        after = model(replace(altered, tokens=changed))
    moved = (after - before).abs().amax((0, 2))
    assert moved[:9].max() < 1e-5 and moved[9:].max() > 1e-3


def test_all_ways_read_the_same_texts_and_begin_with_the_same_weights() -> None:
    read = {way: smaller.texts(way, 3)(2) for way in smaller.WAYS}
    whole = {way: torch.where((batch.targets == IGNORE) | (way == "left to right"), batch.tokens, batch.targets)
             for way, batch in read.items()}
    assert all(torch.equal(text, whole["BERT"]) for text in whole.values())
    one, other = (smaller.build(way, 1).state_dict() for way in ("BERT", "left to right"))
    assert one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_what_is_kept_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("STEPS", 2), ("SAMPLE", 2), ("LAYERS", 1), ("WIDTH", 16)):
        monkeypatch.setattr(smaller, name, value)
    told = smaller.pretrain(str(tmp_path), "always [MASK]", 1e-3, 4)
    assert told["loss"] > 0 and 0 <= told["words in sight"] <= 1
    model, _ = smaller.train("always [MASK]", 1e-3, 4, 2, show=False)
    again = smaller.pretrained(str(tmp_path), "always [MASK]", 4)
    assert all(torch.equal(weight, model.encoder.state_dict()[name]) for name, weight in again.state_dict().items())
