"""Translations by the variants of `mask_mixture` after short fine-tuning, and a sentence lookup baseline.

The rule was fixed before the runs. The mixture helps generation if the accuracy of each of its seeds is above that of
every seed of every other variant. Each variant has its own learning rate for fine-tuning, the best after the longer
fine-tuning from the weights of the first seed. This seed is also evaluated, so this is not a `Study`, whose pilot runs
have other seeds.
"""

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from statistics import fmean
from typing import Any

from plmlab.chapters.ch12 import passage_translation
from plmlab.chapters.ch12.mask_mixture import ARMS, new_unilm
from plmlab.chapters.ch12.passage_translation import ids, rows
from plmlab.models.unilm import UniLMPretraining
from plmlab.recipes import Parts, none_if_diverged, rates_tried, seed_statistics, seed_summary, tune_learning_rates
from studies.ch12.mask_mixture import STUDY

SEEDS, RATES = (0, 1, 2), (1e-3, 3e-3, 1e-2)
TUNED = (100, 400)
"""Fine-tuning updates."""
NOTHING = "random weights"
"""The network with random weights."""


def trained(folder: str, name: str, updates: int, seed: int) -> UniLMPretraining:
    """A variant saved by `mask_mixture` after this number of updates, or `NOTHING`."""
    return new_unilm(seed).eval() if name == NOTHING else STUDY.trained(folder, name, updates=updates, seed=seed)


def tuned(folder: str, name: str, updates: int, count: int, lr: float, seed: int) -> UniLMPretraining:
    """Fine-tune a variant for ``count`` updates and return it."""
    model = trained(folder, name, updates, seed)
    passage_translation.tune(model, passage_translation.masked(0.7), count, lr, seed, show=False)
    return model


@none_if_diverged
def lr_score(folder: str, name: str, updates: int, count: int, lr: float, seed: int) -> float:
    """Score of a learning rate for fine-tuning, on new passages made of training sentences."""
    return passage_translation.translation_accuracy(tuned(folder, name, updates, count, lr, seed), "train")


def translation_accuracy(folder: str, name: str, updates: int, count: int, lr: float, seed: int) -> float:
    """The fraction of passages that a variant translates without an error."""
    return passage_translation.translation_accuracy(tuned(folder, name, updates, count, lr, seed), "test")


def looked_up(updates: int, seed: int) -> float:
    """Accuracy of a baseline without a network: a lookup table of sentences and their translations, built from the
    passages of this number of updates."""
    table: dict[tuple[int, ...], tuple[int, ...]] = {}
    for english, chinese in rows("train", Random(f"table {seed}"), updates * passage_translation.BATCH):
        table.update(zip(sentences(english), sentences(chinese), strict=True))
    test_set = rows("test", Random("exam"), passage_translation.TEST_SIZE)
    return fmean([table.get(one) for one in sentences(english)] == sentences(chinese) for english, chinese in test_set)


def sentences(passage: Sequence[int]) -> list[tuple[int, ...]]:
    """Split a passage after each sentence-final punctuation mark."""
    marks = {ids()[mark] for mark in (".", "?", "。", "？") if mark in ids()}
    ends = [place + 1 for place, token in enumerate(passage) if token in marks]
    return [tuple(passage[begin:end]) for begin, end in pairwise([0, *ends])]


def measure(parts: Parts, updates: int) -> dict[str, Any]:
    """``translation``: variant, or "random weights", → ``lr``, ``rates``, and the `translation_accuracy` by number of
    fine-tuning updates; and that of a ``table``; all with spread. ``updates``: how long the variants were trained."""
    folder, names = str(parts.folder), (NOTHING, *ARMS)
    best = {name: found for (_, name, *_), found in tune_learning_rates(parts, lr_score, SEEDS[:1], {
        (folder, name, updates, TUNED[-1]): RATES for name in names}).items()}
    wrote = parts(translation_accuracy, [(folder, name, updates, count, best[name][0], seed)
                                         for name in names for count in TUNED for seed in SEEDS])
    table = parts(looked_up, [(count, seed) for count in TUNED for seed in SEEDS])
    return {"translation": {name: {"lr": lr, "rates": rates_tried(scores), "right": {str(count): seed_statistics({
        seed: wrote[folder, name, updates, count, lr, seed] for seed in SEEDS}) for count in TUNED}}
                        for name, (lr, scores) in best.items()},
            "table": {str(count): seed_summary({seed: table[count, seed] for seed in SEEDS}) for count in TUNED}}
