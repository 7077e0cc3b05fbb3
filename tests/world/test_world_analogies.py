"""Pairs of one relation, looked up one by one in lexicon and facts; and the questions that are made of them."""

from collections import Counter
from itertools import permutations

import pytest

from plmlab.world.datasets.analogies import FACTS, FORMS, Question, asked, questions, related

PAIRS = [("cat", "cats"), ("dog", "dogs"), ("cow", "cows"), ("hen", "hens")]


@pytest.mark.parametrize("name", FORMS)
def test_forms_are_those_of_one_word(name: str, full) -> None:
    tag, one, other = FORMS[name]
    pairs = related(full)[name]
    listed = {(word.forms.get(one), word.forms.get(other)) for word in full.lexicon if word.tag == tag}
    assert len(pairs) > 20 and set(pairs) <= listed


def test_some_of_them_by_name(full) -> None:
    found = related(full)
    assert {("girl", "girls"), ("woman", "women")} <= set(found["noun: plural"])
    assert ("sleep", "sleeps") in found["verb: third person"] and ("sleep", "slept") in found["verb: past"]


@pytest.mark.parametrize("name", FACTS)
def test_facts_are_told_by_training_text(name: str, full) -> None:
    relation = FACTS[name]
    pairs = related(full)[name]
    kinds = name.replace("its ", "").replace("capital", "town").split(": ")
    by_name = [{entity.words[-1] if kind == "river" else " ".join(entity.words): entity
                for entity in full.facts.entities.values() if entity.kind == kind} for kind in kinds]
    told = {(fact.subject, fact.object) for fact in full.triples("train") if fact.relation == relation}
    assert len(pairs) > 3
    for one, other in pairs:
        assert (by_name[0][one].key, by_name[1][other].key) in told
    assert len(pairs) <= len(told)


def test_every_pair_is_of_single_words_that_are_said_and_have_one_sense(full) -> None:
    said = Counter(full.automaton().vocabulary)
    for pairs in related(full).values():
        for pair in pairs:
            assert len(set(pair)) == 2 and all(said[word] == 1 and " " not in word for word in pair)
            assert not {*pair} & set(full.lexicon.ambiguous)
        firsts = [one for one, _ in pairs]
        assert len(firsts) == len(set(firsts)), "what it is asked of has one answer"


def test_what_training_text_never_says_is_not_asked(full) -> None:
    """Facts that are held out stand in no pair."""
    trained = {(fact.subject, fact.relation) for fact in full.triples("train")}
    names = {entity.key: entity.words[-1] for entity in full.facts.entities.values()}
    for name, relation in FACTS.items():
        held = {(names[fact.subject], names[fact.object]) for fact in full.facts.triples
                if fact.relation == relation and (fact.subject, relation) not in trained}
        assert not held & set(related(full)[name])


def test_a_small_world_has_what_it_has(small) -> None:
    found = related(small)
    assert found["town: its country"] == [("Fairview", "Arvania"), ("Kingsley", "Cordonia"), ("Westbury", "Arvania")]
    assert found["town: its river"] == [] and questions([]) == []


def test_every_pair_is_asked_by_every_other() -> None:
    told = questions(PAIRS)
    assert len(told) == 12 == len(set(told))
    assert set(told) == {(*one, *other) for one, other in permutations(PAIRS, 2)}
    assert all(type(question) is Question for question in told)
    assert told[0].a in dict(PAIRS) and dict(PAIRS)[told[0].a] == told[0].b and dict(PAIRS)[told[0].c] == told[0].d


def test_no_question_holds_its_own_answer() -> None:
    """Two towns of one country cannot be asked: the question's own words are left out of the search."""
    told = questions([("Rome", "Italy"), ("Milan", "Italy"), ("Oslo", "Norway"), ("Norway", "Europe")])
    ways = {("Rome", "Oslo"), ("Milan", "Oslo"), ("Rome", "Norway"), ("Milan", "Norway")}
    assert {(q.a, q.c) for q in told} == ways | {(c, a) for a, c in ways}


def test_of_many_questions_so_many_are_drawn_by_a_seed() -> None:
    pairs = [(f"a{i}", f"b{i}") for i in range(30)]
    told = [questions(pairs, most=100, seed=seed) for seed in (0, 0, 1)]
    assert told[0] == told[1] != told[2] and len(set(told[0])) == 100
    assert set(told[0]) <= {(*one, *other) for one, other in permutations(pairs, 2)}
    assert len({question.a for question in told[0]}) > 20, "from all over the table"


def test_each_relation_has_its_questions(full) -> None:
    found = related(full)
    told = asked(found, most=50, seed=3)
    assert list(told) == list(found) == [*FORMS, *FACTS]
    for name, pairs in found.items():
        assert told[name] == questions(pairs, most=50, seed=3) and 0 < len(told[name]) <= 50
