"""Texts of a world whose names are linked to entities, and its facts with ids, for entity memories (EaE, FaE)."""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain
from operator import add
from typing import NamedTuple

from plmlab.example import IGNORE
from plmlab.retrieval.facts import Fact, facts_of
from plmlab.text import Text, Tokenizer
from plmlab.world.datasets.texts import of_sentence, rows
from plmlab.world.grammar.sentence import Mention, Sentence
from plmlab.world.world import World

RELATIONS = ("born_in", "lives_in", "works_for", "married_to", "sibling_of", "taught_by", "directed_by", "shot_at",
             "stars", "based_on", "written_by", "located_in", "owned_by", "founded_by", "in_country", "on_river",
             "capital")
"""The relations whose objects are named entities, in the order of relations.tsv. Relation i has the id i, and its
inverse the id ``len(RELATIONS) + i``."""

Ids = Mapping[str, int]
"""Key of an entity, such as "person:Anna Bell" → its id."""


class LinkedText(NamedTuple):
    """A text, whose ``entities`` are the names in it, and the id of the entity that each name denotes, or IGNORE if the
    entity has no id."""

    text: Text
    links: tuple[int, ...]


def entity_ids(*worlds: World) -> dict[str, int]:
    """Ids of the named entities of one or several worlds, from 0 on, in order of first occurrence. Entities with the
    same kind and name in two worlds have the same id."""
    keys = (entity.key for world in worlds for entity in world.facts.entities.values() if entity.named)
    return {key: i for i, key in enumerate(dict.fromkeys(keys))}


def names(world: World, sentence: Sentence) -> Iterator[Mention]:
    """The mentions of a sentence that consist of the entity's name; the others are pronouns and phrases such as "the
    town"."""
    return (mention for mention in sentence.mentions
            if sentence.words[mention.start:mention.end] == world.facts[mention.entity].words)


def linked_text(world: World, sentences: Sequence[Sentence], ids: Ids, tokenizer: Tokenizer) -> LinkedText:
    """The English sentences of this world as one text with linked names.

    Pronouns, and phrases such as "the town", are no mentions. Raises ValueError if the tokenizer does not have one
    token per word.
    """
    mentions = [[*names(world, sentence)] for sentence in sentences]
    texts = (of_sentence(row, one.words, [(start, end) for start, end, _ in some]) for row, one, some
             in zip(rows(tokenizer, [one.words for one in sentences]), sentences, mentions, strict=True))
    return LinkedText(reduce(add, texts, Text(words=(), sentences=(), entities=())),
                      tuple(ids.get(mention.entity, IGNORE) for mention in chain.from_iterable(mentions)))


def with_inverses(world: World, facts: Sequence[Fact]) -> list[Fact]:
    """The facts, followed by one fact per object and inverse relation, so that a masked subject can also be found. A
    symmetric relation of the world, such as marriage, holds in both directions already and gets no inverse."""
    directed = [fact for fact in facts if not world.facts.relation(RELATIONS[fact.relation]).mirrored]
    return [*facts, *facts_of((target, len(RELATIONS) + fact.relation, fact.subject)
                              for fact in directed for target in fact.objects)]
