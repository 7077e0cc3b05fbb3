"""What UniLM, BERT and GPT are tuned on to read, and whose seeds are all above whose."""

from typing import Any

import pytest
import torch

from plmlab import transfer
from plmlab.chapters.ch12.pretrained import RANDOM_INIT
from plmlab.models.bert import BERT
from plmlab.models.gpt import GPT2, GPTConfig
from plmlab.recipes import Parts
from plmlab.train import Diverged, History
from plmlab.transfer import TASKS, development, training_rows
from plmlab.transfer import test_set as evaluation_set
from plmlab.world.datasets.tokenizer import bilingual_tokenizer, world_tokenizer
from studies.ch12 import pretrained, tuned

VOCAB = world_tokenizer().vocab


def little() -> GPT2:
    """A GPT that is tuned in a second."""
    torch.manual_seed(0)
    return GPT2(GPTConfig(len(bilingual_tokenizer()), 192, 1, 32, 2, dropout=0.0)).eval()


def test_gpt_reads_a_sentence_or_two_and_is_asked_at_the_end() -> None:
    one = training_rows("acceptability", 0)[0]
    read = tuned.read_by_gpt("acceptability", one)
    assert world_tokenizer().tokens(read.tokens.tolist()) == ["[START]", *one.words, "[END]"]
    assert int(read.labels["class"]) == int(one.right)
    pair = training_rows("paraphrase", 0)[0]
    read = tuned.read_by_gpt("paraphrase", pair)
    assert world_tokenizer().tokens(read.tokens.tolist()) == ["[START]", *pair.first, "[SEP]", *pair.second, "[END]"]
    assert int(read.labels["class"]) == int(pair.same)


@pytest.mark.parametrize("task", tuned.CLASSES)
def test_gpt_is_scored_at_its_best_weights(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuned, "STEPS", 4)
    monkeypatch.setattr(transfer, "EVERY", 2)
    asked: list[Any] = []
    monkeypatch.setattr(tuned, "gpt_score", lambda model, task, rows: asked.append(rows) or len(asked) / 10)
    told = tuned.gpt_reached(little(), task, 1e-3, 0)
    assert asked == [development(task, 0), development(task, 0), evaluation_set(task)]
    assert told == {"score": 0.3, "development": 0.2, "updates": 4}


def test_a_gpt_that_diverges_is_worth_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(*_: object, **__: object) -> None:
        raise Diverged("enough", 1, History(1, "cpu", "float32"))
    monkeypatch.setattr(tuned, "fit_rows", fit)
    assert set(tuned.gpt_reached(little(), "paraphrase", 1e-3, 0).values()) == {0}


def test_models_are_put_to_their_tasks(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(folder: str, model: str, task: str, lr: float, seed: int) -> dict[str, float]:
        better = {"UniLM": 0.6, "BERT": 0.5, "GPT": 0.4, RANDOM_INIT: 0.1}[model]
        better += (model == "BERT" and task == "NER") / 2
        # the first seed alone would take 0.003
        development = {1e-3: 0.5, 3e-3: 0.3 + 0.3 * (seed == 0)}.get(lr, 0.1)
        return {"score": better + seed / 100, "development": development, "updates": 50}
    monkeypatch.setattr(tuned, "run", run)
    told = tuned.measure(parts)
    assert set(told["tasks"]) == set(TASKS) and set(told["majority"]) == {"acceptability", "paraphrase"}
    assert set(told["tasks"]["NER"]) == {"UniLM", "BERT", RANDOM_INIT}
    assert set(told["tasks"]["paraphrase"]) == {"UniLM", "BERT", "GPT", RANDOM_INIT}
    assert told["above"] == {"UniLM above BERT": ["acceptability", "paraphrase", "extractive QA"],
                             "BERT above UniLM": ["NER"], "GPT above UniLM": [],
                             "UniLM above GPT": ["acceptability", "paraphrase"],
                             f"UniLM above {RANDOM_INIT}": list(TASKS)}
    assert {runs["lr"] for of in told["tasks"].values() for runs in of.values()} == {1e-3}
    grid = dict(told["tasks"]["extractive QA"]["BERT"]["rates"])
    assert list(grid) == [3e-4, 1e-3, 3e-3, 1e-2] and grid[3e-3] == pytest.approx(0.4)


def test_who_runs_is_told_by_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuned, "gpt_reached", lambda gpt, task, lr, seed: {"score": 1.0})
    monkeypatch.setattr(tuned, "run_result", lambda encoder, *_, **__: {"score": 0.5 * (type(encoder) is BERT)})
    made = {"GPT": little(), "BERT": pretrained.bert(60)}
    monkeypatch.setattr(tuned, "pretrained", lambda folder, name: made[name])
    assert tuned.run("", "GPT", "paraphrase", 1e-3, 0) == {"score": 1.0}
    assert tuned.run("", "BERT", "paraphrase", 1e-3, 0) == {"score": 0.5}
