"""The studies of chapter 17 at toy size, their verdicts and the rule by hand, and the README of the bundled RAG."""

from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from tiny_rag import SIZE, WORDS, WORLD, asked, encoder, rag, saying

from plmlab.chapters.ch17 import arms
from plmlab.chapters.ch17.arms import ARMS, FROZEN, LEARNED, LEXICAL, SEQUENCE, TOKEN
from plmlab.chapters.ch17.questions import KINDS, ONE_DOCUMENT, ONE_FACT, TWO_DOCUMENTS, questions
from plmlab.chapters.ch17.training import AnswerBatches, ranking
from plmlab.checkpoints import load
from plmlab.models.dual_encoder import DualEncoderConfig
from plmlab.models.realm import REALM
from plmlab.models.realm_open_qa import FoundAnswer, REALMForOpenQA
from plmlab.recipes.study import NO_EFFECT, Run
from plmlab.retrieval import BM25
from plmlab.retrieval.blocks import Block
from plmlab.world.datasets.tokenizer import ids
from studies.ch17 import ablation, baselines, bundled

pytestmark = pytest.mark.usefixtures("one_thread")
SOME = {kind: questions(WORLD)[kind][:2] for kind in KINDS}
LIMITS: dict[str, Any] = {"questions": lambda world: SOME, "TEST_WORLDS": (WORLD,)}
ALL = [one for some in SOME.values() for one in some]
THREE = {asked(one): " ".join(one.answer) if one in ALL[:3] else "Alder" for one in ALL}


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One world, two questions of each kind, and pretrained models of one layer of width 16."""
    start, realm = rag(), REALM(DualEncoderConfig(WORDS, time=96, width=8, **SIZE)).eval()
    for name, value in {
            "ablation.load": lambda name, expect: (start.generator, None), "ablation.DEVELOPMENT": WORLD,
            "ablation.retriever": lambda: start.question_encoder, "baselines.load": lambda name, expect: (realm, None),
            "baselines.corpus": cache(baselines.corpus.__wrapped__), "baselines.DEVELOPMENT": WORLD,
            "baselines.TRAINING": (WORLD,), "baselines.BATCH": 2, "bundled.home": lambda: tmp_path,
            "bundled.enter": lambda name: None, **{f"{module}.{name}": value for module in (
                "ablation", "baselines", "bundled") for name, value in LIMITS.items()}}.items():
        monkeypatch.setattr(f"studies.ch17.{name}", value)
    monkeypatch.setattr(arms, "AnswerBatches", partial(AnswerBatches, worlds=(WORLD,), batch=3))
    monkeypatch.setattr(arms, "LENGTH", 3)


def same(one: Any, other: Any) -> bool:
    return all(map(torch.equal, one.parameters(), other.parameters()))


def test_realm_at_toy_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked about one fact only. Of two answers, one is correct, and one has a word too many."""
    monkeypatch.setattr(baselines, "questions", lambda world: {ONE_FACT: SOME[ONE_FACT]})
    run = baselines.STUDY.learned(baselines.REALM, updates=2, lr=1e-3, seed=0, show=False)
    assert not same(run.model, baselines.build(baselines.REALM, 0)) and baselines.development_score(run) in (0, 0.5, 1)
    said = {tuple(ids(one.words)): (*ids(one.answer), *more) for one, more in zip(ALL, ([], [9]), strict=False)}
    monkeypatch.setattr(REALMForOpenQA, "best", lambda model, batch: [
        [FoundAnswer(said[tuple(row[row != 0].tolist()[1:-1])], 1.0)] for row in batch.queries.tokens])
    assert baselines.test(run) == {f"{ONE_FACT}: exact match": 0.5}


@pytest.mark.parametrize("arm", ARMS)
def test_the_ablation_at_toy_size(arm: tuple[str, str]) -> None:
    """Only a learned retriever is trained; each variant starts from the same weights."""
    run, start = ablation.STUDY.learned(*arm, updates=2, lr=1e-3, seed=0, show=False), ablation.build(*arm, 0)
    assert len(run.history.losses) == 2 and type(run.model) is ARMS[arm].model and same(start, rag())
    assert same(run.model.question_encoder, encoder()) == (arm[1] != LEARNED)
    assert not same(run.model.generator, start.generator)
    assert 0 <= ablation.development_score(run) <= 1 and len(ablation.test(run)) == 4 * 3


def test_the_figures_of_the_ablation_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    saying(monkeypatch, THREE)
    found = ablation.test(run := Run((TOKEN, LEXICAL), 2, 1e-3, 0, rag(), None))
    assert [found[f"{group}: exact match"] for group in (*KINDS, ablation.ALL)] == [1, 0.5, 0, 0.5]
    for kind, some in SOME.items():
        rows = ranking(WORLD).search([one.words for one in some], 5).lists()
        assert found[f"{kind}: recall"] == sum(one.supported(row) for one, row in zip(some, rows, strict=True)) / 2
    monkeypatch.setattr(ablation, "DEVELOPMENT_QUESTIONS", 1)
    assert ablation.development_score(run) == pytest.approx(2 / 3)


@pytest.mark.parametrize("frozen, lexical, one, two, said", [
    ((0.42, 0.44), (0.34, 0.36), 0.5, 0.5, ["partly supported", "supported", NO_EFFECT, NO_EFFECT]),
    ((0.42, 0.42), (0.34, 0.36), 0.58, 0.42, ["supported", "partly supported", "supported", "supported"]),
    ((0.58, 0.44), (0.66, 0.5), 0.42, 0.58, ["not supported"] * 4),
    ((0.58, 0.42), (0.56, 0.44), 0.56, 0.44, ["mixed", *[NO_EFFECT] * 3])])
def test_verdicts_by_hand(frozen: list[float], lexical: list[float], one: float, two: float, said: list[str]) -> None:
    """Learned retrievers are at 0.5; ``one`` and ``two`` documents are about RAG-Sequence; seeds differ by 0.05."""
    def seeds(*values: float) -> dict[str, dict[str, float]]:
        return {f"{group}: exact match": {"low": value, "high": value + 0.05} for group, value in
                zip((ablation.ALL, ONE_DOCUMENT, TWO_DOCUMENTS), values, strict=False)}
    runs = {f"{SEQUENCE}, {LEARNED}": seeds(0.5, one, two), f"{TOKEN}, {LEARNED}": seeds(0.5, 0.5, 0.5)}
    for how, values in ((FROZEN, frozen), (LEXICAL, lexical)):
        runs |= {f"{form}, {how}": seeds(value) for form, value in zip((SEQUENCE, TOKEN), values, strict=True)}
    assert ablation.verdicts(runs) == dict(zip((
        "learned retrieval", "dense retrieval", "RAG-Token combines documents", "RAG-Sequence keeps to one document"),
        said, strict=True))


def test_the_rule_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The longest name of the kind that comes first in the best document, if the question does not contain it."""
    made = [Block("Ann", 0, ("Ann of Alder grew up in North Haven near Haven .",)),
            Block("Bo", 0, ("Bo lives in Haven .",)), Block("Cy", 0, ("Cy is old .",))]
    known = {"town": {("Alder",), ("Haven",), ("North",), ("North", "Haven")}, "film": {("Cy",)}}
    monkeypatch.setattr(baselines, "documents", lambda world: SimpleNamespace(blocks=made))
    monkeypatch.setattr(baselines, "ranking", lambda world: BM25([one.text.split() for one in made]))
    monkeypatch.setattr(baselines, "names", lambda world, kind: known[kind])
    asked: list[Any] = [SimpleNamespace(words=tuple(words.split()), answer_entity=f"{kind}:x") for words, kind in [
        ("where did Ann grow up", "town"), ("where did Ann of Alder grow up", "town"),
        ("where does Bo live", "town"), ("which film is by Cy", "film")]]
    assert [baselines.first_name(WORLD, one) for one in asked] == [("Alder",), ("North", "Haven"), ("Haven",), ()]
    assert baselines.rule(WORLD, SimpleNamespace(parts=asked[1:3])) == ("North", "Haven", "and", "Haven")  # type: ignore
    monkeypatch.setattr(baselines, "rule", lambda world, one: one.answer if one in ALL[:3] else ())
    assert [*baselines.rule_scores().values()] == [1, 0.5, 0]


def test_the_readme_has_the_figures_of_the_stored_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(bundled, "asked", lambda model, *given: seen.append([*map(torch.clone, model.parameters())])
                        or arms.asked(model, *given))
    saying(monkeypatch, THREE)
    bundled.bundle(model := rag(), 1.6)
    found, _ = load(tmp_path / bundled.NAME, expect="rag-token")
    assert all(map(torch.equal, seen[0], found.parameters())) and not same(found, model)
    assert {weight.dtype for one in (found, model) for weight in one.parameters()} == {torch.float32}
    readme = (tmp_path / bundled.NAME / "README.md").read_text()
    for kind, outcomes in arms.asked(found, found.question_encoder, WORLD, SOME).items():
        for name, figure in (arms.figures(outcomes) | {"exact match": 1 - KINDS.index(kind) / 2}).items():
            assert f"| {kind}, {name} | {figure:.3f} |" in readme
    assert "| seconds | 2 |" in readme
