"""The four tasks beside BERT: equal amounts of text, what each model begins with, and what is recorded."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from plmlab import world
from plmlab.checkpoints import README, home, save
from plmlab.models.albert import ALBERT, ALBERTConfig, ALBERTPretraining
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining
from plmlab.models.electra import ELECTRA
from plmlab.pretraining import Plan
from plmlab.pretraining.material import world_batches
from plmlab.recipes import Parts
from plmlab.transfer import TASKS
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch09 import four_tasks


def small(made: type, config: type, **more: int) -> Any:
    torch.manual_seed(3)
    return made(config(len(world_tokenizer()), 192, 1, 16, 2, 32, **more))


@pytest.fixture
def checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The folder of the recipe, in which the baseline is pretrained; the bundled models are as small as it is."""
    monkeypatch.setattr(four_tasks, "home", lambda: tmp_path)
    monkeypatch.setattr(four_tasks, "PLANS", {name: four_tasks.PLANS[name] for name in ("BERT", "ALBERT")})
    for name, model in (("BERT", small(BERTPretraining, BERTConfig)),
                        ("albert-world", small(ALBERTPretraining, ALBERTConfig, embedding=8))):
        save(tmp_path / name, model, world_tokenizer(), command="made", figures={})
    return str(tmp_path)


@pytest.mark.parametrize("model", four_tasks.BUNDLED)
def test_a_bundled_model_was_made_by_its_plan(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = (home() / four_tasks.BUNDLED[model] / README).read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)  # where the checkpoint is not there yet
    plan = Plan(**four_tasks.PLANS[model], out=f"data/checkpoints/{four_tasks.BUNDLED[model]}")
    assert told.split("```")[1].strip() == plan.command


@pytest.mark.parametrize(("model", "kind"), [("ALBERT", ALBERT), ("ELECTRA", ELECTRA)])
def test_the_encoder_of_a_bundled_model_is_as_large_as_the_baseline(model: str, kind: type, tmp_path: Path) -> None:
    encoder, shared = four_tasks.start(str(tmp_path), model, 0), four_tasks.SHARED
    assert type(encoder) is kind
    assert (encoder.config.layers, encoder.config.model) == (shared["layers"], shared["width"])


def test_the_plans_differ_in_model_rate_and_objective_alone() -> None:
    plans = four_tasks.PLANS.values()
    assert {name for plan in plans for name in plan if plan[name] != four_tasks.SHARED.get(name)} == {
        "model", "lr", "choose"}


def test_all_models_have_the_same_number_of_training_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Told by one update of 64 texts, of which every token but the padding counts."""
    plans = {name: plan | {"accumulate": 2} for name, plan in four_tasks.PLANS.items()}
    monkeypatch.setattr(four_tasks, "PLANS", plans)
    monkeypatch.setattr(four_tasks, "EVERY", steps := four_tasks.SHARED["steps"])
    read = [four_tasks.million_tokens(model) for model in plans]
    assert read == pytest.approx([read[0]] * 3, rel=0.06)
    batches = world_batches(Plan(**plans["BERT"], out="nowhere"), world_tokenizer())
    pad = world_tokenizer().vocab.need("pad")
    assert read[0] == pytest.approx(sum(int((batches(i).tokens != pad).sum()) for i in range(2)) * steps / 1e6)


def test_the_baseline_is_pretrained_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world, "full", world.small)
    monkeypatch.setattr("plmlab.pretraining.material.WORLD_HELD_OUT", 40)
    monkeypatch.setitem(four_tasks.PLANS, "BERT", four_tasks.PLANS["BERT"] | {
        "steps": 2, "save_every": 2, "batch": 8, "accumulate": 1, "layers": 1, "width": 16, "heads": 2})
    path = four_tasks.pretrain_baseline(str(tmp_path))
    monkeypatch.setattr(four_tasks, "pretrain", None)
    assert four_tasks.pretrain_baseline(str(tmp_path)) == path == str(tmp_path / "BERT")


def test_without_pretraining_the_weights_are_random(checkpoints: str) -> None:
    one, same, other = (four_tasks.start(checkpoints, four_tasks.SCRATCH, seed) for seed in (0, 0, 1))
    trained, albert = (four_tasks.start(checkpoints, model, 0) for model in ("BERT", "ALBERT"))
    assert type(one) is type(trained) is BERT and type(albert) is ALBERT and one.config == trained.config
    assert torch.equal(one.pooler.weight, same.pooler.weight)
    assert not torch.equal(one.pooler.weight, other.pooler.weight)
    assert not torch.equal(one.pooler.weight, trained.pooler.weight)


def test_what_is_measured(checkpoints: str, parts: Parts, monkeypatch: pytest.MonkeyPatch, best_at: Callable) -> None:
    """ALBERT is ahead of BERT in NER only; the rate that is best is beyond the grid. The folder of the parts is empty,
    so that the baseline has to be pretrained."""
    def run(folder: str, model: str, task: str, lr: float, seed: int) -> dict[str, float]:
        assert Path(folder) == parts.folder and lr == 1e-2 and seed in four_tasks.SEEDS
        score = {"BERT": 0.5, "ALBERT": 0.8 if task == "NER" else 0.4, four_tasks.SCRATCH: 0.1}[model]
        return {"score": score + 0.01 * seed, "development": 0.5, "updates": 50}
    config = BERTConfig(len(world_tokenizer()), 192, 1, 16, 2, 32)
    for name, value in (("run", run), ("lr_score", best_at(1e-2)), ("million_tokens", lambda model: 6.0),
                        ("pretrain_baseline", lambda folder: folder), ("start", lambda *_: BERT(config)),
                        ("majority", lambda _: 0.5), ("MODELS", ("BERT", "ALBERT", four_tasks.SCRATCH))):
        monkeypatch.setattr(four_tasks, name, value)
    told = four_tasks.measure(parts)
    size = sum(weight.numel() for weight in BERT(config).parameters())
    assert told["models"] == {"BERT": {"lr": 4e-3, "million tokens": 6.0, "parameters": size}, "ALBERT": {
        "lr": four_tasks.PLANS["ALBERT"]["lr"], "million tokens": 6.0, "parameters": size}}
    assert set(told["tasks"]) == set(TASKS) and set(told["majority"]) == {"acceptability", "paraphrase"}
    ner = told["tasks"]["NER"]["ALBERT"]
    assert ner["lr"] == 1e-2 and [rate for rate, _ in ner["rates"]] == [3e-4, 1e-3, 3e-3, 1e-2, 3e-2]
    assert ner["score"]["values"] == pytest.approx([0.8, 0.81, 0.82])
    assert told["comparisons"]["ALBERT vs. BERT"] == {"higher": 1, "separated": 1}
    assert told["comparisons"]["BERT vs. ALBERT"] == {"higher": 3, "separated": 3}
    assert told["comparisons"][f"BERT vs. {four_tasks.SCRATCH}"] == {"higher": 4, "separated": 4}
