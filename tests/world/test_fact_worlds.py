"""A world whose facts change: statements, groups, memories, changes and renamings, against its triples and words."""

from random import Random
from typing import Any

from plmlab.world.datasets.fact_worlds import GROUPS, STATED, UNSEEN, fact_world, joined
from plmlab.world.datasets.linked_texts import RELATIONS, names
from plmlab.world.datasets.tokenizer import ids
from plmlab.world.facts.relations import Triple

WORLD = fact_world(1)
FACTS, KEYS, PLAIN = WORLD.world.facts, [*WORLD.ids], WORLD.documents.plain


def test_statements_and_what_the_training_text_states() -> None:
    """The masked name is the only object of a true fact, whose subject is named."""
    assert len(WORLD.test) == len(WORLD.statements) > 100
    for fact, sentence, mention in (one for some in WORLD.statements.values() for one in some):
        start, end, key = [*names(WORLD.world, sentence)][mention]
        assert key == fact.object and sentence.words[start:end] == FACTS[key].words
        assert FACTS.objects(FACTS[fact.subject], fact.relation) == [FACTS[key]]
        assert FACTS[fact.subject].name in sentence.text and PLAIN(fact) in map(PLAIN, sentence.facts)
    size, counts = len(WORLD.groups), [[*WORLD.groups.values()].count(group) for group in GROUPS]
    assert counts == [round(0.6 * size), round(0.8 * size) - round(0.6 * size), size - round(0.8 * size)]
    told = {PLAIN(fact) for sentence in WORLD.text for fact in sentence.facts}
    assert all(WORLD.groups[fact] == STATED or fact not in told for fact in WORLD.groups)
    assert len(told & {*WORLD.groups}) > 0.9 * counts[0]
    assert not {one.sentence.words for one in WORLD.test} & {sentence.words for sentence in WORLD.text}


def test_memories_have_the_triples_after_false_changes_of_the_same_form() -> None:
    def triples(*given: Any) -> set[Triple]:
        return {Triple(KEYS[s], RELATIONS[r], KEYS[each]) for s, r, some in WORLD.memory(*given) for each in some}
    whole = {one for one in FACTS.triples if {one.subject, one.object} <= {*KEYS}}
    assert triples() == whole and triples({}, {UNSEEN}) == {one for one in whole if WORLD.group(one) != UNSEEN} < whole
    first, second = WORLD.changes
    assert not {*first} & {*second} and min(map(len, WORLD.changes)) > 30 and len(first) <= len(WORLD.test) / 2
    for changes in WORLD.changes:
        gone = whole - {*changes} - {Triple(one.object, one.relation, one.subject) for one in changes
                                     if FACTS.relation(one.relation).mirrored}
        new = {Triple(one.subject, one.relation, entity.key) for one, entity in changes.items()}
        assert triples(dict.fromkeys(changes)) == gone and triples(changes) == gone | new and not new & whole
        for fact, entity in changes.items():
            old = FACTS[fact.object]
            assert (entity.kind, len(entity.words)) == (old.kind, len(old.words)) and entity.key != fact.subject
            assert entity.traits.get("gender") == old.traits.get("gender")
        assert {WORLD.group(fact) for fact in changes} == {*GROUPS}


def test_renamed_texts_have_the_words_of_the_new_names() -> None:
    new, moved = WORLD.renaming(Random(0)), 0
    assert sorted(new) == [*range(len(KEYS))]
    for sentence, other in zip(WORLD.text[:40], WORLD.text[1:], strict=False):
        plain, words = joined(WORLD.linked(sentence), WORLD.linked(other)), [*sentence.words, *other.words]
        text, links = WORLD.renamed(plain, new)
        assert list(plain.text) == ids(words) and links == tuple(new[link] for link in plain.links)
        for (start, end), link in zip(plain.text.entities, links, strict=True):
            moved += words[start:end] != [*FACTS[KEYS[link]].words]
            words[start:end] = FACTS[KEYS[link]].words
        assert list(text) == ids(words) and text.entities == plain.text.entities
    assert moved > 40
