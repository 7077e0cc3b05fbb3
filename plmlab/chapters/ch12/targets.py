"""Ways to train a network for translation: the fraction of the target that is masked, and the positions that make
predictions.

The network of `shares` is trained to translate sentences of the small world, either with a fraction of the target
masked and each masked word predicted in place, or with nothing masked and a fraction of the positions predicting the
next token. Training starts from random weights.
"""

from functools import partial

from plmlab.chapters.ch12 import small_writing
from plmlab.chapters.ch12.small_writing import Make, Write, appended_masks, at_the_last, in_place, next_words

WAYS: dict[str, tuple[Make, Write]] = {
    **{f"{share:.0%} hidden": (small_writing.masked(share), in_place) for share in (0.15, 0.7, 1.0)},
    "100% at masks behind": (appended_masks, in_place),
    **{f"{share:.0%} of next words": (partial(next_words, share=share), at_the_last) for share in (0.15, 0.7, 1.0)}}
