"""How an encoder is given one text or two, with nothing hidden: in which order they stand, and where [CLS] is."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from plmlab.example import Example
from plmlab.objectives.masked import masked
from plmlab.objectives.permuted import permuted
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Visibility

Layout = Callable[[Sequence[int], Sequence[int] | None, Vocabulary], Example]
"""``layout(tokens, second, vocab)`` is what is read of a text, or of two: the first is segment 0, the second segment 1,
and the last slot of each of these is its [SEP]."""


def cls_first(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> Example:
    """[CLS] A [SEP], or [CLS] A [SEP] B [SEP]; everyone sees everyone (BERT)."""
    return masked(tokens, pair=second or (), vocab=vocab, rng=Random(0), select=())


def cls_last(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> Example:
    """A [SEP] [CLS], or A [SEP] B [SEP] [CLS], with [CLS] as segment 2; everyone sees everyone (XLNet)."""
    example = permuted(tokens, pair=second or (), vocab=vocab, rng=Random(0), predict=())
    return replace(example, visible=Visibility.full(len(example.tokens)), query_visible=None)
