"""Input formats of encoders: the order of one or two texts, the position of [CLS], and how masked tokens are
predicted."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from plmlab.example import Example
from plmlab.objectives.masked import always_mask, masked
from plmlab.objectives.permuted import cloze_in_permutation, permuted
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Visibility

Layout = Callable[[Sequence[int], Sequence[int] | None, Vocabulary], Example]
"""``layout(tokens, second, vocab)`` builds the input for one or two texts: the first is segment 0, the second
is segment 1, and each ends in [SEP]."""


def cls_first(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> Example:
    """[CLS] A [SEP], or [CLS] A [SEP] B [SEP]; bidirectional attention (BERT)."""
    return masked(tokens, pair=second or (), vocab=vocab, rng=Random(0), select=())


def cls_last(tokens: Sequence[int], second: Sequence[int] | None, vocab: Vocabulary) -> Example:
    """A [SEP] [CLS], or A [SEP] B [SEP] [CLS], with [CLS] as segment 2; bidirectional attention (XLNet)."""
    example = permuted(tokens, pair=second or (), vocab=vocab, rng=Random(0), predict=())
    return replace(example, visible=Visibility.full(len(example.tokens)), query_stream_mask=None)


ClozeInput = Callable[[Sequence[int], Sequence[int], Vocabulary, Sequence[int]], tuple[Example, list[int]]]
"""``cloze_in_permutation(tokens, second, vocab, hidden)`` builds the input with the ``hidden`` positions masked, each
to be predicted independently. Returns the Example and the positions at which the predictions are read off. ``hidden``
counts positions as ``cls_first`` does, from [CLS] = 0."""


def mlm_input(tokens: Sequence[int], second: Sequence[int], vocab: Vocabulary, hidden: Sequence[int],
                   ) -> tuple[Example, list[int]]:
    """Replace every hidden token by [MASK] (BERT). Returns the Example and the positions of the hidden tokens."""
    return masked(tokens, pair=second, vocab=vocab, rng=Random(0), select=hidden, corrupt=always_mask), list(hidden)


def plm_input(tokens: Sequence[int], second: Sequence[int], vocab: Vocabulary, hidden: Sequence[int],
                  ) -> tuple[Example, list[int]]:
    """Predict every hidden token in the query stream, which attends to the visible tokens, without [MASK] (XLNet).
    Returns the Example and the positions of the hidden tokens."""
    shifted = [i - 1 for i in hidden]  # there is no [CLS] in front
    return cloze_in_permutation(tokens, shifted, vocab=vocab, pair=second), shifted
