"""Annotated one-hop questions against the facts and the table of wordings."""

from collections import defaultdict
from statistics import fmean

import pytest

from plmlab.world.datasets import entity_questions as data
from plmlab.world.datasets.tokenizer import world_tokenizer
from plmlab.world.tables import read_table
from plmlab.world.world import World

WORLD = World("medium", 1)
QUESTIONS = data.one_hop_questions(WORLD)


def test_each_question_has_its_wording_and_the_only_answer() -> None:
    table = defaultdict[str, list[list[str]]](list)
    for row in read_table("question_wordings.tsv", required=("shape", "english")):
        table[row["shape"]].append(row["english"].split())
    for one in QUESTIONS:
        entity, (shape, wording) = WORLD.facts[one.entity], one.wording
        template = [word for part in table[shape][wording] for word in (entity.words if part == "{a}" else [part])]
        assert one.name == entity.words and len(table[shape]) == data.WORDINGS
        assert all("@" in part or part == word for part, word in zip(template, one.words, strict=True))
        found = (WORLD.facts.subjects(one.relation[1:], entity) if one.relation.startswith("~")
                 else WORLD.facts.objects(entity, one.relation))
        assert [each.key for each in found] == [one.answer]
    assert len(QUESTIONS) == len({*QUESTIONS}) == 292 and {one.relation[0] == "~" for one in QUESTIONS} == {True, False}
    assert {one.answer: one.answer_words for one in QUESTIONS}["food:pie"] == ("pies",)


def test_one_of_the_two_wordings_is_held_out() -> None:
    held = [{one.wording for one in QUESTIONS if data.has_new_wording(one, seed)} for seed in range(3)]
    for wordings in held:
        shapes, indices = zip(*wordings, strict=True)
        assert len(wordings) == len({*shapes}) > 20 and {*indices} == {0, 1}
    assert held[0] != held[1] != held[2]


def test_surnames_and_groups() -> None:
    both = data.with_surnames(QUESTIONS)
    people = [one for one in QUESTIONS if one.entity.startswith("person:")]
    assert both[:292] == QUESTIONS and both[292:] == [one.with_surname() for one in people]
    assert all(short.name == one.name[1:] and short.words == tuple(word for word in one.words if word != one.name[0])
               for one, short in zip(people, both[292:], strict=True))
    groups = data.by_group(both, 0, [one in QUESTIONS for one in both], fmean)
    assert groups == {group: float(group.startswith("full name")) for group in groups} and len(groups) == 10
    counts = data.by_group(both, 0, both, len)
    assert all(counts[f"{form}, seen wording"] + counts[f"{form}, new wording"] == size
               == counts[f"{form}, answer is a name"] + counts[f"{form}, answer is a value"]
               for form, size in (("full name", 292), ("surname", len(people))))
    with pytest.raises(ValueError, match="only a person has a surname"):
        next(one for one in QUESTIONS if one not in people).with_surname()


def test_results_keep_the_order_of_the_questions() -> None:
    mixed = [one for pair in zip(QUESTIONS, data.one_hop_questions(World("medium", 3)), strict=False) for one in pair]
    found = data.by_world(mixed, lambda world, own: [(world, each) for each in own])
    assert found == [(one.world, one) for one in mixed] and [one.world for one in mixed[:4]] == [1, 3, 1, 3]


def test_masked_questions_and_statements() -> None:
    """No word of a name is left in them."""
    spell = world_tokenizer().tokens
    assert spell(data.masked(["a", "b", "c", "d", "e"], [(3, 5), (0, 2)]))[::2] == ["[MASK]", "[MASK]"]
    questions, statements = data.relation_questions(QUESTIONS), data.relation_statements(WORLD)
    assert {*questions} == {one.relation for one in QUESTIONS}
    assert {*statements} > {name.strip("~") for name in questions}
    assert all(row.count(world_tokenizer().vocab.mask) == 1 for some in questions.values() for row in some)
    assert "[MASK] plays the [MASK] ." in {" ".join(spell(row)) for row in statements["plays"]}
    words = {word for some in (*questions.values(), *statements.values()) for row in some for word in spell(row)}
    assert not [word for word in words if word[0].isupper()]
