"""What a reader gets that has all of its text before it at once, and what it is asked: the answer, and which sentences
support it (HotpotQA, Yang et al. 2018)."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, chain

import torch

from plmlab.example import IGNORE, Example
from plmlab.objectives.fine_tuning import span_qa
from plmlab.text.vocabulary import Vocabulary

Ids = Sequence[int]


def first_positions(question: Ids, sentences: Sequence[Ids]) -> list[int]:
    """The position at which each sentence of a text begins, and the position behind the last."""
    return [*accumulate(map(len, sentences), initial=len(question) + 2)]


def with_support(question: Ids, sentences: Sequence[Ids], answer: tuple[int, int, int] | None,
                 supporting: Sequence[int], *, vocab: Vocabulary) -> Example:
    """[CLS] question [SEP] text [SEP], the text being ``sentences``; labels ``start``, ``end`` and ``supporting``, 1 or
    0 at the first position of each sentence and IGNORE elsewhere.

    ``answer`` is (sentence, start, end), its words being ``sentences[sentence][start:end]``; None where the text does
    not answer. ``supporting`` are numbers of sentences.
    """
    start = end = None
    if answer is not None:
        before = sum(map(len, sentences[:answer[0]]))
        start, end = before + answer[1], before + answer[2]
    example = span_qa(question, [*chain(*sentences)], start, end, vocab=vocab)
    told = torch.full_like(example.tokens, IGNORE)
    for number, position in enumerate(first_positions(question, sentences)[:-1]):
        told[position] = int(number in supporting)
    return replace(example, labels={**example.labels, "supporting": told})
