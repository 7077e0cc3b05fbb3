"""Fine-tuning: the better learning rate by the development score, and the comparison of two models."""

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch

from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.models.mpnet import MPNetConfig, MPNetPretraining
from plmlab.models.xlnet import XLNetConfig, XLNetPretraining
from plmlab.recipes import Parts
from plmlab.train import Diverged, History
from plmlab.transfer import TASKS, batch_of, read_by
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch11 import fine_tuning


def new(_: str, model: str) -> Any:
    """A model so little that it is tuned in a second."""
    torch.manual_seed(0)
    if model == "XLNet":
        return XLNetPretraining(XLNetConfig(len(world_tokenizer()), 1, 32, 2, 64, dropout=0.0))
    made, config = {"BERT": (BERTPretraining, BERTConfig), "MPNet": (MPNetPretraining, MPNetConfig)}[model]
    return made(config(len(world_tokenizer()), 192, 1, 32, 2, 64, dropout=0.0, attention_dropout=0.0))


@pytest.mark.parametrize(("model", "task"), [("XLNet", "NER"), ("MPNet", "extractive QA"), ("BERT", "paraphrase")])
def test_a_run_is_that_of_its_best_weights(model: str, task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told by the loss, which differs from update to update also where nothing is right yet."""
    learned, chosen = (list(islice(TASKS[task].rows("train", seed), 10)) for seed in (0, 1))

    @torch.no_grad()
    def score(made: Any, rows: Any) -> float:
        return -float(made.loss(batch_of(read_by(made, TASKS[task].example), rows)))
    monkeypatch.setitem(TASKS, task, replace(TASKS[task], score=score))
    monkeypatch.setattr("plmlab.transfer.training_rows", lambda name, seed: learned)
    monkeypatch.setattr("plmlab.transfer.development", lambda name, seed: chosen)
    monkeypatch.setattr(fine_tuning, "load_model", new)
    monkeypatch.setattr(fine_tuning, "STEPS", 4)
    monkeypatch.setattr("plmlab.transfer.EVERY", 2)
    kept = []
    monkeypatch.setattr("plmlab.transfer.score", lambda made, name: kept.append((made, name)) or 0.25)
    told = fine_tuning.run("nowhere", model, task, 3e-3, 0)
    [(made, name)] = kept
    assert told["score"] == 0.25 and told["updates"] in (2, 4) and name == task
    assert told["development"] == pytest.approx(score(made, chosen))


def test_a_run_that_diverges_is_worth_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fine_tune(*_: object, **__: object) -> None:
        raise Diverged("enough", 1, History(1, "cpu", "float32"))
    monkeypatch.setattr(fine_tuning, "load_model", new)
    monkeypatch.setattr("plmlab.transfer.fine_tune", fine_tune)
    assert set(fine_tuning.run("nowhere", "BERT", "NER", 1e-3, 0).values()) == {0}


def test_the_better_rate_is_told(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """BERT's is the lower one, XLNet's the higher one, whatever the exam says; MPNet's two are as good."""
    def reached(folder: str, model: str, task: str, lr: float, seed: int) -> dict[str, float]:
        assert Path(folder) == parts.folder
        lower = lr == min(fine_tuning.RATES[task])
        better = {"BERT": lower, "XLNet": not lower, "MPNet": True}[model]
        return {"development": 0.5 + 0.1 * better + 0.01 * seed, "updates": 50,
                "score": 0.9 - 0.1 * better + 0.01 * seed + 0.02 * (model == "XLNet") + 0.04 * (task == "NER")}
    monkeypatch.setattr(fine_tuning, "run", reached)
    monkeypatch.setattr(fine_tuning, "majority", lambda task: 0.5)
    told = fine_tuning.measure(parts)
    assert set(told["tasks"]) == set(TASKS) and set(told["majority"]) == {"acceptability", "paraphrase"}
    for task, models in told["tasks"].items():
        assert [models[name]["lr"] for name in ("BERT", "XLNet", "MPNet")] == [
            fine_tuning.RATES[task][0], fine_tuning.RATES[task][1], fine_tuning.RATES[task][0]]
        assert models["BERT"]["score"]["values"] == pytest.approx([0.8 + 0.04 * (task == "NER") + 0.01 * seed
                                                                   for seed in fine_tuning.SEEDS])
        assert [score for _, score in models["XLNet"]["rates"]] == pytest.approx([0.5, 0.6])
    assert told["comparisons"]["XLNet vs. BERT"] == {"higher": 4, "separated": 0}
    for pair in ("BERT vs. XLNet", "BERT vs. MPNet"):
        assert told["comparisons"][pair] == {"higher": 0, "separated": 0}


def test_apart_means_that_no_seed_is_below_any_of_the_others() -> None:
    def scores(low: float, high: float) -> dict[str, Any]:
        return {"score": {"mean": (low + high) / 2, "low": low, "high": high}}
    tasks = {"one": {"A": scores(0.8, 0.9), "B": scores(0.5, 0.79)}, "two": {"A": scores(0.8, 0.9),
                                                                             "B": scores(0.5, 0.85)},
             "three": {"A": scores(0.1, 0.2), "B": scores(0.2, 0.3)}}
    assert fine_tuning.compare_models(tasks, "A", "B") == {"higher": 2, "separated": 1}
    assert fine_tuning.compare_models(tasks, "B", "A") == {"higher": 1, "separated": 0}
