"""The bottleneck experiment: every configuration at every length, and baselines without a network.

The small world has 812 sentences, and nearly all sentences of a test set occur in training: the task is to translate a
sequence of known sentences in order. Therefore a second test set has sentences with word combinations that never occur
in training ("combinations").

The baselines use no network. "Dictionary" outputs for each English word, in English order, the Chinese word that is
most probable under IBM model 1. "Memory" (nearest neighbour) is given the sentence boundaries, and outputs for each
sentence the Chinese of the training sentence with the largest word overlap. "Another" outputs the reference of another
passage of the same length. "Reversed" outputs the reference with its sentences in reverse order, which BLEU does not
detect.
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
from plmlab.chapters.ch04.single_vector_bottleneck import NOUNS, single_sentence_baseline
from plmlab.chapters.ch04.translation import (
    AIMS,
    LONGEST,
    SHORTEST,
    evaluate_translations,
    loss,
    split_sentences,
    test_set,
    translations,
)
from plmlab.recipes import Parts, seed_statistics
from plmlab.world.datasets.passages import Passage, Words, passages
from studies.ch04.ibm import Table, counted
from studies.ch04.trainings import STUDY, budgets, runs

COUNT, ALONE = 60, 180
"""Test passages per length and seed, and passages from which single sentences are taken."""
SPLITS = ("test", "combinations")
COUNTED, ROUNDS, PULL = 2000, 8, 4.0
"""Training passages of IBM model 1, its EM iterations, and the strength of its diagonal prior in "repair"."""


@cache
def training_text() -> tuple[Passage, ...]:
    """Training passages for IBM model 1, sampled in the same way as those of the networks (cached)."""
    return tuple(islice(passages(world.small(), "train", Random("counted"), range(SHORTEST, LONGEST + 1)), COUNTED))


@cache
def table(pull: float = 0.0) -> Table:
    """Translation table of IBM model 1 after `ROUNDS` EM iterations (cached)."""
    return counted(training_text(), ROUNDS, pull)


def by_dictionary(some: Sequence[Passage]) -> list[Words]:
    """Translate word by word with the most probable entries of the table."""
    best = {word: max(row, key=row.__getitem__) for word, row in table().items()}
    return [tuple(best[word] for word in passage.english if word in best) for passage in some]


def by_memory(some: Sequence[Passage]) -> list[Words]:
    """Nearest-neighbour baseline: the translation of the most similar training sentence (Dice word overlap)."""
    known = single_sentence_baseline()

    def nearest(words: Words) -> Words:
        query = Counter(words)
        return known[max(known, key=lambda other: 2 * (query & Counter(other)).total() / (len(words) + len(other)))]

    return [tuple(word for sentence in passage.sentences for word in nearest(sentence)) for passage in some]


def by_repair(some: Sequence[Passage]) -> list[Words]:
    """Nearest neighbour with repair: take the nearest training sentence of the same length, and replace the Chinese
    word for each differing word by that for the given word."""
    best = {word: max(row, key=row.__getitem__) for word, row in table(PULL).items()}
    known = single_sentence_baseline()

    def repaired(words: Words) -> Words:
        candidates = [other for other in known if len(other) == len(words)] or list(known)
        near = min(candidates, key=lambda other: sum(one != two for one, two in zip(words, other, strict=False)))
        replaced = {best.get(was): best.get(now) for was, now in zip(near, words, strict=False) if was != now}
        return tuple(replaced.get(word) or word for word in known[near])

    return [tuple(word for sentence in passage.sentences for word in repaired(sentence)) for passage in some]


def by_another(some: Sequence[Passage]) -> list[Words]:
    """The reference translation of the previous passage."""
    return [passage.chinese for passage in (some[-1], *some[:-1])]


def reversed_sentences(some: Sequence[Passage]) -> list[Words]:
    """The reference with its sentences in reverse order."""
    return [tuple(chain.from_iterable(reversed(split_sentences(passage.chinese)))) for passage in some]


BASELINES = {"dictionary": by_dictionary, "memory": by_memory, "repair": by_repair, "another": by_another,
          "reversed": reversed_sentences}


def read_before(some: Sequence[Passage]) -> float:
    """Fraction of the test sentences that occur in a long training text."""
    return fmean(sentence in single_sentence_baseline() for passage in some for sentence in passage.sentences)


def examined(folder: str, name: str, updates: int, seed: int, split: str) -> dict[str, dict[str, float]]:
    """Length → results of `evaluate_translations` and the ``loss`` of a trained model on a test set."""
    model, arm = STUDY.trained(folder, name, updates=updates, seed=seed), ARMS[name]
    tests = {aim: test_set(aim, seed, COUNT, split) for aim in AIMS}
    return {str(aim): evaluate_translations(translations(model, some, arm), some) | {"loss": loss(model, some, arm)}
            for aim, some in tests.items()}


def by_noun(folder: str, name: str, updates: int, seed: int) -> dict[str, float]:
    """Noun of `NOUNS` → accuracy of a model on single new sentences that contain it; and ``known``: the fraction of all
    outputs that are a training sentence and therefore wrong."""
    model, arm = STUDY.trained(folder, name, updates=updates, seed=seed), ARMS[name]
    some = [item for item in test_set(AIMS[0], f"noun {seed}", ALONE, "combinations") if len(item.sentences) == 1]
    written = translations(model, some, arm)
    return {noun: fmean(text == item.chinese for text, item in zip(written, some, strict=True)
                        if {noun, f"{noun}s"} & {*item.english}) for noun in NOUNS} | {
        "known": fmean(text in set(single_sentence_baseline().values()) for text in written)}


def without_network(baseline: str, seed: int, split: str = "test") -> dict[str, dict[str, float]]:
    """Length → results of `evaluate_translations` for one of the `BASELINES`, and the fraction of sentences that occur
    in training (``read before``)."""
    tests = {aim: test_set(aim, seed, COUNT, split) for aim in AIMS}
    return {str(aim): evaluate_translations(BASELINES[baseline](some), some) | {"read before": read_before(some)}
            for aim, some in tests.items()}


def measure(parts: Parts) -> dict[str, Any]:
    """``arms``: configuration → number of updates → length → figures with spread; ``combinations``: the same on
    sentences with unseen word combinations; ``nouns``: configuration → number of updates → `by_noun` with spread;
    ``baselines``: baseline → split → as ``arms``."""
    folder = str(parts.folder)
    outcomes = parts(examined, [(folder, *run, split) for split in SPLITS for run in runs()])
    alone = parts(by_noun, [(folder, *run) for run in runs()])
    others = parts(without_network, [(baseline, seed, split) for baseline in BASELINES for seed in SEEDS
                                     for split in SPLITS])

    def of_arms(figures: dict[tuple[Any, ...], Any], *split: str) -> dict[str, Any]:
        return {name: {str(updates): seed_statistics({seed: figures[folder, name, updates, seed, *split]
                                                      for seed in seeds})
                       for updates, seeds in budgets(name).items()} for name in ARMS}

    return {
        "count": COUNT, "sentences": len(single_sentence_baseline()), "arms": of_arms(outcomes, "test"),
        "combinations": of_arms(outcomes, "combinations"), "nouns": of_arms(alone),
        "baselines": {baseline: {split: seed_statistics({seed: others[baseline, seed, split] for seed in SEEDS})
                              for split in SPLITS}
                      for baseline in BASELINES}}
