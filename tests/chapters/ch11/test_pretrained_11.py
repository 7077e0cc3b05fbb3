"""The pretrained models of chapter 11: their commands, equal amounts of text, and one pretraining of the baseline."""

from pathlib import Path

import pytest
import torch

from plmlab import world
from plmlab.checkpoints import README, home, save
from plmlab.example import IGNORE
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.models.mpnet import MPNet
from plmlab.models.xlnet import XLNet, XLNetConfig, XLNetPretraining
from plmlab.pretraining import Plan
from plmlab.pretraining.material import world_batches
from plmlab.recipes import Parts
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch11 import pretrained


@pytest.mark.parametrize("model", pretrained.BUNDLED)
def test_a_bundled_model_was_made_by_its_plan(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = (home() / pretrained.BUNDLED[model] / README).read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)  # where the checkpoint is not there yet
    plan = Plan(**pretrained.PLANS[model], out=f"data/checkpoints/{pretrained.BUNDLED[model]}")
    assert told.split("```")[1].strip() == plan.command


@pytest.mark.parametrize(("model", "kind"), [("MPNet", MPNet), ("XLNet", XLNet)])
def test_the_encoder_of_a_bundled_model(model: str, kind: type, tmp_path: Path) -> None:
    assert type(pretrained.encoder(pretrained.load_model(str(tmp_path), model))) is kind


def test_the_plans_differ_in_what_they_train_alone() -> None:
    plans = pretrained.PLANS.values()
    assert {name for plan in plans for name in plan if plan[name] != pretrained.SHARED.get(name)} == {
        "model", "lr", "choose"}


def test_all_models_have_the_same_number_of_training_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each position counts once, whether or not one of MPNet's masks has it too."""
    monkeypatch.setattr(pretrained, "EVERY", 1400)
    read = {model: pretrained.million_tokens(model) for model in pretrained.PLANS}
    assert read["BERT"] == read["MPNet"] == pytest.approx(read["XLNet"], rel=0.06)
    assert read["BERT"] == pytest.approx(6.0, rel=0.06)


def test_bert_and_mpnet_read_the_same_texts() -> None:
    """Apart from what is hidden from BERT; MPNet's masks behind a text stand at places in it."""
    vocab = world_tokenizer().vocab
    made = {model: world_batches(Plan(**pretrained.PLANS[model], out="nowhere"), world_tokenizer())(3)
            for model in ("BERT", "MPNet")}
    texts = {model: [[token for token in row if token != vocab.need("pad")] for row in batch.tokens.tolist()]
             for model, batch in made.items()}
    places = made["MPNet"].position_ids[:, 0].expand(made["MPNet"].size)
    for row, (bert, mpnet) in enumerate(zip(texts["BERT"], texts["MPNet"], strict=True)):
        assert len(bert) == len(set(places[row, :len(mpnet)].tolist())) < len(mpnet)
        hidden = (made["BERT"].targets[row, :len(bert)] != IGNORE).tolist()
        assert all(one == other or asked for one, other, asked in zip(bert, mpnet[:len(bert)], hidden, strict=True))


@pytest.fixture
def small_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    """A toy BERT that is pretrained in seconds, on the small world."""
    monkeypatch.setattr(world, "full", world.small)
    monkeypatch.setattr("plmlab.pretraining.material.WORLD_HELD_OUT", 40)
    monkeypatch.setitem(pretrained.PLANS, "BERT", pretrained.PLANS["BERT"] | {
        "steps": 2, "save_every": 2, "batch": 8, "accumulate": 1, "layers": 1, "width": 16, "heads": 2})


@pytest.mark.usefixtures("small_baseline")
def test_the_baseline_is_pretrained_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = pretrained.pretrain_baseline(str(tmp_path))
    assert 5 < told["loss"] < 8 and 0 < told["floor"] < 1
    assert isinstance(pretrained.load_model(str(tmp_path), "BERT"), BERTPretraining)
    monkeypatch.setattr(pretrained, "pretrain", None)
    assert pretrained.pretrain_baseline(str(tmp_path)) == told


def test_what_is_measured(parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = {"held-out loss, nats per token": 1.25, "floor of the held-out text": "0.40 nats per token ± 0.02",
               "seconds": "1,500"}
    torch.manual_seed(0)
    tokenizer = world_tokenizer()
    xlnet = XLNetPretraining(XLNetConfig(len(tokenizer), 1, 16, 2, 32))
    bert = BERTPretraining(BERTConfig(len(tokenizer), 16, 1, 16, 2, 32))
    save(tmp_path / "xlnet-world", xlnet, tokenizer, command="made", figures=figures)
    save(parts.folder / "BERT", bert, tokenizer, command="made", figures=figures)
    monkeypatch.setattr(pretrained, "home", lambda: tmp_path)
    monkeypatch.setattr(pretrained, "BUNDLED", {"XLNet": "xlnet-world"})
    monkeypatch.setattr(pretrained, "PLANS", {name: pretrained.PLANS[name] for name in ("BERT", "XLNet")})
    monkeypatch.setattr(pretrained, "million_tokens", lambda model: 6.5)
    told = pretrained.measure(parts)
    sizes = {"BERT": bert.encoder, "XLNet": xlnet.encoder}
    assert told == {name: {"loss": 1.25, "floor": 0.4, "seconds": 1500.0, "million tokens": 6.5, "lr": 4e-3,
                           "parameters": sum(weight.numel() for weight in part.parameters())}
                    for name, part in sizes.items()}
