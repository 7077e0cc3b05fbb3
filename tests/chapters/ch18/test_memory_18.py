"""The statements, the variants and the baselines of the claim on memory and parameters, on a medium world."""

from functools import cache
from itertools import pairwise
from math import isclose
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from plmlab.chapters.ch18 import memory
from plmlab.example import IGNORE
from plmlab.mentions import Mentions
from plmlab.models.eae import EaEPretraining
from plmlab.recipes.study import NO_EFFECT, Run
from plmlab.world.datasets.linked_statements import DEVELOPMENT, SPLITS, TEST, TRAIN, EntityCloze, Statements, split_of
from plmlab.world.datasets.tokenizer import build_world_tokenizer
from plmlab.world.world import World
from studies.ch18 import bundled
from studies.ch18 import entity_baselines as rules
from studies.ch18 import memory as study

pytestmark = pytest.mark.usefixtures("one_thread")


@cache
def data() -> Statements:
    world = World("medium")
    return Statements(world, build_world_tokenizer(world, ["english"], ["sentences"]))


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "statements", data)
    monkeypatch.setattr(memory, "SIZE", memory.SIZE | {"model": 16, "heads": 2})
    monkeypatch.setattr("plmlab.world.datasets.linked_statements.BATCH", 6)


def words(cloze: EntityCloze) -> list[str]:
    return data().tokenizer.tokens(cloze.text.text)


def test_a_test_sentence_is_new_and_its_fact_is_stated_elsewhere() -> None:
    """Both names of a cloze occur together in another training sentence, the answer is unique, and no sentence of one
    split is in another."""
    keys, world, clozes = [*data().ids], data().world, data().clozes
    training = {" ".join(data().tokenizer.tokens(text)) for text, _ in data().texts}
    sentences = {split: {" ".join(words(cloze)) for cloze in clozes[split]} for split in SPLITS}
    assert sentences[TRAIN] <= training and not training & (sentences[DEVELOPMENT] | sentences[TEST])
    assert not sentences[DEVELOPMENT] & sentences[TEST] and len(clozes[TEST]) > 3
    for cloze in clozes[TEST] + clozes[DEVELOPMENT]:
        start, end = cloze.span
        names = [world.facts[keys[link]] for link in cloze.text.links]
        answer, other = names[cloze.mention], names[1 - cloze.mention]
        assert tuple(words(cloze)[start:end]) == answer.words and cloze.entity == data().ids[answer.key]
        assert any(answer.name in text and other.name in text for text in training)
        ways = (world.facts.objects(other, cloze.relation) if cloze.place == "object"
                else world.facts.subjects(cloze.relation, other))
        assert ways == [answer]


def test_batches_mask_one_name_of_a_training_sentence() -> None:
    training = {tuple(text) for text, _ in data().texts}
    for example in data().batches(1).examples(0):
        masked = example.targets != IGNORE
        whole = torch.where(masked, example.targets, example.tokens)
        assert tuple(whole[1:-1].tolist()) in training
        assert example.targets[masked].tolist() in data().names
        assert (example.tokens[masked] == data().tokenizer.vocab.mask).all()


def test_names_are_scored_by_the_product_of_their_tokens() -> None:
    clozes = data().clozes[TEST]
    _, masked = memory.masked_batch(data(), clozes)
    logits = torch.randn(len(clozes), 20, len(data().tokenizer), generator=torch.Generator().manual_seed(1))
    scores = memory.name_logprobs(logits, masked, data().names)
    for row, cloze in enumerate(clozes):
        start, end = cloze.span
        for entity, name in enumerate(data().names):
            expected = sum(float(logits[row, 1 + start + i].log_softmax(0)[token]) for i, token in enumerate(name))
            assert isclose(scores[row, entity], expected if len(name) == end - start else -torch.inf, rel_tol=1e-5)


def test_a_perfect_model_is_right_and_its_input_has_no_labels() -> None:
    """The masked tokens are not in the input, and what is predicted elsewhere has no influence."""
    clozes = data().clozes[TEST]

    class Perfect(torch.nn.Module):
        def encoder(self, batch: Any) -> torch.Tensor:
            assert not batch.labels and (batch.tokens[batch.targets != IGNORE] == data().tokenizer.vocab.mask).all()
            return torch.nn.functional.one_hot(batch.targets.clamp(min=0), len(data().tokenizer)).float()

        def token_logits(self, hidden: torch.Tensor) -> torch.Tensor:
            return 9 * hidden

        def entity_logits(self, hidden: torch.Tensor, masked: Mentions) -> torch.Tensor:
            return torch.eye(len(data().ids))[[0] * len(masked)]

    share = sum(cloze.entity == 0 for cloze in clozes) / len(clozes)
    assert memory.accuracies(Perfect(), data(), clozes) == {"names": 1.0, "entities": pytest.approx(share)}


def test_variants_differ_in_what_their_names_say(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = data().batches(1)(0)
    losses = {}
    for name in (study.EAE, study.UNLINKED):
        model = study.build(name, 0)
        assert isinstance(model, EaEPretraining)
        losses[name] = {*model.losses(batch)}
    assert losses[study.EAE] - losses[study.UNLINKED] == {"linking"}
    only = study.build(study.NO_MEMORY, 0)
    only.loss(batch).backward()
    assert isinstance(only, study.EntityPredBERT) and only.entities.weight.grad is not None
    count = {name: study.parameters(study.build(name, 0)) for name in (study.EAE, study.WIDE)}
    assert abs(count[study.WIDE] - count[study.EAE]) <= 33


def test_baselines_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three training sentences about one person, two name the first town, and the third is most similar."""
    test = next(cloze for cloze in data().clozes[TEST] if cloze.relation in ("born_in", "lives_in"))
    seen, right = rules.visible(test), test.entity
    wrong = next(i for i, name in enumerate(data().names) if len(name) == len(data().names[right]) and i != right)
    tell = SimpleNamespace(text=["somewhere"])
    near = [word for i, word in enumerate(words(test)) if not test.span[0] <= i < test.span[1]]
    fake: Any = SimpleNamespace(
        names=data().names, clozes={TRAIN: [test, test, test._replace(relation="works_for")]},
        texts=[SimpleNamespace(text=text, links=links) for text, links in (
            (tell.text, (seen, wrong)), (tell.text, (wrong, seen)), (near, (seen, right)))],
        tokenizer=SimpleNamespace(tokens=lambda text: words(test) if text is test.text.text else text))
    assert rules.nearest_sentence(fake)(test) == rules.nearest_with_name(fake)(test) == right
    assert rules.most_frequent(fake)(test) == right
    fake.texts = [SimpleNamespace(text=near, links=(wrong, wrong)),
                  SimpleNamespace(text=tell.text, links=(seen, right))]
    assert (rules.nearest_sentence(fake)(test), rules.nearest_with_name(fake)(test)) == (wrong, right)
    fake.texts = [(None, links) for links in ((seen, wrong), (wrong, seen), (seen, right))]
    assert rules.co_occurring(fake)(test) == wrong
    assert rules.most_frequent(fake)(test._replace(relation="stars")) is None


def test_the_study_at_toy_size() -> None:
    for name in (study.EAE, study.WIDE, study.NO_MEMORY):
        run = study.STUDY.learned(name, updates=2, lr=1e-3, seed=0, show=False)
        found = study.test(run)
        assert {"accuracy", "names", "training sentences", "parameters"} < {*found} or name == study.WIDE
        assert found["accuracy"] in (found["names"], found.get("entities")) and 0 <= study.development_score(run) <= 1
    assert {*study.baseline_scores()} == {"most frequent", "co-occurrence", "nearest sentence",
                                          "nearest sentence with the visible name", "untrained EaE",
                                          "untrained wide BERT"}
    low, high = ({"accuracy": {"low": value, "high": value}} for value in (0.5, 0.6))
    runs = dict.fromkeys((study.WIDE, study.NO_MEMORY), low) | dict.fromkeys((study.EAE, study.UNLINKED), high)
    assert study.verdicts(runs) == {"memory instead of parameters": "supported",
                                    "a memory, not only links": "supported", "linking": NO_EFFECT}
    assert isinstance(run, Run)


def test_the_bundled_model_reads_no_held_out_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in {"home": lambda: tmp_path, "enter": lambda name: None, "UPDATES": 2, "PAIRS": 3,
                        "statements": data}.items():
        monkeypatch.setattr(bundled, name, value)
    ends = {data().tokenizer.encode(end, plain=True)[0] for end in (".", "?", "!")}
    for example in bundled.texts(data(), Random(3)):
        whole = torch.where(example.targets != IGNORE, example.targets, example.tokens)[1:-1].tolist()
        cuts = [0, *(i + 1 for i, token in enumerate(whole) if token in ends)]
        assert len(cuts) > 2
        for start, end in pairwise(cuts):
            assert split_of(data().tokenizer.tokens(whole[start:end])) == TRAIN
    bundled.main(bundled.EAE)
    assert (tmp_path / bundled.EAE / "README.md").read_text(encoding="utf-8").count("masked entities") == 2
