"""The questions that FaE is asked as statements, and its figures by hand."""

from typing import Any

import pytest

from plmlab.world.datasets.fact_worlds import GROUPS
from studies.ch18 import fae_answerer
from studies.ch18.edits import Answer
from studies.ch18.fae_answerer import both_directions, fact, figures, key, statement
from studies.ch18.kbqa import questions

pytestmark = pytest.mark.usefixtures("one_thread")
WORLD = both_directions(1)
QUESTIONS = [*questions(1)]
KEYS, TRIPLES = [*WORLD.ids], {*WORLD.world.triples()}
ASKED = [one for one in QUESTIONS if statement(WORLD, one)]


def test_a_statement_states_the_fact_of_the_question_and_masks_the_answer() -> None:
    """It is not in the training text, and names the entity of the question."""
    text, memory = {one.words for one in WORLD.text}, {one.key: one.objects for one in WORLD.memory()}
    for one in ASKED:
        made = statement(WORLD, one)
        assert made is not None and made.fact in TRIPLES and made.sentence.words not in text
        _, names = WORLD.linked(made.sentence)
        assert KEYS[names[made.mention]] == one.answer and WORLD.ids[one.entity] in names
        assert WORLD.documents.plain(made.fact) in map(WORLD.documents.plain, made.sentence.facts)
        assert memory[key(WORLD, one)] == (WORLD.ids[one.answer],)
    assert {one.relation[0] == "~" for one in ASKED} == {False, True}


def test_only_names_are_asked() -> None:
    stated = {WORLD.documents.plain(one.fact) for one in WORLD.test}
    for one in QUESTIONS:
        named = one.answer in WORLD.ids
        assert (statement(WORLD, one) is not None) == (named and WORLD.documents.plain(fact(one)) in stated)
    assert len(ASKED) < sum(one.answer in WORLD.ids for one in QUESTIONS) < len(QUESTIONS)


def test_figures_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look-up in the memory, which misses the first question and retrieves no fact for the second one."""
    def look_up(model: Any, world: Any, statements: Any, facts: Any) -> list[Answer]:
        memory = {each.key: each for each in facts}
        best = [memory[key(world, one)] for one in ASKED]
        found = [Answer(world.entities[each.objects[0]], 0.0, (each,)) for each in best]
        return [found[0]._replace(entity=world.world.facts[ASKED[0].entity]), found[1]._replace(facts=()), *found[2:]]
    monkeypatch.setattr(fae_answerer, "answers", look_up)
    model: Any = None
    found, n, group = figures(model, WORLD, QUESTIONS), len(ASKED), WORLD.group(fact(ASKED[0]))
    named = [one for one in QUESTIONS if one.answer in WORLD.ids]
    expected = {"asked": n / len(QUESTIONS), "all": (n - 1) / len(QUESTIONS),
                "answer is a name": (n - 1) / len(named), "asked, correct": (n - 1) / n, "fact first": (n - 1) / n,
                "subject": 1 - (ASKED[0].relation[0] == "~") / sum(one.relation[0] == "~" for one in ASKED)}
    for name in GROUPS:
        size = sum(WORLD.group(fact(one)) == name for one in ASKED)
        expected[name] = (size - (name == group)) / size
    assert found == pytest.approx(expected)


def test_a_training_at_toy_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fae_answerer, "UPDATES", 1)
    monkeypatch.setattr(fae_answerer, "questions", lambda seed: [*ASKED[::9], *QUESTIONS[:3]])
    monkeypatch.setitem(vars(WORLD), "text", WORLD.text[::50])
    found = fae_answerer.test(0, 1e-3)
    assert found["asked"] > 0.8 and found["all"] < 0.5 and all(0 <= value <= 1 for value in found.values())
