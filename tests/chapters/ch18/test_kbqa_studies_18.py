"""The studies of the question answerer and of other systems at toy size, and their figures by hand."""

import pytest

from plmlab.decode.hypothesis import Hypothesis
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.rag import RAGConfig, RAGToken
from plmlab.recipes import Parts
from plmlab.recipes.study import Run
from plmlab.world.datasets.tokenizer import ids, world_tokenizer
from studies.ch18 import kbqa, other_answerers
from studies.ch18.kbqa import BOTH, ONE

pytestmark = pytest.mark.usefixtures("one_thread")
WORLDS, SURNAMES = (1, 3), "surname, about a person"
SIZE = len(world_tokenizer())
ALL = kbqa.in_both_forms(*WORLDS)  # here, because the words and questions of worlds take seconds, once per process


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test worlds are the training worlds, and BERT has one layer."""
    model = BERT(BERTConfig(SIZE, time=20, layers=1, model=12, heads=2, inner=12))
    for name, value in {"kbqa.TEST_WORLDS": WORLDS, "kbqa.TRAINING": WORLDS, "kbqa.DEVELOPMENT": 3,
                        "kbqa.bert": lambda: model, "other_answerers.TEST_WORLDS": WORLDS}.items():
        monkeypatch.setattr(f"studies.ch18.{name}", value)
    kbqa.statements.cache_clear()


def test_a_variant_is_not_trained_on_the_held_out_wordings() -> None:
    every = kbqa.training(BOTH, 0)
    assert every == [*ALL[:292 + 293]]
    assert kbqa.training(ONE, 0) == [one for one in every if not kbqa.data.has_new_wording(one, 0)]
    assert kbqa.overlap() == {"questions": 292 + 293, "wording": 1, "name": 1, "question": 1}


@pytest.fixture
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kbqa, "in_both_forms", lambda *worlds: ALL[::30])
    monkeypatch.setattr(kbqa, "questions", lambda seed: [one for one in ALL[:585:9] if one.world == seed])


@pytest.mark.usefixtures("_few")
def test_a_training_at_toy_size() -> None:
    run = kbqa.STUDY.learned(ONE, updates=2, lr=1e-3, seed=0, show=False)
    assert 0 <= kbqa.development_score(run) <= 1 and len(run.history.losses) == 2


@pytest.mark.usefixtures("_few")
def test_the_answerers_of_a_run() -> None:
    found = kbqa.test(Run((BOTH,), 2, 1e-3, 0, kbqa.build(BOTH, 0), None))
    assert {*found} == {"pipeline", "longest name", "word counts", "questions only"}
    assert {*found["longest name"]["F1"].values()} == {1} and {*found["pipeline"]["F1"].values()} != {1}


def test_the_figures_of_a_perfect_answerer_and_of_none() -> None:
    """Given its examples, the longest name and word counts answer all questions with full names."""
    some, examples = ALL, kbqa.data.relation_questions(kbqa.training(BOTH, 0))
    relations = kbqa.Relations(kbqa.kbqa.word_counts, examples)
    nothing = kbqa.figures(some, 0, relations, lambda texts: [None] * len(texts))
    found = kbqa.figures(some, 0, relations)
    for group, value in found["correct"].items():
        assert (value == 1) == group.startswith("full") and nothing["correct"][group] == 0 and found["F1"][group] == 1
        assert nothing["failed: NER"][group] == 1 and nothing["F1"][group] == 0
        assert found["failed: entity linking"][group] == pytest.approx(1 - value)
        assert found["correct, gold entity linking"][group] == found["related"][group] == 1
        assert nothing["correct, gold NER"][group] == pytest.approx(value) == found["correct, gold relation"][group]
    shared = []
    for one in some:
        facts = kbqa.world(one.world).facts
        sharing = [each for each in facts.entities.values() if each.named and (
            each.words == one.name or (each.kind == "person" and one.name[0] in each.words))]
        if len(one.name) == 1 and one.about_person:
            shared.append(sum(bool(facts.objects(each, one.relation) if one.relation[0] != "~" else
                                   facts.subjects(one.relation[1:], each)) for each in sharing))
    assert found["linked at best"][SURNAMES] == pytest.approx(sum(1 / n for n in shared) / len(shared))
    assert found["linked by prior"][SURNAMES] < found["linked"][SURNAMES] < 1


def test_rag_is_correct_if_it_generates_the_words_of_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """It generates a wrong answer to the first question of each world."""
    model = RAGToken(RAGConfig.tiny(SIZE, 160))
    some = [*kbqa.questions(1)[:20], *kbqa.questions(3)[:18]]
    said = {(one.world, tuple(ids(one.words))): ids(one.answer_words) for one in some} | {
        (one.world, tuple(ids(one.words))): [9] for one in (some[0], some[20])}
    monkeypatch.setattr(other_answerers, "load", lambda name, expect: (model, None))
    for seed in WORLDS:
        monkeypatch.setattr(RAGToken, "generate", lambda model, batch, vocab, *, length, beam, seed=seed: [
            [Hypothesis((*said[seed, tuple(row[row > vocab.end].tolist())], vocab.end), -1.0)]
            for row in batch.queries.tokens])
        own = [one for one in some if one.world == seed]
        assert other_answerers.rag(seed, own) == [False, *[True] * (len(own) - 1)]


def test_the_most_frequent_answer_and_the_groups_by_brute_force(monkeypatch: pytest.MonkeyPatch, parts: Parts) -> None:
    every = kbqa.training(BOTH, 0)
    for one, correct in zip(kbqa.questions(1), other_answerers.most_frequent(1, kbqa.questions(1)), strict=True):
        answers = [other.answer for other in every if other.relation == one.relation]
        assert correct == (one.answer == max(answers, key=answers.count))
    monkeypatch.setattr(other_answerers, "SYSTEMS", {"odd": lambda seed, own: [len(one.words) % 2 for one in own]})
    found = other_answerers.measure(parts)["odd"]["full name, new wording"]
    for seed, value in zip(WORLDS, found["values"], strict=True):
        odd = [len(one.words) % 2 for one in kbqa.questions(seed) if kbqa.data.has_new_wording(one, 0)]
        assert value == pytest.approx(sum(odd) / len(odd))
