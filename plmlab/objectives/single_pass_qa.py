"""Inputs and labels for single-pass multi-hop QA (HotpotQA, Yang et al. 2018): the whole text is one input; the labels
are the answer span and the supporting sentences."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, chain

import torch

from plmlab.example import IGNORE, Example
from plmlab.objectives.fine_tuning import span_qa
from plmlab.text.vocabulary import Vocabulary

Ids = Sequence[int]


def sentence_starts(question: Ids, sentences: Sequence[Ids]) -> list[int]:
    """Position of the first token of each sentence, and the position after the last sentence."""
    return [*accumulate(map(len, sentences), initial=len(question) + 2)]


def with_support(question: Ids, sentences: Sequence[Ids], answer: tuple[int, int, int] | None,
                 supporting: Sequence[int], *, vocab: Vocabulary) -> Example:
    """[CLS] question [SEP] sentences [SEP]; labels ``start``, ``end`` and ``supporting`` (1 or 0 at the first token of
    each sentence, IGNORE elsewhere).

    ``answer`` is (sentence, start, end), where ``sentences[sentence][start:end]`` are its tokens; None if the text has
    no answer. ``supporting`` holds the indices of the supporting sentences.
    """
    start = end = None
    if answer is not None:
        before = sum(map(len, sentences[:answer[0]]))
        start, end = before + answer[1], before + answer[2]
    example = span_qa(question, [*chain(*sentences)], start, end, vocab=vocab)
    labels = torch.full_like(example.tokens, IGNORE)
    for number, first in enumerate(sentence_starts(question, sentences)[:-1]):
        labels[first] = int(number in supporting)
    return replace(example, labels={**example.labels, "supporting": labels})
