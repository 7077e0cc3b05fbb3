"""Does attention remove the fall with length? Passages of 10 to 60 words, with nothing but the last state and with
attention, at two widths.

Bahdanau et al. (2015, table 1, all sentences of newstest2014, English–French): RNNenc-50 has a BLEU of 17.82,
RNNsearch-50 26.75; their figure 2 shows the first fall with length, and the second not, up to 50 words.

Written down before the runs, by BLEU, the mean of three seeds, arms after 6,000 updates. At a width:

- **Holds**: from passages of 10 words to those of 60 attention loses at most 3 points, the fixed vector at least 20.
- **Holds in part**: attention loses less than half of what the fixed vector loses.
- **Fails**: otherwise. If the fixed vector loses fewer than 5 points, there is no bottleneck to remove here.

Two rivals without a network: a dictionary that writes for each English word, in the English order, the Chinese word
that IBM model 1 believes in most; and a memory that is told where each sentence ends, and writes for each the Chinese
of the sentence of the training text that shares most words with it.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import islice
from random import Random
from statistics import fmean
from typing import Any

from plmlab import world
from plmlab.chapters.ch04.arms import ARMS, LONGER, MAIN, SEEDS, UPDATES, budgets, trained
from plmlab.chapters.ch04.ibm import Table, counted
from plmlab.chapters.ch04.translation import AIMS, LONGEST, SHORTEST, exam, judged, loss, translations
from plmlab.recipes import Parts, spread
from plmlab.world.datasets.passages import Passage, Words, passages
from plmlab.world.documents.pairs import Translation

COUNT = 60
"""Passages of each length in the exam of a seed."""
COUNTED, ROUNDS = 2000, 8
"""Passages that IBM model 1 counts, and its rounds."""


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


@cache
def known() -> dict[Words, Words]:
    """Every sentence of a long training text → its Chinese."""
    told: list[Translation] = list(islice(world.small().translations("train", seed=1), 20_000))
    return {pair.english: pair.chinese for pair in told}


def by_memory(some: Sequence[Passage]) -> list[Words]:
    """What a memory of sentences writes."""
    def nearest(words: Words) -> Words:
        asked = Counter(words)
        return known()[max(known(), key=lambda other: 2 * (asked & Counter(other)).total() / (len(words) + len(other)))]

    return [tuple(word for sentence in passage.sentences for word in nearest(sentence)) for passage in some]


def read_before(some: Sequence[Passage]) -> float:
    """The share of the exam's sentences that stand in a long training text."""
    return fmean(sentence in known() for passage in some for sentence in passage.sentences)


def examined(folder: str, name: str, updates: int, seed: int, split: str = "test") -> dict[str, dict[str, float]]:
    """Length → what `judged` tells of an arm, and its ``loss``."""
    model, arm = trained(folder, name, updates, seed), ARMS[name]
    asked = {aim: exam(aim, seed, COUNT, split) for aim in AIMS}
    return {str(aim): judged(translations(model, some, arm), some) | {"loss": loss(model, some, arm)}
            for aim, some in asked.items()}


def without_network(rival: str, seed: int, split: str = "test") -> dict[str, dict[str, float]]:
    """Length → what `judged` tells of a rival, "dictionary" or "memory", and the share ``read before``."""
    writes = {"dictionary": by_dictionary, "memory": by_memory}[rival]
    asked = {aim: exam(aim, seed, COUNT, split) for aim in AIMS}
    return {str(aim): judged(writes(some), some) | {"read before": read_before(some)} for aim, some in asked.items()}


def spreads(runs: dict[int, dict[str, dict[str, float]]]) -> dict[str, dict[str, Any]]:
    """Seed → length → figures, as length → figure → its spread."""
    first = next(iter(runs.values()))
    return {aim: {what: spread({seed: run[aim][what] for seed, run in runs.items()}) for what in figures}
            for aim, figures in first.items()}


def measure(parts: Parts) -> dict[str, Any]:
    """``arms``: arm → number of updates → length → figures with spread; ``combinations``: the same of `MAIN` after all
    updates, of sentences whose words never stood together in training; ``rivals``: rival → split → the same."""
    folder = str(parts.folder)
    runs = parts(examined, [(folder, name, updates, seed) for name in ARMS for updates in budgets(name)
                            for seed in SEEDS])
    unseen = parts(examined, [(folder, name, LONGER, seed, "combinations") for name in MAIN for seed in SEEDS])
    others = parts(without_network, [(rival, seed, split) for rival in ("dictionary", "memory") for seed in SEEDS
                                     for split in ("test", "combinations")])
    return {
        "count": COUNT, "updates": [UPDATES, LONGER],
        "arms": {name: {str(updates): spreads({seed: runs[folder, name, updates, seed] for seed in SEEDS})
                        for updates in budgets(name)} for name in ARMS},
        "combinations": {name: spreads({seed: unseen[folder, name, LONGER, seed, "combinations"] for seed in SEEDS})
                         for name in MAIN},
        "rivals": {rival: {split: spreads({seed: others[rival, seed, split] for seed in SEEDS})
                           for split in ("test", "combinations")} for rival in ("dictionary", "memory")}}


def verdict(arms: dict[str, Any], width: str) -> str:
    """What the rule above says at a width, "" for 128 or ", 32": holds, holds in part, fails, or that there is no
    bottleneck. ``arms`` as `measure` tells them."""
    def lost(kind: str) -> float:
        told = arms[f"{kind}{width}"][str(LONGER)]
        return told[str(AIMS[0])]["bleu"]["mean"] - told[str(AIMS[-1])]["bleu"]["mean"]

    with_it, without = lost("general"), lost("fixed")
    if without < 5:
        return "no bottleneck here"
    if with_it <= 3 and without >= 20:
        return "holds"
    return "holds in part" if with_it < without / 2 else "fails"
