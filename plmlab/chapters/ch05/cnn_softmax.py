"""The CNN softmax: can output embeddings be computed from characters, and does the model then confuse similar words?

Józefowicz et al. (2016, §3.2, Table 1), with a vocabulary of 793,471 words, report a perplexity of 30.0 with a full
softmax and 1.04 billion parameters, 39.8 with a CNN softmax and 0.29 billion parameters, and 35.8 with an additional
128-dimensional correction per word, which removes 37 % of the loss added by the CNN softmax. Their explanation: the CNN
is a smooth function of the characters, so words with similar spelling but different use are hard to distinguish; a
correction can separate them.

The rules were fixed before the runs (section 11 of the notebook). A word is *near* if another word of the world is one
edit away (a character inserted, deleted or substituted; single-character words are left out, because any two of them
are one edit apart). The excess loss of a softmax is its loss minus the loss of the full softmax with the same seed, on
the same targets, with each word weighted equally. No softmax here has a bias per word (in a first run the full softmax
had one).
"""

from typing import Any

from plmlab.chapters.ch05.probes import outcome


def added(arms: dict[str, Any], arm: str, of: str) -> list[float]:
    """Difference in a figure between a softmax and the full softmax, one value per seed; ``arms`` is the stored record,
    and ``of`` a key of its ``costs``."""
    full, mine = (arms[name]["costs"][of]["values"] for name in ("full", arm))
    return [one - other for one, other in zip(mine, full, strict=True)]


def confusion_verdict(arms: dict[str, Any]) -> str:
    """Verdict on "words with similar spelling are hard to distinguish"."""
    by_seed = list(zip(*(added(arms, "CNN", of) for of in ("near", "others", "taken")), strict=True))
    return outcome(all(near > max(0, others) and taken > 0 for near, others, taken in by_seed),
                   all(near <= max(0, others) for near, others, _ in by_seed))


def correction_verdict(arms: dict[str, Any]) -> str:
    """Verdict on "the correction helps"; inconclusive if for some seed there is no excess loss to correct."""
    by_seed = list(zip(added(arms, "CNN", "near"), added(arms, "corrected", "near"), strict=True))
    if min(without for without, _ in by_seed) <= 0:
        return "inconclusive"
    return outcome(all(cost <= 2 / 3 * without for without, cost in by_seed),
                   all(cost >= without for without, cost in by_seed))
