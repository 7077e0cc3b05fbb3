"""Cloze against head: what differs between arms, how a run is told, and the verdicts by hand."""

from collections.abc import Iterator
from math import log10
from typing import Any

import pytest
import torch
from small_models import cloze_reader

from plmlab import transfer
from plmlab.chapters.ch12 import as_cloze as examining
from plmlab.chapters.ch12.cloze_classifiers import at_position
from plmlab.chapters.ch12.cloze_tasks import TASKS, Agreeing
from plmlab.example import Batch
from plmlab.recipes import Parts, seed_summary
from plmlab.train import Diverged, History
from plmlab.world.datasets.tasks import Acceptability, Paraphrase
from plmlab.world.datasets.tokenizer import world_tokenizer
from studies.ch12 import as_cloze, english_bert
from studies.ch12.as_cloze import ARMS, EXCHANGED

NOUNS = ("cup", "ball", "lamp", "chair", "car", "doll", "boat", "desk")
ROWS: dict[str, list[Any]] = {"number agreement": [Agreeing(("the", noun + "s" * plural), ("wet", "."), bool(plural),
                                                            plural) for noun in NOUNS for plural in (0, 1)],
                              "acceptability": [Acceptability(("the", noun, verb, "wet", "."), verb == "is")
                                               for noun in NOUNS for verb in ("is", "are")],
    "paraphrase": [Paraphrase(("the", noun, "is", "wet", "."), ("the", other, "is", "wet", "."), noun == other)
               for noun in NOUNS[:4] for other in NOUNS[:4]],
}


def little(folder: str, name: str) -> Any:
    """A GLM or a BERT with random weights."""
    return cloze_reader(name, len(world_tokenizer()), seed=2)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Few rows and updates, and little models."""
    for name, rows in ROWS.items():
        exams = {"score": rows[10:], **({"attracted": [row for row in rows[10:] if row.attractors]}
                                        if name == "number agreement" else {})}
        monkeypatch.setitem(TASKS, name, TASKS[name]._replace(
            training_rows=lambda seed, rows=rows: rows[:6], development=lambda seed, rows=rows: rows[6:10],
            test_set=lambda exams=exams: exams))
    for name, value in (("pretrained", little), ("STEPS", 2), ("LABELS", (2, 6)), ("RATES", (1e-3, 3e-3, 1e-2)),
                        ("SEEDS", (0, 1))):
        monkeypatch.setattr(as_cloze, name, value)
    for name, count in (("EVERY", 1), ("BATCH", 4)):
        monkeypatch.setattr(transfer, name, count)
    yield


@pytest.mark.parametrize("name", TASKS)
def test_cloze_and_head_read_the_same(name: str) -> None:
    for row in ROWS[name]:
        read = [ARMS[arm].example(TASKS[name], row) for arm in ("GLM, cloze", EXCHANGED, "GLM, head")]
        for other in read[1:]:
            assert torch.equal(read[0].tokens, other.tokens) and torch.equal(read[0].position_ids, other.position_ids)
            assert {key: int(value) for key, value in other.labels.items()} == {
                key: int(value) for key, value in read[0].labels.items()}


@torch.no_grad()
@pytest.mark.parametrize("name", TASKS)
def test_cloze_and_head_differ_in_the_output_alone(name: str) -> None:
    glm: Any = little("", "GLM")
    task = TASKS[name]
    batch = Batch.of([ARMS["GLM, cloze"].example(task, row) for row in ROWS[name]], pad=0)
    cloze, head = (ARMS[arm].classifier(glm, task) for arm in ("GLM, cloze", "GLM, head"))
    words = [world_tokenizer().encode(word, plain=True)[0] for word in task.verbalizers]
    head.output.weight.copy_(glm.encoder.embeddings.token.weight[words])  # type: ignore[union-attr,operator]
    head.output.bias.zero_()  # type: ignore[union-attr,operator]
    torch.testing.assert_close(head(batch), cloze(batch))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("name", TASKS)
def test_exchanged_words_exchange_the_classes(name: str) -> None:
    one, other = (as_cloze.untaught("", arm, name) for arm in ("GLM, cloze", EXCHANGED))
    assert set(one) == ({"score", "attracted"} if name == "number agreement" else {"score"})
    for key in one:
        assert one[key] == pytest.approx(1 - other[key])
    rows = TASKS[name].test_set()["score"]
    classifier = ARMS["GLM, cloze"].classifier(little("", "GLM"), TASKS[name])
    right = 0
    for row in rows:
        logits = classifier(Batch.of([ARMS["GLM, cloze"].example(TASKS[name], row)], pad=0))[0]
        right += int(logits.argmax()) == TASKS[name].kind(row)
    assert one["score"] == pytest.approx(right / len(rows)), "one by one it is the same"


@pytest.mark.usefixtures("few")
def test_so_many_rows_are_learned_from_and_the_best_weights_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    seen: set[tuple[int, ...]] = set()

    def scored(model: Any, read: Any, rows: Any) -> float:
        asked.append((rows, model.training))
        return len(asked) / 10

    def watched(task: Any, row: Any) -> Any:
        example = ARMS["BERT, head"].example(task, row)
        seen.add(tuple(example.tokens.tolist()))
        return example
    for module in (as_cloze, examining):
        monkeypatch.setattr(module, "accuracy", scored)
    monkeypatch.setitem(as_cloze.ARMS, "watched", ARMS["BERT, head"]._replace(example=watched))
    told = as_cloze.run("", "watched", "number agreement", 4, 1e-3, 0)
    task = TASKS["number agreement"]
    exams = [*task.test_set().values()]
    assert [rows for rows, _ in asked] == [*exams, *[task.development(0)] * 3, *exams]
    assert not any(training for _, training in [*asked[:3], *asked[5:]])
    assert told == {"score": 0.6, "attracted": 0.7, "development": 0.5, "updates": 2}
    assert seen == {tuple(task.text(row).tokens.tolist()) for row in ROWS["number agreement"][:4]}


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("arm", ARMS)
def test_each_arm_learns(arm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rows by heart, in the exam too; also with the words exchanged."""
    rows = ROWS["number agreement"][:2]
    monkeypatch.setitem(TASKS, "number agreement", TASKS["number agreement"]._replace(
        training_rows=lambda seed: rows, development=lambda seed: rows, test_set=lambda: {"score": rows}))
    monkeypatch.setattr(as_cloze, "STEPS", 100)
    monkeypatch.setattr(transfer, "EVERY", 50)
    assert as_cloze.run("", arm, "number agreement", 2, 1e-2, 0)["score"] == 1


@pytest.mark.usefixtures("few")
def test_a_run_that_diverges_is_worth_what_it_began_with(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(*_: object, **__: object) -> None:
        raise Diverged("enough", 1, History(1, "cpu", "float32"))
    monkeypatch.setattr(as_cloze, "fit_rows", fit)
    told = as_cloze.run("", "GLM, cloze", "number agreement", 2, 1e-3, 0)
    assert told["updates"] == 0 and {**told, **as_cloze.untaught("", "GLM, cloze", "number agreement")} == told


@pytest.mark.usefixtures("few")
def test_who_only_gets_worse_keeps_what_it_began_with(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = iter([0.8, 0.7, 0.9, 0.6, 0.9, 0.1, 0.2])  # two of the exam and the development rows before; twice later
    for module in (as_cloze, examining):
        monkeypatch.setattr(module, "accuracy", lambda *_: next(scores))
    assert as_cloze.run("", "GLM, cloze", "number agreement", 4, 1e-3, 0) == {
        "score": 0.8, "attracted": 0.7, "development": 0.9, "updates": 0}


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("arm", ["GLM, head", "BERT, head"])
@pytest.mark.parametrize("name", TASKS)
def test_what_is_frozen_is_read_by_a_ridge_regression(name: str, arm: str) -> None:
    """Solved again from its equations, on vectors taken from the network itself."""
    task, how = TASKS[name], ARMS[arm]
    found = as_cloze.frozen("", arm, name, 6, 0)
    model: Any = little("", how.pretrained)

    def vectors(rows: list[Any]) -> torch.Tensor:
        batch = Batch.of([how.example(task, row) for row in rows], pad=0)
        with torch.no_grad():
            hidden = model.encoder(batch)
            return at_position(hidden, batch) if "position" in batch.labels else model.encoder.pool(hidden)
    known, kinds = vectors(task.training_rows(0)[:6]).double(), [2.0 * task.kind(row) - 1
                                                                 for row in task.training_rows(0)[:6]]
    centre, mean = known.mean(0), sum(kinds) / 6
    gram = (known - centre).T @ (known - centre) + found["strength"] * torch.eye(known.shape[1], dtype=torch.float64)
    weights = torch.linalg.solve(gram, (known - centre).T @ (torch.tensor(kinds).double() - mean))
    for key, rows in {**task.test_set(), "development": task.development(0)}.items():
        said = (vectors(list(rows)).double() - centre) @ weights + mean > 0
        right = sum(bool(one) == bool(task.kind(row)) for one, row in zip(said, rows, strict=True)) / len(rows)
        assert found[key] == pytest.approx(right)
    assert found["strength"] in as_cloze.STRENGTHS


def told(**lows: float) -> dict[str, Any]:
    """Arm → a score whose three seeds lie 0.01 apart, from the lowest on."""
    names = {"cloze": "GLM, cloze", "exchanged": EXCHANGED, "head": "GLM, head", "bert_cloze": "BERT, cloze",
             "bert_head": "BERT, head"}
    return {names[arm]: {"score": seed_summary({seed: low + seed / 100 for seed in range(3)})} for arm,
            low in lows.items()}


def test_verdicts_by_hand() -> None:
    few = told(cloze=0.8, exchanged=0.7, head=0.7, bert_cloze=0.6, bert_head=0.8)
    some = told(cloze=0.8, exchanged=0.8, head=0.8, bert_cloze=0.761, bert_head=0.8)
    many = told(cloze=0.9, exchanged=0.9, head=0.89, bert_cloze=0.9, bert_head=0.8)
    found = as_cloze.verdicts({"32": few, "128": some, "1024": many})
    yes, no = "supported", "not supported"
    assert found == {"meaning": yes, "GLM": {"cloze at few labels": yes, "advantage disappears": yes},
                     "BERT": {"cloze at few labels": no, "advantage disappears": "–"},
                     "GLM against BERT": {"cloze": {"32": "above", "128": "not apart", "1024": "not apart"},
                                          "head": {"32": "below", "128": "not apart", "1024": "above"}}}
    still = many | told(cloze=0.95)
    assert as_cloze.verdicts({"32": few, "1024": still})["GLM"]["advantage disappears"] == "not supported"
    turned = many | told(cloze=0.8)
    assert as_cloze.verdicts({"32": few, "1024": turned})["GLM"]["advantage disappears"] == "reversed"
    close = few | told(cloze=0.739, exchanged=0.78)
    found = as_cloze.verdicts({"32": close, "1024": many})
    assert found["meaning"] == "not supported"
    assert found["GLM"] == {"cloze at few labels": "no effect", "advantage disappears": "–"}


@pytest.mark.usefixtures("few")
def test_what_is_recorded(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(folder: str, arm: str, name: str, labels: int, lr: float, seed: int) -> dict[str, float]:
        best = 3e-2 if arm == "BERT, head" else 3e-3
        return {"score": 0.5 + seed / 100, **({"attracted": 0.25} if name == "number agreement" else {}), "updates": 50,
                "development": 0.9 - abs(log10(lr / best)) / 10 - seed / 100}
    monkeypatch.setattr(english_bert, "measure", lambda parts: {"lr": 1e-3})
    monkeypatch.setattr(as_cloze, "run", run)
    found = as_cloze.measure(parts)
    assert found["BERT"] == {"lr": 1e-3} and set(found["tasks"]) == set(found["zero"]) == set(found["majority"])
    for name, of in found["tasks"].items():
        assert list(of) == ["2", "6"] and set(found["zero"][name]) == {"GLM, cloze", EXCHANGED, "BERT, cloze"}
        for labels, runs in of.items():
            assert list(runs) == [arm for arm in ARMS if arm != EXCHANGED or labels == "2"]
            for arm, one in runs.items():
                assert one["score"]["seeds"] == [0, 1]
                grown, scores = [3e-2, 1e-1] if arm == "BERT, head" else [], dict(one["rates"])
                assert list(scores) == [1e-3, 3e-3, 1e-2, *grown] and one["lr"] == (3e-2 if grown else 3e-3)
                assert one["development"]["mean"] == pytest.approx(scores[one["lr"]])
                assert ("attracted" in one) == (name == "number agreement")
        assert {*found["frozen"][name]["2"]} == {"GLM, head", "BERT, head"}
        assert found["verdicts"][name] == as_cloze.verdicts(of)
