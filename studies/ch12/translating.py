"""What the arms of `shares` write when they are tuned on translations for a while, and a table of sentences.

Written before the runs. The mix helps to write if all its seeds have more right than each seed of every other arm. The
rates for tuning are an arm's own, the best after the longer tuning of the weights of the first seed, which is measured
too: so this is no `Study`, whose pilots are of other seeds.
"""

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from statistics import fmean
from typing import Any

from plmlab.chapters.ch12 import small_writing
from plmlab.chapters.ch12.shares import ARMS, new
from plmlab.chapters.ch12.small_writing import ids, rows
from plmlab.models.unilm import UniLMPretraining
from plmlab.recipes import Parts, none_if_diverged, rates_tried, seed_statistics, seed_summary, tune_learning_rates
from studies.ch12.shares import STUDY

SEEDS, RATES = (0, 1, 2), (1e-3, 3e-3, 1e-2)
TUNED = (100, 400)
"""Updates on translations."""
NOTHING = "nothing"
"""The network with random weights."""


def trained(folder: str, name: str, updates: int, seed: int) -> UniLMPretraining:
    """An arm that `shares` has kept after so many updates, or `NOTHING`."""
    return new(seed).eval() if name == NOTHING else STUDY.trained(folder, name, updates=updates, seed=seed)


def tuned(folder: str, name: str, updates: int, count: int, lr: float, seed: int) -> UniLMPretraining:
    """An arm after ``count`` updates on translations."""
    model = trained(folder, name, updates, seed)
    small_writing.tune(model, small_writing.masked(0.7), count, lr, seed, show=False)
    return model


@none_if_diverged
def rate_score(folder: str, name: str, updates: int, count: int, lr: float, seed: int) -> float:
    """How good a rate for tuning is, by other passages of the sentences that were learned from."""
    return small_writing.right(tuned(folder, name, updates, count, lr, seed), "train")


def right(folder: str, name: str, updates: int, count: int, lr: float, seed: int) -> float:
    """The share of passages that an arm translates without a mistake."""
    return small_writing.right(tuned(folder, name, updates, count, lr, seed), "test")


def looked_up(updates: int, seed: int) -> float:
    """The share of the exam's passages that needs no network: a table of the sentences, with their translations, of as
    many passages as are learned from in so many updates."""
    table: dict[tuple[int, ...], tuple[int, ...]] = {}
    for english, chinese in rows("train", Random(f"table {seed}"), updates * small_writing.BATCH):
        table.update(zip(sentences(english), sentences(chinese), strict=True))
    test_set = rows("test", Random("exam"), small_writing.TEST_SIZE)
    return fmean([table.get(one) for one in sentences(english)] == sentences(chinese) for english, chinese in test_set)


def sentences(passage: Sequence[int]) -> list[tuple[int, ...]]:
    """A passage cut behind each mark that ends a sentence."""
    marks = {ids()[mark] for mark in (".", "?", "。", "？") if mark in ids()}
    ends = [place + 1 for place, token in enumerate(passage) if token in marks]
    return [tuple(passage[begin:end]) for begin, end in pairwise([0, *ends])]


def measure(parts: Parts, updates: int) -> dict[str, Any]:
    """``writing``: arm, or "nothing", → ``lr``, ``rates``, and the share ``right`` by updates of tuning; and that of a
    ``table``; all with spread. The arms were trained for so many ``updates``."""
    folder, names = str(parts.folder), (NOTHING, *ARMS)
    best = {name: found for (_, name, *_), found in tune_learning_rates(parts, rate_score, SEEDS[:1], {
        (folder, name, updates, TUNED[-1]): RATES for name in names}).items()}
    wrote = parts(right, [(folder, name, updates, count, best[name][0], seed)
                          for name in names for count in TUNED for seed in SEEDS])
    table = parts(looked_up, [(count, seed) for count in TUNED for seed in SEEDS])
    return {"writing": {name: {"lr": lr, "rates": rates_tried(scores), "right": {str(count): seed_statistics({
        seed: wrote[folder, name, updates, count, lr, seed] for seed in SEEDS}) for count in TUNED}}
        for name, (lr, scores) in best.items()},
        "table": {str(count): seed_summary({seed: table[count, seed] for seed in SEEDS}) for count in TUNED}}
