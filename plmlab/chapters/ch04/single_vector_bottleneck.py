"""Does attention remove the bottleneck? Translation of passages of 10 to 60 words, from the last encoder state alone
and with attention, at two widths.

Bahdanau et al. (2015, table 1, all sentences of newstest2014, English–French) report a BLEU of 17.82 for RNNenc-50 and
of 26.75 for RNNsearch-50; in their figure 2, up to 50 words, BLEU falls with length for RNNenc-50 but not for
RNNsearch-50.

The rule, fixed before the runs, applies to the mean of three seeds after 6,000 updates. At a given width:

- **Untrained**: a model's BLEU is below 90 at 10 words, so that the decrease with length cannot be judged.
- **No bottleneck here**: from 10 to 60 words the BLEU of the fixed-vector model falls by less than 5 points.
- **Supported**: BLEU falls by at most 3 points with attention, and by at least 20 points for the fixed vector; and the
  loss, which unlike BLEU is clearly sensitive to sentence order, agrees: with attention it increases by less than a
  tenth of the increase without attention.
- **Partly supported**: BLEU falls by less than half as much with attention as for the fixed vector. **Not supported**:
  otherwise.

After 2,000 updates, the same rule is applied to "end only", which has the parameters of attention but attends to a
single position.
"""

from functools import cache
from itertools import islice
from math import exp
from typing import Any

from plmlab import world
from plmlab.chapters.ch04.translation import AIMS
from plmlab.world.datasets.passages import Words
from plmlab.world.documents.pairs import Translation

NOUNS = ("hat", "key")
"""Nouns of the word pairs that do not co-occur in training: *bought* with *hat*, *new* with *key*."""


@cache
def single_sentence_baseline() -> dict[Words, Words]:
    """Lookup table of the sentence-level baseline, which translates each sentence without context: every sentence of a
    long training text → its Chinese translation (cached)."""
    text: list[Translation] = list(islice(world.small().translations("train", seed=1), 20_000))
    return {pair.english: pair.chinese for pair in text}


def loss_without_source() -> float:
    """The loss in nats per Chinese word of the best decoder that does not use the source: the entropy of the world's
    sentences, divided by their expected length in Chinese."""
    pairs = single_sentence_baseline().items()
    logs = [(world.small().logprob(english), len(chinese)) for english, chinese in pairs]
    return -sum(exp(log) * log for log, _ in logs) / sum(exp(log) * length for log, length in logs)


def verdict(arms: dict[str, Any], attention: str, fixed: str, updates: int) -> str:
    """Apply the rule above to two configurations: "untrained", "no bottleneck here", "supported", "partly supported" or
    "not supported". ``arms`` is the stored record."""
    def ends(name: str, what: str) -> tuple[float, float]:
        by_length = arms[name][str(updates)]
        return by_length[str(AIMS[0])][what]["mean"], by_length[str(AIMS[-1])][what]["mean"]

    def bleu_drop(name: str) -> float:
        short, long = ends(name, "bleu")
        return short - long

    def loss_rise(name: str) -> float:
        short, long = ends(name, "loss")
        return long - short

    with_attention, without = bleu_drop(attention), bleu_drop(fixed)
    if min(ends(name, "bleu")[0] for name in (attention, fixed)) < 90:
        return "untrained"
    if without < 5:
        return "no bottleneck here"
    if with_attention <= 3 and without >= 20 and loss_rise(attention) < loss_rise(fixed) / 10:
        return "supported"
    return "partly supported" if with_attention < without / 2 else "not supported"
