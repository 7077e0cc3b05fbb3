"""Labelled words to learn from, to choose by and to be asked about: names, parts of speech, senses.

What is asked is new: names of people, companies, cafés, films and books that neither a pretrained model nor the tagger
has read of (their words were read elsewhere), as many of each kind; sentences of the world's test; other sentences with
the ambiguous words.
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
"""The kinds of names that training text lacks some of."""
NAMED = {"development": 30, "test_set": 60}
"""Sentences for each kind of name."""
DRAWN = 12_000
"""Sentences with held-out names, of which these are taken."""


class Labelled(NamedTuple):
    """A sentence and its labels, None where nothing is asked."""

    words: Words
    labels: Sequence[str | None]


class Task(NamedTuple):
    """What is asked of words: the names of the ``labels``; the sentences to learn from and those to choose by, given
    (count, draw); those of the exam; and the ``score`` of the labels said, from 0 to 1. A count is of sentences: with
    "names" of those for each of ``KINDS``, with "senses" for each sense."""

    labels: tuple[str, ...]
    known: Callable[[int, int], list[Labelled]]
    development: Callable[[int, int], list[Labelled]]
    test_set: Callable[[], list[Labelled]]
    score: Callable[[Sequence[Sequence[str]], Sequence[Labelled]], float]


def share(said: Sequence[Sequence[str]], rows: Sequence[Labelled]) -> float:
    """The share of asked words with the right label."""
    return fmean(one == gold for words, (_, labels) in zip(said, rows, strict=True)
                 for one, gold in zip(words, labels, strict=True) if gold is not None)


def name_f1(said: Sequence[Sequence[str]], rows: Sequence[Labelled]) -> float:
    """F1 over whole names."""
    return entity_f1(said, [[str(label) for label in labels] for _, labels in rows])


@cache
def new_names() -> dict[str, list[Sentence]]:
    """"exam" and "development" → sentences with one name each, one that no training text has; no name is in both, and
    there are as many sentences for each kind."""
    by_kind: dict[str, list[str]] = defaultdict(list)
    for entity in sorted(world.full().held.entities):
        by_kind[entity.split(":")[0]].append(entity)
    part = {entity: "development" if place % 3 == 0 else "test_set"
            for some in by_kind.values() for place, entity in enumerate(some)}
    found: dict[str, dict[str, list[Sentence]]] = {name: {kind: [] for kind in KINDS} for name in NAMED}
    for sentence in islice(world.full().sentences("entities", seed=611), DRAWN):
        if len(sentence.mentions) == 1 and (entity := sentence.mentions[0].entity) in part:
            some = found[part[entity]][entity.split(":")[0]]
            if len(some) < NAMED[part[entity]]:
                some.append(sentence)
    return {name: [one for some in kinds.values() for one in some] for name, kinds in found.items()}


@cache
def known_names(draw: int) -> dict[str, list[Sentence]]:
    """Kind → sentences of training text with one name, of this kind."""
    found: dict[str, list[Sentence]] = {kind: [] for kind in KINDS}
    for sentence in islice(world.full().sentences("train", seed=620 + draw), DRAWN):
        if len(sentence.mentions) == 1 and (kind := sentence.mentions[0].entity.split(":")[0]) in found:
            found[kind].append(sentence)
    return found


def labelled_names(each: int, draw: int) -> list[Labelled]:
    """So many sentences for each kind of name, drawn anew for each ``draw``."""
    return of_names([one for some in known_names(draw).values() for one in some[:each]])


def of_names(rows: Sequence[Sentence]) -> list[Labelled]:
    """Sentences with BIO tags."""
    return [Labelled(one.words, one.bio) for one in rows]


def of_tags(split: str, seed: int, count: int) -> list[Labelled]:
    """Sentences with parts of speech."""
    return [Labelled(one.words, one.tags) for one in islice(world.full().sentences(split, seed=seed), count)]


def of_senses(rows: Sequence[Occurrence]) -> list[Labelled]:
    """Sentences with the sense of one word."""
    return [Labelled(one.words, [one.sense if place == one.place else None for place in range(len(one.words))])
            for one in rows]


def labelled_senses(each: int, draw: int) -> list[Occurrence]:
    """So many sentences of each sense, drawn anew for each ``draw``; fewer where there are fewer."""
    rng, by_sense = Random(f"{each}:{draw}"), defaultdict(list)
    for row in other_sentences()[0]:
        by_sense[row.sense].append(row)
    return [row for _, rows in sorted(by_sense.items()) for row in sample(rng, rows, min(each, len(rows)))]


def other_senses(each: int, seed: int) -> list[Labelled]:
    """100 sentences with senses, to choose by: none of those to learn from, and none of the exam."""
    learned = {one.words for one in labelled_senses(each, seed)}
    others = [one for one in other_sentences()[0] if one.words not in learned]
    return of_senses(sample(Random(f"{each}:{seed}"), others, 100))


@cache
def universal_tags() -> tuple[str, ...]:
    """The parts of speech that the world has."""
    return tuple(sorted({str(label) for one in of_tags("train", 1, 2000) for label in one.labels}))


@cache
def senses() -> tuple[str, ...]:
    """The senses that are asked about."""
    return tuple(sorted({one.sense for one in other_sentences()[0]}))


def task_of(name: str) -> Task:
    """A task by its name: "names", "parts of speech" or "senses"; ValueError for another."""
    if name == "names":
        return Task(transfer.TAGS, labelled_names, lambda count, draw: of_names(new_names()["development"]),
                    lambda: of_names(new_names()["test_set"]), name_f1)
    if name == "parts of speech":
        return Task(universal_tags(), lambda count, draw: of_tags("train", 700 + draw, count),
                    lambda count, draw: of_tags("train", 800 + draw, 150), lambda: of_tags("test", 900, 400), share)
    if name != "senses":
        raise ValueError(f"a task is one of names, parts of speech, senses; {name!r} was given")
    return Task(senses(), lambda each, draw: of_senses(labelled_senses(each, draw)), other_senses,
                lambda: of_senses(other_sentences()[1]), share)
