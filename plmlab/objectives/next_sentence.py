"""Next-sentence prediction (NSP, 下一句预测): does B follow A? BERT's second pretraining task."""

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
    """[CLS] A [SEP] B [SEP], masked by ``masked``, with the label ``next_sentence``: 0 if B follows A, 1 if B is a
    random sentence (Devlin et al. 2019, §3.1, task 2). The caller should sample ``follows`` with probability ½. Raises
    ValueError if B is empty.
    """
    return with_nsp(masked)(first, second, follows, vocab=vocab, rng=rng, rate=rate, select=select, corrupt=corrupt)


def with_nsp(objective: Callable[..., Example]) -> Callable[..., Example]:
    """Adapt an objective with a ``pair`` argument to the signature of ``next_sentence``, with the NSP label. Raises
    ValueError if B is empty."""
    def of_pair(first: Sequence[int], second: Sequence[int], follows: bool, **choices: Any) -> Example:
        if not second:
            raise ValueError("B is empty; give a second sentence of at least one token")
        label = torch.tensor(IS_NEXT if follows else NOT_NEXT)
        return dataclasses.replace(objective(first, pair=second, **choices), labels={"next_sentence": label})
    return of_pair


def without_nsp(objective: Callable[..., Example]) -> Callable[..., Example]:
    """Adapt an objective with a ``pair`` argument to the signature of ``next_sentence``, without the NSP label. XLNet
    (Yang et al. 2019, §3.1) and MPNet omit NSP."""
    def of_pair(first: Sequence[int], second: Sequence[int], follows: bool, **choices: Any) -> Example:
        return objective(first, pair=second, **choices)
    return of_pair
