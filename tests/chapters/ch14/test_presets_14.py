"""A question of the world as a preset of the lab: it names the start, and each gold edge's sentence says its end."""

from itertools import islice

import pytest

from plmlab import world
from plmlab.chapters.ch14.presets import preset
from plmlab.chapters.ch14.training import pages


@pytest.mark.parametrize(("kind", "kinds"), [("one-hop", {"special"}), ("bridge", {"special"}),
                                             ("comparison", {"either-or", "yes-no"})])
def test_a_question_of_the_world_is_a_preset(kind: str, kinds: set[str]) -> None:
    told, seen = pages("test"), set[str]()
    for question in islice(world.full().questions(kind, "test", 4), 20):
        made = preset(question, told, "a title", "a note")
        assert (made.title, made.note, made.question) == ("a title", "a note", " ".join(question.words))
        assert made.gold and made.answer == " ".join(question.answer)
        for (source, target), number in made.gold.edges.items():
            assert f" {target} " in f" {told.spelled(told.sentences(source)[number])} "
        ends = {target for _, target in made.gold.edges}
        assert {name for name in made.gold.nodes if name not in ends} <= {*told.named(told.ids(question.words))}
        assert made.kind != "special" or made.answer in ends
        seen.add(made.kind)
    assert seen == kinds
