"""The knowledge bases of a world: names, priors, gold entities and graphs against its facts, lexicon and labels."""

from functools import cache, partial
from itertools import islice

import pytest

from plmlab.candidates import NULL, LinkedBatch
from plmlab.example import IGNORE
from plmlab.objectives import masked
from plmlab.objectives.entity_linking import drop_mention
from plmlab.text.knowledge import KnowledgeBase
from plmlab.vectors.knowledge import description_vectors, graph_vectors
from plmlab.world.datasets import knowledge_bases as bases
from plmlab.world.datasets.tokenizer import build_world_tokenizer
from plmlab.world.world import World, small

NOTHING = partial(masked, select=())


@cache
def world_bases() -> tuple[World, KnowledgeBase, KnowledgeBase]:
    world = small()
    words = build_world_tokenizer(world, ["english"])
    return world, bases.entity_knowledge(world, words), bases.sense_knowledge(world, words, {"bank.river": 2})


def test_every_mention_of_a_sentence_is_found_with_its_entity() -> None:
    """Names that are not mentions have the gold entity NULL, words without a label none."""
    world, entities, senses = world_bases()
    batches = bases.linked_batches(world, "train", entities.tokenizer, NOTHING, entities, senses, 30, 1)
    count = 0
    for example in batches.examples(0):
        words = entities.tokens(example.tokens.tolist())[1:-1]
        sentence = world.parse(words)
        gold = {(m.start - 1, m.end - 1): entities.key(m.gold) for m in example.mentions[0] if m.gold != NULL}
        assert gold == {(start, end): key for start, end, key in sentence.mentions}
        labelled = {m.start - 1: senses.key(m.gold) for m in example.mentions[1] if m.gold != IGNORE}
        assert labelled == {i: sense for i, sense in enumerate(sentence.senses) if sense}
        count += len(gold)
        for mention in example.mentions[0]:
            name = " ".join(words[mention.start - 1:mention.end - 1])
            assert {*map(entities.key, mention.entities[:-1])} == {
                one.key for one in world.facts.entities.values() if one.named
                and (one.name == name or (one.kind == "person" and name in one.words))}
        for mention in example.mentions[1]:
            readings = world.lexicon.readings[words[mention.start - 1]]
            assert {*map(senses.key, mention.entities[:-1])} == {
                word.key for word, _ in readings if word.tag in bases.OPEN_CLASSES}
    assert count > 5 and type(batches(0)) is LinkedBatch


def test_priors_of_senses_and_masked_mentions() -> None:
    world, entities, senses = world_bases()
    (bank,) = senses.mentions(senses.tokenizer.encode("bank", plain=True))
    assert dict(zip(map(senses.key, bank.entities), bank.priors, strict=True)) == pytest.approx(
        {"bank.river": 3 / 4, "bank.money": 1 / 4, None: 0})
    drawn = bases.sense_counts(world, 200)
    assert drawn and {word for word, _ in drawn.items()} <= {word.key for word in world.lexicon if word.sense}
    all_masked = partial(masked, rate=1.0)
    batches = bases.linked_batches(world, "train", entities.tokenizer, all_masked, entities, senses, 5, 1, drop_mention)
    assert not any(some for example in batches.examples(0) for some in example.mentions)


def test_graphs_and_descriptions_give_a_vector_for_each_entity() -> None:
    world, entities, senses = world_bases()
    graph = bases.entity_graph(world)
    assert len(graph) == len(world.facts.triples) > len(bases.entity_graph(world, "train"))
    assert ("bank.river", "tag", "NOUN") in bases.sense_graph(world)
    for base, edges in ((entities, graph), (senses, bases.sense_graph(world))):
        vectors = graph_vectors(base.entities, edges, 6)
        assert vectors.shape == (len(base.entities), 6) and vectors.isfinite().all() and vectors.any(0).all()
    described = bases.sense_descriptions(world, 300)
    assert description_vectors(described, 4).shape == (len(senses.entities), 4)


def test_descriptions_tell_the_senses_of_a_word_apart() -> None:
    """The graph of the lexicon does not."""
    world, _, senses = world_bases()
    described = dict(zip(senses.entities, bases.sense_descriptions(world, 300), strict=True))
    rows = {key: {edge[1:] for edge in bases.sense_graph(world) if edge[0] == key} for key in described}
    assert rows["bank.river"] == rows["bank.money"] and set(described["bank.river"]) != set(described["bank.money"])
    for sentence in islice(world.sentences("train", 0), 300):
        for word, sense in zip(sentence.words, sentence.senses, strict=True):
            assert sense not in described or {*sentence.words} - {word} <= {*described[sense]}
    assert all({value for _, value in rows[key]} <= {*words} for key, words in described.items())
