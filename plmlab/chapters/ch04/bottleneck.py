"""Does attention remove the fall with length? Passages of 10 to 60 words, with nothing but the last state and with
attention, at two widths.

Bahdanau et al. (2015, table 1, all sentences of newstest2014, English–French): RNNenc-50 has a BLEU of 17.82,
RNNsearch-50 26.75; their figure 2 shows the first fall with length, and the second not, up to 50 words.

Written down before the runs, the mean of three seeds, arms after 6,000 updates. At a width:

- **Untrained**: an arm has a BLEU below 90 at 10 words, so that the fall with length is not what is seen.
- **No bottleneck here**: the fixed vector loses fewer than 5 points of BLEU from 10 words to 60.
- **Holds**: attention loses at most 3 points, the fixed vector at least 20; and the loss agrees, which sees the order
  of sentences as BLEU hardly does: with attention it rises by less than a tenth of what it rises by without.
- **Holds in part**: attention loses less than half of the points that the fixed vector loses. **Fails**: otherwise.

The same rule is put to "end only", which has the weights of attention and one position in sight, after 2,000 updates.
"""

from functools import cache
from itertools import islice
from typing import Any

from plmlab import world
from plmlab.chapters.ch04.translation import AIMS
from plmlab.world.datasets.passages import Words
from plmlab.world.documents.pairs import Translation

NOUNS = ("hat", "key")
"""The nouns of the pairs that training never puts together: *bought* with *hat*, *new* with *key*."""


@cache
def known() -> dict[Words, Words]:
    """Every sentence of a long training text → its Chinese."""
    told: list[Translation] = list(islice(world.small().translations("train", seed=1), 20_000))
    return {pair.english: pair.chinese for pair in told}


def verdict(arms: dict[str, Any], attention: str, fixed: str, updates: int) -> str:
    """What the rule above says of two arms: untrained, no bottleneck here, holds, holds in part, or fails. ``arms`` as
    `measure` tells them."""
    def ends(name: str, what: str) -> tuple[float, float]:
        told = arms[name][str(updates)]
        return told[str(AIMS[0])][what]["mean"], told[str(AIMS[-1])][what]["mean"]

    def lost(name: str) -> float:
        short, long = ends(name, "bleu")
        return short - long

    def dearer(name: str) -> float:
        short, long = ends(name, "loss")
        return long - short

    with_it, without = lost(attention), lost(fixed)
    if min(ends(name, "bleu")[0] for name in (attention, fixed)) < 90:
        return "untrained"
    if without < 5:
        return "no bottleneck here"
    if with_it <= 3 and without >= 20 and dearer(attention) < dearer(fixed) / 10:
        return "holds"
    return "holds in part" if with_it < without / 2 else "fails"
