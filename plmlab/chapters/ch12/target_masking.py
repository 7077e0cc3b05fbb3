"""Objectives for training a network to translate: the fraction of the target that is masked, and the positions that
make predictions.

The network of `mask_mixture` is trained to translate sentences of the small world, either with a fraction of the target
masked and each masked word predicted in place, or with nothing masked and a fraction of the positions predicting the
next token. Training starts from random weights.
"""

from functools import partial

from plmlab.chapters.ch12 import passage_translation
from plmlab.chapters.ch12.passage_translation import Generate, Make, appended_masks, at_the_last, in_place, next_words

OBJECTIVES: dict[str, tuple[Make, Generate]] = {
    **{f"{share:.0%} masked": (passage_translation.masked(share), in_place) for share in (0.15, 0.7, 1.0)},
    "appended masks": (appended_masks, in_place),
    **{f"next token, {share:.0%} of positions": (partial(next_words, share=share), at_the_last)
       for share in (0.15, 0.7, 1.0)}}
