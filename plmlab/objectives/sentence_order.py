"""Sentence-order prediction (SOP, 句序预测): are two consecutive segments in their original order? ALBERT's second
pretraining task."""

import dataclasses
from collections.abc import Sequence
from random import Random

import torch

from plmlab.example import IGNORE, Example
from plmlab.objectives.masked import Corruption, bert_80_10_10, masked
from plmlab.text.vocabulary import Vocabulary

ORDERED, SWAPPED = 0, 1


def sentence_order(first: Sequence[int], second: Sequence[int], follows: bool, *, vocab: Vocabulary, rng: Random,
                   rate: float = 0.15, select: Sequence[int] | None = None, corrupt: Corruption = bert_80_10_10,
                   ) -> Example:
    """[CLS] A [SEP] B [SEP], or with probability ½ the two segments swapped, masked by ``masked``, with the label
    ``sentence_order``: 0 in the original order, 1 if swapped, IGNORE if B does not follow A (Lan et al. 2020, §3.1).
    Raises ValueError if B is empty."""
    if not second:
        raise ValueError("B is empty; give a second segment of at least one token")
    swapped = rng.random() < 0.5
    one, other = (second, first) if swapped else (first, second)
    label = IGNORE if not follows else SWAPPED if swapped else ORDERED
    example = masked(one, pair=other, vocab=vocab, rng=rng, rate=rate, select=select, corrupt=corrupt)
    return dataclasses.replace(example, labels={"sentence_order": torch.tensor(label)})
