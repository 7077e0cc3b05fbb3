"""Training, development and test sets of three token-labelling tasks: NER, part-of-speech tagging, word senses.

The test sets are new to the models. NER: names of people, companies, cafés, films and books that occur neither in
pretraining nor in the tagger's training (although their words occur elsewhere), with the same number of sentences per
category. Parts of speech: sentences of the world's test split. Senses: other sentences that contain the ambiguous
words.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from random import Random
from statistics import fmean
from typing import NamedTuple

from plmlab import transfer, world
from plmlab.draws import sample
from plmlab.metrics import entity_f1
from plmlab.world.datasets.occurrences import Occurrence, other_sentences
from plmlab.world.grammar.sentence import Sentence

Words = Sequence[str]
KINDS = ("person", "company", "cafe", "film", "book")
"""Entity categories with held-out names."""
NAMED = {"development": 30, "test_set": 60}
"""Sentences per entity category."""
DRAWN = 12_000
"""Number of sampled sentences from which these are selected."""


class Labelled(NamedTuple):
    """A sentence and its labels; a label is None for an unlabelled word."""

    words: Words
    labels: Sequence[str | None]


class Task(NamedTuple):
    """A token-labelling task.

    Attributes:
        labels: the names of the labels.
        known: maps (count, draw) to training sentences. The count is the number of sentences, for "names" per entity
            category and for "senses" per sense.
        development: maps (count, draw) to development sentences.
        test_set: returns the test sentences.
        score: maps (predicted labels, gold rows) to a score from 0 to 1.
    """

    labels: tuple[str, ...]
    known: Callable[[int, int], list[Labelled]]
    development: Callable[[int, int], list[Labelled]]
    test_set: Callable[[], list[Labelled]]
    score: Callable[[Sequence[Sequence[str]], Sequence[Labelled]], float]


def share(said: Sequence[Sequence[str]], rows: Sequence[Labelled]) -> float:
    """Accuracy on the labelled words."""
    return fmean(one == gold for words, (_, labels) in zip(said, rows, strict=True)
                 for one, gold in zip(words, labels, strict=True) if gold is not None)


def name_f1(said: Sequence[Sequence[str]], rows: Sequence[Labelled]) -> float:
    """Entity-level F1 score."""
    return entity_f1(said, [[str(label) for label in labels] for _, labels in rows])


@cache
def new_names() -> dict[str, list[Sentence]]:
    """Map "test_set" and "development" to sentences with exactly one name, which is held out; no name occurs in both
    sets, and all categories have the same number of sentences."""
    by_kind: dict[str, list[str]] = defaultdict(list)
    for entity in sorted(world.full().held.entities):
        by_kind[entity.split(":")[0]].append(entity)
    part = {entity: "development" if index % 3 == 0 else "test_set"
            for entities in by_kind.values() for index, entity in enumerate(entities)}
    selected: dict[str, dict[str, list[Sentence]]] = {name: {kind: [] for kind in KINDS} for name in NAMED}
    for sentence in islice(world.full().sentences("entities", seed=611), DRAWN):
        if len(sentence.mentions) == 1 and (entity := sentence.mentions[0].entity) in part:
            rows = selected[part[entity]][entity.split(":")[0]]
            if len(rows) < NAMED[part[entity]]:
                rows.append(sentence)
    return {name: [row for rows in kinds.values() for row in rows] for name, kinds in selected.items()}


@cache
def known_names(draw: int) -> dict[str, list[Sentence]]:
    """Map each entity category to training sentences with exactly one name, which belongs to this category (cached)."""
    selected: dict[str, list[Sentence]] = {kind: [] for kind in KINDS}
    for sentence in islice(world.full().sentences("train", seed=620 + draw), DRAWN):
        if len(sentence.mentions) == 1 and (kind := sentence.mentions[0].entity.split(":")[0]) in selected:
            selected[kind].append(sentence)
    return selected


def labelled_names(each: int, draw: int) -> list[Labelled]:
    """``each`` labelled sentences per entity category; different values of ``draw`` select different samples."""
    return of_names([row for rows in known_names(draw).values() for row in rows[:each]])


def of_names(rows: Sequence[Sentence]) -> list[Labelled]:
    """Label sentences with BIO tags."""
    return [Labelled(row.words, row.bio) for row in rows]


def of_tags(split: str, seed: int, count: int) -> list[Labelled]:
    """Sentences labelled with parts of speech."""
    return [Labelled(row.words, row.tags) for row in islice(world.full().sentences(split, seed=seed), count)]


def of_senses(rows: Sequence[Occurrence]) -> list[Labelled]:
    """Label sentences with the sense of one word."""
    return [Labelled(row.words, [row.sense if index == row.place else None for index in range(len(row.words))])
            for row in rows]


def labelled_senses(each: int, draw: int) -> list[Occurrence]:
    """Up to ``each`` sentences per sense; different values of ``draw`` select different samples."""
    rng, by_sense = Random(f"{each}:{draw}"), defaultdict(list)
    for row in other_sentences()[0]:
        by_sense[row.sense].append(row)
    return [row for _, rows in sorted(by_sense.items()) for row in sample(rng, rows, min(each, len(rows)))]


def other_senses(each: int, seed: int) -> list[Labelled]:
    """Development set for word senses: 100 sentences disjoint from the training and test sentences."""
    training = {row.words for row in labelled_senses(each, seed)}
    others = [row for row in other_sentences()[0] if row.words not in training]
    return of_senses(sample(Random(f"{each}:{seed}"), others, 100))


@cache
def universal_tags() -> tuple[str, ...]:
    """The parts of speech that occur in the world (cached)."""
    return tuple(sorted({str(label) for row in of_tags("train", 1, 2000) for label in row.labels}))


@cache
def senses() -> tuple[str, ...]:
    """The senses to be distinguished (cached)."""
    return tuple(sorted({row.sense for row in other_sentences()[0]}))


def task_of(name: str) -> Task:
    """Return the task "names", "parts of speech" or "senses". Raises ValueError for any other name."""
    if name == "names":
        return Task(transfer.TAGS, labelled_names, lambda count, draw: of_names(new_names()["development"]),
                    lambda: of_names(new_names()["test_set"]), name_f1)
    if name == "parts of speech":
        return Task(universal_tags(), lambda count, draw: of_tags("train", 700 + draw, count),
                    lambda count, draw: of_tags("train", 800 + draw, 150), lambda: of_tags("test", 900, 400), share)
    if name != "senses":
        raise ValueError(f"unknown task {name!r}; expected names, parts of speech or senses")
    return Task(senses(), lambda each, draw: of_senses(labelled_senses(each, draw)), other_senses,
                lambda: of_senses(other_sentences()[1]), share)
