"""Sentences and articles for the Small World Lab: words, gold labels, links."""

from collections.abc import Iterator
from itertools import islice

from plmlab.labs.world.state import End, Entity, Fact
from plmlab.labs.world.state import Sentence as SentenceState
from plmlab.world import World
from plmlab.world.facts.relations import Triple
from plmlab.world.grammar.sentence import Sentence

SENTENCES = 4
LOOKED_AT = 400


def fact_state(triple: Triple, world: World) -> Fact:
    """One fact as a dict for JavaScript: subject, relation and object; ``named`` entities have an article."""
    def end(key: str) -> End:
        entity = world.facts[key]
        return {"key": key, "name": entity.name, "kind": entity.kind, "named": entity.named}
    return {"subject": end(triple.subject), "relation": world.facts.relation(triple.relation).english,
            "object": end(triple.object)}


def sentence_state(sentence: Sentence, world: World) -> SentenceState:
    """One sentence with all its gold labels, as a dict for JavaScript; ``nats`` is −log p of the sentence."""
    return {
        "words": list(sentence.words), "tags": list(sentence.tags),
        "senses": [sense and sense.partition(".")[2] for sense in sentence.senses],
        "mentions": [{"start": start, "end": end, "key": key, "kind": world.facts[key].kind,
                      "name": world.facts[key].name} for start, end, key in sentence.mentions],
        "agreement": [{"subject": link.subject, "verb": link.verb, "number": link.number,
                       "attractors": link.attractors, "distance": link.distance} for link in sentence.agreement],
        "facts": [fact_state(triple, world) for triple in sentence.facts],
        "chinese": "".join(sentence.chinese), "nats": -sentence.logprob,
    }


def telling_sentences(world: World, drawn: int) -> list[Sentence]:
    """Instructive sentences from one sample: a sentence that states a fact, one with an ambiguous word, one with
    long-distance agreement, and a plain one."""
    stream: Iterator[Sentence] = islice(world.sentences("train", seed=1 + drawn), LOOKED_AT)
    wanted = [
        lambda s: bool(s.facts) and len(s.mentions) > 0,
        lambda s: any(s.senses),
        lambda s: any(link.attractors and link.distance > 2 for link in s.agreement),
        lambda s: not s.facts and not any(s.senses),
    ]
    selected: dict[int, Sentence] = {}
    for sentence in stream:
        for index, fits in enumerate(wanted):
            if index not in selected and fits(sentence):
                selected[index] = sentence
                break
        if len(selected) == len(wanted):
            break
    return [selected[index] for index in sorted(selected)]


def sentences_state(world: World, drawn: int) -> list[SentenceState]:
    """The sentences of one sample, each as a dict for JavaScript."""
    return [sentence_state(sentence, world) for sentence in telling_sentences(world, drawn)]


def directory(world: World) -> list[dict[str, str]]:
    """All entities that have an article, with their key, name and kind, for the searchable list."""
    return [{"key": entity.key, "name": entity.name, "kind": entity.kind}
            for entity in world.facts.entities.values() if entity.named]


def entity_state(world: World, key: str) -> Entity:
    """An entity for JavaScript: its article, and the facts that have the entity as subject or object.

    Raises:
        ValueError: if there is no such entity, or if it has no article.
    """
    entity, article = world.facts[key], world.article(key)
    known = [triple for triple in world.facts.triples if key in (triple.subject, triple.object)]
    return {
        "key": key, "name": entity.name, "kind": entity.kind, "chinese": "".join(entity.chinese),
        "sentences": [sentence_state(sentence, world) for sentence in article.sentences], "gist": list(article.gist),
        "facts": [fact_state(triple, world) for triple in known], "held": key in world.held.entities,
    }
