"""A BERT that has read as many tokens as the course's GLM."""

from random import Random
from typing import Any

import pytest
import torch

from plmlab.checkpoints import home
from plmlab.example import Batch, Example
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.recipes import Parts
from plmlab.visibility import Visibility
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch12 import english_bert


def little(vocab: int) -> BERTPretraining:
    return BERTPretraining(BERTConfig(vocab, 192, 1, 16, 2, 32, dropout=0.0, attention_dropout=0.0))


def of_length(count: int) -> Example:
    tokens = torch.full((count,), 50)
    return Example(tokens, torch.arange(count)[None], torch.zeros_like(tokens), Visibility.full(count), tokens)


def test_what_is_told_of_the_checkpoint_is_the_command_that_made_it() -> None:
    command = (home() / english_bert.CHECKPOINT / "README.md").read_text(encoding="utf-8")
    for option in (f"--steps {english_bert.UPDATES}", f"--batch {english_bert.BATCH}", f"--time {english_bert.TIME}",
                   f"--accumulate {english_bert.ACCUMULATE}", f"--seed {english_bert.SEED}", "--corpus world",
                   f"--choose rate={english_bert.RATE}"):
        assert f" {option}" in command


def test_tokens_are_counted_without_padding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Updates 0 and 2 are looked at, of two batches each: 3 + 5 and 4 + 1 real tokens, then one more in each text."""
    asked = []

    def batches(step: int) -> Batch:
        asked.append(step)
        return Batch.of([of_length(count + step // 4) for count in ((3, 5), (4, 1))[step % 2]], pad=0)
    for name, value in (("EVERY", 2), ("UPDATES", 4), ("ACCUMULATE", 2), ("texts", lambda name, seed: batches)):
        monkeypatch.setattr(english_bert, name, value)
    assert english_bert.tokens_an_update("GLM") == (13 + 17) / 2 and asked == [0, 1, 4, 5]
    assert english_bert.glm_tokens() == 60


@pytest.mark.parametrize("name", ["GLM", "BERT"])
def test_what_is_read_is_english_with_three_words_in_ten_hidden(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(english_bert, "world_texts", lambda *given, **choices: asked.append((given, choices)))
    english_bert.texts(name, 5)
    [((text, pair, tokenizer), choices)] = asked
    assert tokenizer is world_tokenizer()
    assert choices == {"batch": 32, "accumulate": 4, "time": 192, "seed": 5, "bilingual": False}
    one = text(range(51, 151), vocab=world_tokenizer().vocab, rng=Random(0))
    two = pair(range(51, 101), range(101, 151), True, vocab=world_tokenizer().vocab, rng=Random(0))
    special = world_tokenizer().vocab.special
    for example in (one, two):
        said = [token for token in example.targets.tolist() if token >= 0 and token not in special]
        assert 30 <= len(said) <= 36
    assert one.position_ids.shape[0] == (2 if name == "GLM"
                                         else 1) and ("next_sentence" in two.labels) == (name == "BERT")


def test_bert_is_pretrained_on_as_many_tokens_and_found_again(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[float, int, int]] = []

    def learn(lr: float, updates: int, seed: int) -> BERTPretraining:
        made.append((lr, updates, seed))
        torch.manual_seed(7)
        return little(len(world_tokenizer()))
    for name, value in (("glm_tokens", lambda: 900.0), ("tokens_an_update", lambda name: 200.0 * (name == "BERT")),
                        ("lr_score", lambda lr, seed: -abs(lr - 3e-3)), ("bert", little), ("learn", learn),
                        ("loss", lambda model: 1.5)):
        monkeypatch.setattr(english_bert, name, value)
    told = english_bert.measure(parts)
    assert made == [(3e-3, round(900 / 200), 0)]
    assert told["lr"] == 3e-3 and told["updates"] == 4 and told["loss"] == 1.5 and told["million"] == 9e-4
    found: Any = english_bert.pretrained(str(parts.folder), "BERT")
    assert not found.training
    assert all(torch.equal(a, b) for a, b in zip(found.parameters(), learn(0, 0, 0).parameters(), strict=True))


def test_bert_learns_at_a_rate_and_is_judged_by_other_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("bert", little), ("BATCH", 4), ("ACCUMULATE", 1), ("JUDGED", 1), ("PILOT", 2)):
        monkeypatch.setattr(english_bert, name, value)
    batch = english_bert.texts("BERT", english_bert.OTHERS)(0)
    model = english_bert.learn(1e-3, 2, 8)
    assert english_bert.lr_score(1e-3, 8) == pytest.approx(-float(model.loss(batch).detach()))
    torch.manual_seed(8)
    fresh = little(len(world_tokenizer()))
    assert not torch.equal(fresh.bias, model.bias)


def test_glm_is_the_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    from plmlab.models.glm import GLMConfig, GLMPretraining
    glm = GLMPretraining(GLMConfig(40, 16, 1, 16, 2, 32))
    asked = []
    monkeypatch.setattr(english_bert, "load", lambda folder, expect: asked.append((folder, expect)) or (glm, None))
    assert english_bert.pretrained("", "GLM") is glm and asked == [("glm-world", "glm-pretraining")]
