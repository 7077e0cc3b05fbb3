"""How an encoder is given one text or two: in which order they stand, where [CLS] is, and how gaps are asked."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from plmlab.example import Example
from plmlab.objectives.masked import always_mask, masked
from plmlab.objectives.permuted import cloze_in_permutation, permuted
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Visibility

Layout = Callable[[Sequence[int], Sequence[int] | None, Vocabulary], Example]
"""``layout(tokens, second, vocab)`` is what is read of a text, or of two: the first is segment 0, the second segment 1,
and the last position of each of these is its [SEP]."""


def cls_first(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> Example:
    """[CLS] A [SEP], or [CLS] A [SEP] B [SEP]; everyone sees everyone (BERT)."""
    return masked(tokens, pair=second or (), vocab=vocab, rng=Random(0), select=())


def cls_last(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> Example:
    """A [SEP] [CLS], or A [SEP] B [SEP] [CLS], with [CLS] as segment 2; everyone sees everyone (XLNet)."""
    example = permuted(tokens, pair=second or (), vocab=vocab, rng=Random(0), predict=())
    return replace(example, visible=Visibility.full(len(example.tokens)), query_stream_mask=None)


ClozeInput = Callable[[Sequence[int], Sequence[int], Vocabulary, Sequence[int]], tuple[Example, list[int]]]
"""``cloze_in_permutation(tokens, second, vocab, hidden)`` is what is read where some positions are hidden and asked,
each by itself, and the positions of the Example in which they are said. ``hidden`` counts positions as ``cls_first``
does, from [CLS] = 0."""


def mlm_input(tokens: Sequence[int], second: Sequence[int], vocab: Vocabulary, hidden: Sequence[int],
                   ) -> tuple[Example, list[int]]:
    """[MASK] stands at every hidden position (BERT)."""
    return masked(tokens, pair=second, vocab=vocab, rng=Random(0), select=hidden, corrupt=always_mask), list(hidden)


def plm_input(tokens: Sequence[int], second: Sequence[int], vocab: Vocabulary, hidden: Sequence[int],
                  ) -> tuple[Example, list[int]]:
    """Every hidden position has a query stream, which sees what is in sight; there is no [MASK] (XLNet)."""
    positions = [position - 1 for position in hidden]
    return cloze_in_permutation(tokens, positions, vocab=vocab, pair=second), positions
