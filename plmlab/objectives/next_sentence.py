"""Next-sentence prediction (下一句预测): does B follow A in its text? BERT's question beside the hidden words."""

import dataclasses
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import torch

from plmlab.example import Example
from plmlab.objectives.masked import Corruption, bert_80_10_10, masked
from plmlab.text.vocabulary import Vocabulary

IS_NEXT, NOT_NEXT = 0, 1


def next_sentence(first: Sequence[int], second: Sequence[int], follows: bool, *, vocab: Vocabulary, rng: Random,
                  rate: float = 0.15, select: Sequence[int] | None = None,
                  corrupt: Corruption = bert_80_10_10) -> Example:
    """[CLS] A [SEP] B [SEP], words hidden as ``masked`` does; label ``next_sentence``: 0 where B follows A, 1 where
    it is a stranger (Devlin et al. 2019, §3.1, task 2). Which of the two, half and half, is the source's to draw.
    """
    if not second:
        raise ValueError("B is empty, so that nothing follows A; give a sentence of one token or more")
    example = masked(first, pair=second, vocab=vocab, rng=rng, rate=rate, select=select, corrupt=corrupt)
    return dataclasses.replace(example, labels={"next_sentence": torch.tensor(IS_NEXT if follows else NOT_NEXT)})


def without_nsp(objective: Callable[..., Example]) -> Callable[..., Example]:
    """From an objective that takes a ``pair`` one that is called as ``next_sentence`` is: both texts are read, and
    whether B follows A is not asked. XLNet leaves the question out (Yang et al. 2019, §3.1), and so does MPNet."""
    def of_pair(first: Sequence[int], second: Sequence[int], follows: bool, **given: Any) -> Example:
        return objective(first, pair=second, **given)
    return of_pair
