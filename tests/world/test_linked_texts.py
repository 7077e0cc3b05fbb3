"""Linked texts and facts with ids, against the words, labels and triples of a world."""

from functools import cache
from itertools import islice

import pytest

from plmlab.example import IGNORE
from plmlab.retrieval.facts import facts_of
from plmlab.text import Tokenizer
from plmlab.world.datasets.linked_texts import RELATIONS, entity_ids, linked_text, with_inverses
from plmlab.world.datasets.tokenizer import build_world_tokenizer
from plmlab.world.facts.relations import NAMED
from plmlab.world.world import World, small


@cache
def tokenizer() -> Tokenizer:
    return build_world_tokenizer(small(), ["english"])


def test_ids_are_dense_and_shared_by_worlds_with_the_same_names() -> None:
    one, other = World("medium", 1), World("medium", 3)
    ids, both = entity_ids(one), entity_ids(one, other)
    named = {entity.key for world in (one, other) for entity in world.facts.entities.values() if entity.kind in NAMED}
    assert [*ids.values()] == [*range(60)] and [*both.values()] == [*range(len(named))] and {*both} == named
    assert [*both][:60] == [*ids]
    assert len(both) < 60 + len(entity_ids(other))  # some names occur in both worlds


def test_names_in_articles_are_linked_where_they_are_written() -> None:
    """Joined sentences: each span has the words of its entity's name, and every such mention is found."""
    world, ids = small(), entity_ids(small())
    keys, pronouns = [*ids], 0
    for article in world.articles("train"):
        text, links = linked_text(world, article.sentences, ids, tokenizer())
        words = tokenizer().tokens(text)
        assert tuple(words) == article.words and len(text.sentences) == len(article.sentences)
        found = [(" ".join(words[start:end]), keys[link])
                 for (start, end), link in zip(text.entities, links, strict=True)]
        assert found == [(world.facts[mention.entity].name, mention.entity) for sentence in article.sentences
                         for mention in sentence.mentions
                         if " ".join(sentence.words[mention.start:mention.end]) == world.facts[mention.entity].name]
        pronouns += sum(len(sentence.mentions) for sentence in article.sentences) - len(found)
    assert pronouns > 5


def test_an_unknown_entity_is_not_linked_but_remains_a_mention() -> None:
    world = small()
    ids = {key: i for key, i in entity_ids(world).items() if not key.startswith("town:")}
    drawn = [sentence for sentence in islice(world.sentences(), 60) if sentence.mentions]
    seen = set()
    for sentence in drawn:
        text, links = linked_text(world, [sentence], ids, tokenizer())
        assert text.entities == sentence.named  # the grammar's sentences have no pronouns
        assert [link == IGNORE for link in links] == [m.entity.startswith("town:") for m in sentence.mentions]
        seen |= {link == IGNORE for link in links}
    assert seen == {True, False}
    assert linked_text(world, [], ids, tokenizer()).text.entities == ()


def test_a_tokenizer_of_word_pieces_is_refused() -> None:
    sentence = next(one for one in small().sentences() if one.mentions)
    pieces = Tokenizer.bpe(["a b"], 300)
    with pytest.raises(ValueError, match="one token per word"):
        linked_text(small(), [sentence], {}, pieces)


def test_relations_are_all_those_with_named_objects() -> None:
    relations = small().facts.relations.values()
    assert tuple(one.name for one in relations if not one.derived and {*one.objects} <= {*NAMED}) == RELATIONS
    assert not any({*one.objects} & {*NAMED} for one in relations if one.name not in RELATIONS and not one.derived)


def test_inverse_facts_lead_from_every_object_back_to_its_subjects() -> None:
    world, ids = small(), entity_ids(small())
    facts = facts_of((ids[one.subject], RELATIONS.index(one.relation), ids[one.object])
                     for one in world.triples() if one.object in ids)
    inverse = with_inverses(world, facts)[len(facts):]
    assert with_inverses(world, facts)[:len(facts)] == facts
    back = {(fact.key, target) for fact in inverse for target in fact.objects}
    symmetric = {RELATIONS.index("married_to"), RELATIONS.index("sibling_of")}
    assert back == {((target, len(RELATIONS) + fact.relation), fact.subject) for fact in facts
                    for target in fact.objects if fact.relation not in symmetric}
    assert all((fact.subject in of.objects) for fact in facts if fact.relation in symmetric
               for target in fact.objects for of in facts if of.key == (target, fact.relation))
    town = ids[world.facts.kind("town")[0].key]
    born = {fact.subject for fact in facts if fact.relation == 0 and fact.objects == (town,)}
    assert [set(fact.objects) for fact in inverse if fact.key == (town, len(RELATIONS))] == ([born] if born else [])
