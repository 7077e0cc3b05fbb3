"""Decoding strategies compared: how many sampled texts are sentences of the small world, and how many are distinct.

"Correct" is the percentage of texts that are sentences of the world's grammar. "Distinct" is the number of different
correct sentences, as a percentage of all texts; it is counted in groups of `GROUP` texts, because it depends on the
number of texts. Top-p should beat top-k because the number of tokens that it keeps adapts to each position (Holtzman et
al. 2020).
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from math import hypot, inf, sqrt
from statistics import fmean, variance
from typing import NamedTuple

import torch

from plmlab import world
from plmlab.chapters.ch07.corpus import Words
from plmlab.decode import sample
from plmlab.models.gpt import GPT2
from plmlab.world.datasets.tokenizer import small_world_tokenizer

GROUP, GROUPS = 500, 3
"""Texts per group, and groups per setting."""
LENGTH = 24
GRID = {"top_k": (1, 2, 3, 5, 8, 12, 20, len(small_world_tokenizer())),
        "top_p": (0.05, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0), "temperature": (0.05, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)}
SETTINGS = [(method, value) for method, values in GRID.items() for value in values]
MIN_DISTINCT, MIN_CORRECT = 35, 97
"""The two conditions, in percent: correctness is compared among settings with at least this percentage of distinct
texts, and diversity among those with at least this percentage of correct texts."""

Setting = tuple[str, float]
Texts = Sequence[Words | None]
"""Sampled texts; None for a text that is not a sentence of the world."""


class Quality(NamedTuple):
    """Percentages of ``correct`` and of ``distinct`` texts, and the variance of the latter between groups."""

    correct: float
    distinct: float
    variance: float


class Best(NamedTuple):
    """The best settings of a method: most correct if diverse enough, and most distinct if correct enough."""

    correct: Setting
    distinct: Setting


def sample_texts(gpt: GPT2, seed: int, count: int = GROUP * GROUPS, **option: float) -> list[Words | None]:
    """Sample texts with one option of `plmlab.decode.sample`, for example ``top_p=0.9``."""
    tokenizer = small_world_tokenizer()
    start = torch.full((count, 1), tokenizer.vocab.need("start"))
    samples = sample(gpt, start, tokenizer.vocab, length=LENGTH, generator=torch.Generator().manual_seed(seed),
                     **option)  # type: ignore[arg-type]
    texts = [tuple(tokenizer.tokens(text.tokens[:-1])) if text.tokens[-1] == tokenizer.vocab.need("end") else ()
             for text in samples]
    return [words if world.small().logprob(words) > -inf else None for words in texts]


def world_texts() -> list[Words | None]:
    """The same number of sentences of the world itself, as a reference."""
    return [tuple(words) for words in islice(world.small().text("train", seed=0), GROUP * GROUPS)]


def quality(texts: Texts, group: int = GROUP) -> Quality:
    """Percentages of correct and of distinct texts. Needs at least two groups."""
    groups = [100 * len(set(filter(None, texts[i:i + group]))) / group for i in range(0, len(texts), group)]
    return Quality(100 * sum(map(bool, texts)) / len(texts), fmean(groups), variance(groups))


def distinct_error(qualities: Iterable[Quality]) -> float:
    """Standard error of the percentage of distinct texts, pooled over all settings with more than 20 % distinct."""
    return sqrt(fmean(each.variance for each in qualities if each.distinct > 20) / GROUPS)


def correct_error(correct: float) -> float:
    """Standard error of a percentage of correct texts."""
    return sqrt(correct * (100 - correct) / (GROUP * GROUPS))


def best_settings(qualities: Mapping[Setting, Quality]) -> dict[str, Best]:
    """Method → its best settings under the two conditions."""
    def best(method: str, condition: int, minimum: int) -> Setting:
        some = [setting for setting in qualities if setting[0] == method and qualities[setting][condition] >= minimum]
        return max(some, key=lambda setting: (qualities[setting][1 - condition], qualities[setting][condition]))
    return {method: Best(best(method, 1, MIN_DISTINCT), best(method, 0, MIN_CORRECT))
            for method in dict.fromkeys(method for method, _ in qualities)}


def beats(qualities: Mapping[Setting, Quality], one: str, other: str) -> bool:
    """Whether a method beats another: better in one comparison by more than twice the standard error of the difference,
    and not worse by more than that in the other."""
    best, error = best_settings(qualities), distinct_error(qualities.values())
    a, b = (qualities[best[method].correct].correct for method in (one, other))
    c, d = (qualities[best[method].distinct].distinct for method in (one, other))
    gaps = (a - b) / max(hypot(correct_error(a), correct_error(b)), 0.01), (c - d) / hypot(error, error)
    return max(gaps) > 2 and min(gaps) > -2


def rows(qualities: Mapping[Setting, Quality]) -> dict[str, tuple[str, str]]:
    """Table rows: method → its best percentages with their standard errors, and the settings in brackets."""
    error, cells = distinct_error(qualities.values()), {}
    for method, best in best_settings(qualities).items():
        correct, distinct = qualities[best.correct].correct, qualities[best.distinct].distinct
        cells[method.replace("_", "-")] = (f"{correct:.1f} ± {correct_error(correct):.1f} ({best.correct[1]:g})",
                                           f"{distinct:.1f} ± {error:.1f} ({best.distinct[1]:g})")
    return cells


def first_word_share(texts: Texts, word: str) -> float:
    """Percentage of the correct texts that begin with a word."""
    correct = [words for words in texts if words]
    return 100 * sum(words[0] == word for words in correct) / len(correct)
