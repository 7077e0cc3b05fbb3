"""KnowBERT's training, the accuracy of its linkers, the recalled facts and the study, on a medium world."""

from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from plmlab.candidates import NULL, CandidateMention, LinkedExample
from plmlab.chapters.ch18 import knowbert
from plmlab.chapters.ch18.knowbert import FACTS, Knowledge, first_candidates, link_accuracy, recalled, train_linkers
from plmlab.example import IGNORE
from plmlab.models.bert import BERTConfig, BERTPretraining
from plmlab.recipes import Parts
from plmlab.world.datasets.tokenizer import build_world_tokenizer
from plmlab.world.world import World
from studies.ch18 import knowbert as study

pytestmark = pytest.mark.usefixtures("one_thread")


@cache
def data() -> Knowledge:
    world = World("medium")
    return Knowledge(world, build_world_tokenizer(world, ["english"], ["sentences"]))


def bert() -> BERTPretraining:
    torch.manual_seed(0)
    return BERTPretraining(BERTConfig(len(data().tokenizer), time=32, layers=2, model=16, heads=2, inner=24,
                                      dropout=0.0, attention_dropout=0.0))


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowbert, "WIDTHS", (8, 4))
    monkeypatch.setattr(knowbert, "BATCH", 6)


def test_only_the_linkers_are_trained_and_the_kars_aligned() -> None:
    model = knowbert.knowbert(data(), bert())
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    train_linkers(model, data(), 3, 1e-2, 0, show=False)
    changed = {name for name, weight in model.state_dict().items() if not torch.equal(weight, before[name])}
    assert {name.split(".", 4)[3] for name in changed} == {"linker", "back"}
    assert not any("vectors" in name for name in changed)
    for i, kar in enumerate(model.encoder.kars):
        assert any(name.startswith(f"encoder.kars.{i}.linker.scorer") for name in changed)
        torch.testing.assert_close(kar.back.weight, torch.linalg.pinv(kar.linker.project.weight))
    assert all(weight.requires_grad for weight in model.parameters())


def test_facts_outside_the_text_are_not_in_it() -> None:
    stated = {fact for one in islice(data().world.sentences("train", 0), 3000) for fact in one.facts}
    for group in FACTS:
        development, test = data().clozes(group)
        assert test and not {one.fact for one in development} & {one.fact for one in test}
        assert all(one.entity == one.fact.object and one.words[slice(*one.span)] for one in test)
        if group != "stated":
            assert not {one.fact for one in development + test} & stated
        else:
            assert len({one.fact for one in test} & stated) > len(test) / 2


def example(*bases: list[CandidateMention]) -> LinkedExample:
    return SimpleNamespace(mentions=bases)  # type: ignore[return-value]


def test_accuracy_of_links_by_hand() -> None:
    names = [CandidateMention(1, 2, (2, 3, NULL), (.5, .5, 0.), NULL), CandidateMention(1, 3, (2, NULL), (1., 0.), 2),
             CandidateMention(4, 5, (3, 2, NULL), (.5, .5, 0.), 2), CandidateMention(5, 6, (3, NULL), (1., 0.), IGNORE)]
    words = [CandidateMention(6, 7, (9, NULL), (1., 0.), 9), CandidateMention(7, 8, (7, 8, NULL), (.6, .4, 0.), 7)]
    given = [example(names, words)]
    assert first_candidates(given) == [[[2, 2, 3, 3], [9, 7]]]
    assert first_candidates(given, longest=True) == [[[NULL, 2, 3, 3], [9, 7]]]
    assert link_accuracy(given, first_candidates(given, longest=True)) == pytest.approx(
        {"names": 2 / 3, "several candidates": 1 / 2, "several, not NULL": 0, "senses": 1})
    assert link_accuracy(given, ()) == pytest.approx({"names": (1 / 3 + 1 / 2 + 1 / 3) / 3, "senses": 1 / 3,
                                                      "several candidates": 1 / 3, "several, not NULL": 1 / 3})


def test_recall_counts_whole_objects_and_hides_their_mentions() -> None:
    clozes, batches = data().clozes("stated")[1][:20], []

    class Oracle(torch.nn.Module):
        wrong = 0

        def encoder(self, batch: Any) -> Any:
            batches.append(batch)
            return batch

        def token_logits(self, batch: Any) -> Any:
            logits = F.one_hot(batch.targets.clamp(min=0), len(data().tokenizer)).float()
            rows = torch.arange(self.wrong)
            logits[rows, (batch.targets[rows] != IGNORE).int().argmax(1)] = 1.0
            logits[rows, (batch.targets[rows] != IGNORE).int().argmax(1), 0] = 2.0
            return logits

    model: Any = Oracle()
    assert recalled(model, data(), clozes) == 1
    model.wrong = 5
    assert recalled(model, data(), clozes, linked=False) == pytest.approx(0.75)
    hidden = (batches[0].targets != IGNORE)[:, None] & batches[0].mentions[0].in_span(batches[0].targets.shape[1])
    assert not hidden.any() and batches[0].mentions[0].mask.any(1).all() and not hasattr(batches[1], "mentions")


def test_the_study(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in {"knowledge": data, "bert_world": bert, "LINKER_UPDATES": 2, "LINKED_SENTENCES": 60}.items():
        monkeypatch.setattr(study, name, value)
    study.sentences.cache_clear()
    study.with_linkers.cache_clear()
    small = replace(study.study(1e-3), seeds=(0,), updates=(2,))
    runs = small.at(Parts(tmp_path / "parts.jsonl", 0), {(*arm, 2): (1e-3, {}) for arm in small.arms})
    found = {name: one.runs[0] for (name, *_), one in runs.items()}
    assert set(found["KnowBERT"]) == {"recalled", "without mentions", "other entities", "linkers alone", "linkers"}
    assert set(found["BERT"]) == {"recalled"} and all(0 <= n <= 1 for n in found["BERT"]["recalled"].values())
    model: Any = study.build("KnowBERT", 1e-3, 0)
    other: Any = study.build("random vectors", 1e-3, 0)
    vectors, random = (one.encoder.kars[0].linker.vectors for one in (model, other))
    assert not torch.equal(vectors, random) and torch.isclose(vectors[2:].std(), random[2:].std(), rtol=0.2)
    kept = vectors.clone()
    with study.other_entities(model):
        assert torch.equal(vectors[:2], kept[:2]) and not torch.equal(vectors, kept)
        assert torch.equal(vectors.sum(0).round(decimals=3), kept.sum(0).round(decimals=3))
    assert torch.equal(vectors, kept)


def test_the_linear_decoder_is_fitted_on_stated_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random vectors that are wide enough fit any stated facts, but tell nothing about the others."""
    monkeypatch.setattr(study, "knowledge", data)
    monkeypatch.setattr(study, "bert_world", bert)
    monkeypatch.setattr(knowbert, "WIDTHS", (40, 4))
    found = study.fact_baselines()
    random, graph = found["linear decoder, random vectors"], found["linear decoder"]
    assert random["stated"] > 0.9 and max(random["new facts"], random["new entities"]) < 0.5
    assert graph["stated"] > 0.8
