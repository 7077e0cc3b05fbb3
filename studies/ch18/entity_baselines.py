"""Baselines without a network for masked names: each is made from training sentences, and predicts an entity."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping

from plmlab.retrieval import BM25
from plmlab.world.datasets.linked_statements import TRAIN, EntityCloze, Statements
from plmlab.world.datasets.linked_texts import LinkedText

Baseline = Callable[[EntityCloze], int | None]


def most_frequent(data: Statements) -> Baseline:
    """The most frequent entity of the fact's relation in the same place, with this number of tokens."""
    def key(cloze: EntityCloze) -> tuple[str, str, int]:
        return cloze.relation, cloze.place, len(data.names[cloze.entity])

    counts = defaultdict[tuple[str, str, int], Counter[int]](Counter)
    for cloze in data.clozes[TRAIN]:
        counts[key(cloze)][cloze.entity] += 1
    return lambda cloze: max(counts[key(cloze)], key=counts[key(cloze)].__getitem__, default=None)


def visible(cloze: EntityCloze) -> int:
    """The entity whose name is not masked."""
    return cloze.text.links[1 - cloze.mention]


def co_occurring(data: Statements) -> Baseline:
    """The entity that occurs most often with the visible one, of those with this number of tokens."""
    counts = defaultdict[int, Counter[int]](Counter)
    for _, (one, other) in data.texts:
        counts[one][other] += 1
        counts[other][one] += 1

    def predicted(cloze: EntityCloze) -> int | None:
        found = {entity: count for entity, count in counts[visible(cloze)].items()
                 if len(data.names[entity]) == len(data.names[cloze.entity])}
        return max(found, key=found.__getitem__, default=None)
    return predicted


def ranking(data: Statements) -> Callable[[EntityCloze], list[LinkedText]]:
    """The training sentences, the most similar ones by BM25 first."""
    index = BM25([data.tokenizer.tokens(text.text) for text in data.texts])

    def ranked(cloze: EntityCloze) -> list[LinkedText]:
        words, (start, end) = data.tokenizer.tokens(cloze.text.text), cloze.span
        found = index.search([words[:start] + words[end:]], len(data.texts)).numbers[0].tolist()
        return [data.texts[number] for number in found]
    return ranked


def first_name(data: Statements, texts: Iterable[LinkedText], cloze: EntityCloze) -> int | None:
    """The first entity in the texts that has the masked name's number of tokens and is not the visible one."""
    return next((entity for text in texts for entity in text.links if entity != visible(cloze)
                 and len(data.names[entity]) == len(data.names[cloze.entity])), None)


def nearest_sentence(data: Statements) -> Baseline:
    """The `first_name` in the most similar training sentences."""
    ranked = ranking(data)
    return lambda cloze: first_name(data, ranked(cloze), cloze)


def nearest_with_name(data: Statements) -> Baseline:
    """The `first_name` in the most similar training sentences that contain the visible name."""
    ranked = ranking(data)
    return lambda cloze: first_name(data, (text for text in ranked(cloze) if visible(cloze) in text.links), cloze)


BASELINES: Mapping[str, Callable[[Statements], Baseline]] = {
    "most frequent": most_frequent, "co-occurrence": co_occurring, "nearest sentence": nearest_sentence,
    "nearest sentence with the visible name": nearest_with_name}
