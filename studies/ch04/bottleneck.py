"""What the bottleneck is judged by: each arm at each length, and rivals without a network.

The small world has 812 sentences, and nearly all of an exam stood in training: what is asked is a series of known
sentences, in order. So beside it stands an exam of sentences whose words were never together ("combinations").

Rivals without a network. A dictionary writes for each English word, in the English order, the Chinese word that IBM
model 1 believes in most. A memory is told where each sentence ends, and writes for each the Chinese of the sentence of
the training text that shares most words with it. "Another" writes the right Chinese of another passage as long.
"Reversed" writes all that is right, with the sentences from the last to the first: what BLEU does not see.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import chain, islice
from random import Random
from statistics import fmean
from typing import Any

from plmlab import world
from plmlab.chapters.ch04.arms import ARMS, SEEDS
from plmlab.chapters.ch04.bottleneck import NOUNS, known
from plmlab.chapters.ch04.translation import AIMS, LONGEST, SHORTEST, judged, loss, pieces, test_set, translations
from plmlab.recipes import Parts, seed_statistics
from plmlab.world.datasets.passages import Passage, Words, passages
from studies.ch04.ibm import Table, counted
from studies.ch04.trainings import STUDY, budgets, runs

COUNT, ALONE = 60, 180
"""Passages of each length in the exam of a seed, and of those from which single sentences are taken."""
SPLITS = ("test", "combinations")
COUNTED, ROUNDS, PULL = 2000, 8, 4.0
"""Passages that IBM model 1 counts, its rounds, and how it leans to the diagonal for those who mend sentences."""


@cache
def training_text() -> tuple[Passage, ...]:
    """Passages to count: they are drawn as those that the networks learn from."""
    return tuple(islice(passages(world.small(), "train", Random("counted"), range(SHORTEST, LONGEST + 1)), COUNTED))


@cache
def table(pull: float = 0.0) -> Table:
    """What IBM model 1 believes after `ROUNDS` rounds."""
    return counted(training_text(), ROUNDS, pull)


def by_dictionary(some: Sequence[Passage]) -> list[Words]:
    """What a word-by-word dictionary writes."""
    best = {word: max(row, key=row.__getitem__) for word, row in table().items()}
    return [tuple(best[word] for word in passage.english if word in best) for passage in some]


def by_memory(some: Sequence[Passage]) -> list[Words]:
    """What a memory of sentences writes."""
    def nearest(words: Words) -> Words:
        asked = Counter(words)
        return known()[max(known(), key=lambda other: 2 * (asked & Counter(other)).total() / (len(words) + len(other)))]

    return [tuple(word for sentence in passage.sentences for word in nearest(sentence)) for passage in some]


def by_repair(some: Sequence[Passage]) -> list[Words]:
    """What a memory of sentences writes that mends them: the nearest sentence of as many words, and for each word that
    differs, if its Chinese stands there, that of the other word instead."""
    best = {word: max(row, key=row.__getitem__) for word, row in table(PULL).items()}

    def mended(words: Words) -> Words:
        alike = [other for other in known() if len(other) == len(words)] or list(known())
        near = min(alike, key=lambda other: sum(one != two for one, two in zip(words, other, strict=False)))
        other_words = {best.get(was): best.get(now) for was, now in zip(near, words, strict=False) if was != now}
        return tuple(other_words.get(word) or word for word in known()[near])

    return [tuple(word for sentence in passage.sentences for word in mended(sentence)) for passage in some]


def by_another(some: Sequence[Passage]) -> list[Words]:
    """What was right for the passage before."""
    return [passage.chinese for passage in (some[-1], *some[:-1])]


def reversed_sentences(some: Sequence[Passage]) -> list[Words]:
    """What is right, its sentences from the last to the first."""
    return [tuple(chain.from_iterable(reversed(pieces(passage.chinese)))) for passage in some]


RIVALS = {"dictionary": by_dictionary, "memory": by_memory, "repair": by_repair, "another": by_another,
          "reversed": reversed_sentences}


def read_before(some: Sequence[Passage]) -> float:
    """The share of the exam's sentences that stand in a long training text."""
    return fmean(sentence in known() for passage in some for sentence in passage.sentences)


def examined(folder: str, name: str, updates: int, seed: int, split: str) -> dict[str, dict[str, float]]:
    """Length → what `judged` tells of an arm, and its ``loss``."""
    model, arm = STUDY.trained(folder, name, updates=updates, seed=seed), ARMS[name]
    asked = {aim: test_set(aim, seed, COUNT, split) for aim in AIMS}
    return {str(aim): judged(translations(model, some, arm), some) | {"loss": loss(model, some, arm)}
            for aim, some in asked.items()}


def by_noun(folder: str, name: str, updates: int, seed: int) -> dict[str, float]:
    """Noun of `NOUNS` → the share of single new sentences with it that an arm translates rightly to the last word;
    ``known``: the share of all answers that are a sentence of the training text, and so wrong."""
    model, arm = STUDY.trained(folder, name, updates=updates, seed=seed), ARMS[name]
    some = [one for one in test_set(AIMS[0], f"noun {seed}", ALONE, "combinations") if len(one.sentences) == 1]
    written = translations(model, some, arm)
    return {noun: fmean(text == one.chinese for text, one in zip(written, some, strict=True)
                        if {noun, f"{noun}s"} & {*one.english}) for noun in NOUNS} | {
        "known": fmean(text in set(known().values()) for text in written)}


def without_network(rival: str, seed: int, split: str = "test") -> dict[str, dict[str, float]]:
    """Length → what `judged` tells of one of `RIVALS`, and the share ``read before``."""
    asked = {aim: test_set(aim, seed, COUNT, split) for aim in AIMS}
    return {str(aim): judged(RIVALS[rival](some), some) | {"read before": read_before(some)}
            for aim, some in asked.items()}


def measure(parts: Parts) -> dict[str, Any]:
    """``arms``: arm → number of updates → length → figures with spread; ``combinations``: the same, of sentences whose
    words never stood together in training; ``nouns``: arm → number of updates → what `by_noun` tells, with spread;
    ``baselines``: rival → split → as ``arms``."""
    folder = str(parts.folder)
    told = parts(examined, [(folder, *run, split) for split in SPLITS for run in runs()])
    alone = parts(by_noun, [(folder, *run) for run in runs()])
    others = parts(without_network, [(rival, seed, split) for rival in RIVALS for seed in SEEDS for split in SPLITS])

    def of_arms(found: dict[tuple[Any, ...], Any], *split: str) -> dict[str, Any]:
        return {name: {str(updates): seed_statistics({seed: found[folder, name, updates, seed, *split]
                                                      for seed in seeds})
                       for updates, seeds in budgets(name).items()} for name in ARMS}

    return {
        "count": COUNT, "sentences": len(known()), "arms": of_arms(told, "test"),
        "combinations": of_arms(told, "combinations"), "nouns": of_arms(alone),
        "baselines": {rival: {split: seed_statistics({seed: others[rival, seed, split] for seed in SEEDS})
                              for split in SPLITS}
                   for rival in RIVALS}}
