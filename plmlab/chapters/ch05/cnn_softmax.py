"""Can a softmax spell its words instead of having a row for each, and does it then take one for another?

Józefowicz et al. (2016, §3.2, Table 1), on 793,471 words: perplexity 30.0 with a full softmax and 1.04 billion weights,
39.8 with a CNN softmax and 0.29 billion, 35.8 with a correction of 128 numbers a word besides: it takes 37 % off the
loss that the CNN adds. Their reason: what a CNN makes of characters is smooth, so that words that are spelled alike and
used differently are hard to tell apart; a correction can do it.

Their state has 1,024 numbers, and 128 are one in eight. The tiny ELMo's has 32, of which one in eight would be 4; its
correction has 8, twice that share.

Written down before the runs. A word is *near* if another word of the world is one edit away (a letter put in, taken
out, or exchanged; single characters are left out: any two of them are one edit apart). What a softmax costs is its loss
minus that of the full softmax with the same seed, on the same targets, each word counted once. No softmax here has a
bias for each word. (After a first run, in which the full one had, it was made so; that run said *fails* and *open*.)

- **Hard to tell apart: holds** if with every seed the CNN softmax costs something on near words, and more there than
  on the others, and puts more probability than the full softmax on the words that are near the right one. **Fails** if
  with every seed it costs nothing on near words, or no more than on the others. **Open**: all else.
- **The correction mends it: holds** if with every seed it takes at least a third off the cost on near words. **Fails**
  if with every seed it takes nothing off. **Open**: all else, and wherever there is nothing to mend because the CNN
  softmax costs nothing with some seed.

What would make it fail here: 148 words are few for 144 filters and a highway, so that the CNN may give each a vector of
its own.
"""

from typing import Any


def added(arms: dict[str, Any], arm: str, of: str) -> list[float]:
    """What an arm costs above the full softmax, seed by seed; ``arms`` as `measure` tells them, ``of`` a name of
    `costs`."""
    full, mine = (arms[name]["costs"][of]["values"] for name in ("full", arm))
    return [one - other for one, other in zip(mine, full, strict=True)]


def hard_to_tell(arms: dict[str, Any]) -> str:
    """What the first rule above says: holds, fails or open."""
    told = list(zip(*(added(arms, "CNN", of) for of in ("near", "others", "taken")), strict=True))
    if all(near > max(0, others) and taken > 0 for near, others, taken in told):
        return "holds"
    return "fails" if all(near <= max(0, others) for near, others, _ in told) else "open"


def mended(arms: dict[str, Any]) -> str:
    """What the second rule above says: holds, fails or open."""
    told = list(zip(added(arms, "CNN", "near"), added(arms, "corrected", "near"), strict=True))
    if min(without for without, _ in told) <= 0:
        return "open"
    if all(cost <= 2 / 3 * without for without, cost in told):
        return "holds"
    return "fails" if all(cost >= without for without, cost in told) else "open"
