"""Ways to fine-tune one network for translation: how much of a target is masked, and which positions predict.

The network of `shares` is trained to translate the small world's sentences: with a fraction of the target masked, each
masked word predicted in place; or with nothing masked, and a fraction of the positions predicting the next token. It
starts from random weights.
"""

from functools import partial

from plmlab.chapters.ch12 import small_writing
from plmlab.chapters.ch12.small_writing import Make, Write, appended_masks, at_the_last, in_place, next_words

WAYS: dict[str, tuple[Make, Write]] = {
    **{f"{share:.0%} hidden": (small_writing.masked(share), in_place) for share in (0.15, 0.7, 1.0)},
    "100% at masks behind": (appended_masks, in_place),
    **{f"{share:.0%} of next words": (partial(next_words, share=share), at_the_last) for share in (0.15, 0.7, 1.0)}}
