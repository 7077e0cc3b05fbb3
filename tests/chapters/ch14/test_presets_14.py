"""A question of the world as a preset of the lab: it names the start, and each gold edge's sentence says its end."""

from itertools import islice

import pytest

from plmlab import world
from plmlab.chapters.ch14.answering import start_search
from plmlab.chapters.ch14.presets import PRESETS, preset, presets
from plmlab.chapters.ch14.test_set import questions
from plmlab.chapters.ch14.training import pages
from plmlab.checkpoints import load


@pytest.mark.parametrize(("kind", "kinds"), [("one-hop", {"special"}), ("bridge", {"special"}),
                                             ("comparison", {"either-or", "yes-no"})])
def test_a_question_of_the_world_is_a_preset(kind: str, kinds: set[str]) -> None:
    told, seen = pages("test"), set[str]()
    for question in islice(world.full().questions(kind, "test", 4), 20):
        made = preset(question, told, "a title", "a note")
        assert (made.title, made.note, made.question) == ("a title", "a note", " ".join(question.words))
        assert made.gold and made.answer == " ".join(question.answer)
        for (source, target), number in made.gold.edges.items():
            assert f" {target} " in f" {told.texts[source][number]} "
        ends = {target for _, target in made.gold.edges}
        assert {name for name in made.gold.nodes if name not in ends} <= {*told.named(told.ids(question.words))}
        assert made.kind != "special" or made.answer in ends
        seen.add(made.kind)
    assert seen == kinds


def test_what_is_said_to_fail_does_and_for_the_reason_that_is_told() -> None:
    model, _ = load("cogqa-world")
    told = pages("test")
    found = []
    for (group, words, _, _), made in zip(PRESETS, presets(), strict=True):
        question = next(one for one in questions("test")[group] if words in one.text)
        asked = start_search(model, told, question)
        state = asked.finished()
        assert (asked.answer(state) == made.answer) != bool(made.note)
        found.append((question, asked, state, made.answer))
    question, asked, state, right = found[1]
    assert asked.likeliest(state) == right and right in state.answers
    cut = start_search(model, told, question, forbidden=frozenset({("A Gentle Bridge", "Brookdale")}))
    assert cut.answer(cut.finished()) == right
    _, asked, state, right = found[2]
    assert right in state.answers and len(state.answers) == 2
    _, asked, state, _ = found[3]
    assert all(state.visits[name].answers for name in asked.comparison_pair(state))
