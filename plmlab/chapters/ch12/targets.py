"""Ways to tune one network to translate: how much of a target is hidden, and what is asked of it.

The network of `shares` learns to translate the small world's sentences: with a share of the target hidden, each hidden
word asked in place; or with nothing hidden, and a share of the positions asked for the token behind them. It begins
from random weights.
"""

from functools import partial

from plmlab.chapters.ch12 import small_writing
from plmlab.chapters.ch12.small_writing import Make, Write, at_the_last, in_place, masks_behind, next_words

WAYS: dict[str, tuple[Make, Write]] = {
    **{f"{share:.0%} hidden": (small_writing.masked(share), in_place) for share in (0.15, 0.7, 1.0)},
    "100% at masks behind": (masks_behind, in_place),
    **{f"{share:.0%} of next words": (partial(next_words, share=share), at_the_last) for share in (0.15, 0.7, 1.0)}}
