"""Span masking (片段掩码) of SpanBERT: contiguous spans of whole words are masked, and each masked token knows the two
boundaries of its span."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from math import ceil
from random import Random

import torch

from plmlab.draws import choice, randint
from plmlab.example import IGNORE, Example
from plmlab.objectives.blanks import check_spans
from plmlab.objectives.masked import check_rate
from plmlab.objectives.registry import Choice, objective
from plmlab.text.text import Spans
from plmlab.text.text import spans as spans_of
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import Visibility

NEEDED_FOR = "span masking"
LONGEST = 10
"""Maximum length of a sampled span, in words."""
SpanCorruption = Callable[[Sequence[int], Vocabulary, Random], Sequence[int]]
"""``corrupt(span, vocab, rng)`` returns the input tokens at the positions of a span, given its original tokens."""


def span_80_10_10(span: Sequence[int], vocab: Vocabulary, rng: Random) -> list[int]:
    """Replace all tokens of the span by [MASK] with probability 80 %, all by random words with 10 %, or none with 10 %
    (Joshi et al. 2020, §3.1: the replacement is at the span level)."""
    mask, dice = vocab.need("mask"), rng.random()
    if dice < 0.8:
        return [mask] * len(span)
    return [vocab.words[randint(rng, len(vocab.words))] for _ in span] if dice < 0.9 else list(span)


def always_mask_span(span: Sequence[int], vocab: Vocabulary, rng: Random) -> list[int]:
    """Replace all tokens of the span by [MASK]; ``rng`` is not used."""
    return [vocab.need("mask")] * len(span)


def span_lengths(p: float = 0.2, longest: int = LONGEST) -> list[float]:
    """Probabilities of the span lengths 1 … ``longest``: the geometric distribution Geo(p), truncated and
    renormalized, p(1 − p)^(l−1) / (1 − (1 − p)^longest). Its mean is 3.80 for p = 0.2 and ``longest`` = 10, the 3.8 of
    the paper (§3.1), which speaks of clipping; the authors' code renormalizes.

    Raises ValueError unless 0 < ``p`` ≤ 1.
    """
    if not 0 < p <= 1:
        raise ValueError(f"p={p}: the parameter of the geometric distribution must be above 0 and at most 1")
    weights = [p * (1 - p) ** (length - 1) for length in range(1, longest + 1)]
    return [weight / sum(weights) for weight in weights]


@objective(
    title="span masking (SpanBERT)",
    chinese="片段掩码",
    paper="Joshi et al. 2020, §3.1",
    choices=(Choice("rate", "proportion of tokens to predict", 0.15, 0.05, 0.6, 0.05),
             Choice("p", "parameter p of the span lengths, Geo(p)", 0.2, 0.1, 1.0, 0.1)),
    question="Can one token of a span become [MASK] and another token of the same span stay unchanged?",
    answer="No. 80/10/10 is decided once for each span: all of its tokens become [MASK], all random words, or all "
           "stay as they are. BERT decides for each token.",
)
def spans_masked(
    tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, rate: float = 0.15, p: float = 0.2,
    spans: Spans | None = None, corrupt: SpanCorruption = span_80_10_10,
) -> Example:
    """Span masking: [CLS] A [SEP], a single segment in which spans of whole words are corrupted and predicted.

    Spans are sampled until ``ceil(rate · tokens)`` tokens are selected, special tokens not included. A span has a
    length in words from `span_lengths` and begins with the word of a uniformly random token that is not yet selected;
    it ends earlier at the end of the text, or when the budget is spent. Adjacent spans are merged. ``corrupt`` returns
    the input tokens of a whole span. ``spans`` sets the spans instead of sampling them: (begin, end) in tokens, as in a
    slice. Random draws: a length and a first token for each span, both again if that token is already selected; then
    the corruption of each span, from left to right.

    The label ``boundaries``, [time 2], is for the span boundary objective (§3.2): the positions of the last token
    before the span and of the first token after it. It is IGNORE outside of the spans, and in a span at the beginning
    or the end of the text, as in the authors' code, where [CLS] and [SEP] are not boundaries.

    Differences from the authors' code: when the budget is spent, the last word is completed, as in the paper (§3.1),
    instead of being cut, so the budget is exceeded by less than one word; random words are uniform over the vocabulary,
    as in BERT, instead of sampled from the corpus.

    Raises ValueError if the words of the text are unknown, if it has none, or if a given span cuts a word.
    """
    check_rate(rate)
    words = spans_of(tokens, "words", NEEDED_FOR)
    if not words:
        raise ValueError("the text has no words, so nothing can be masked; give at least one word")
    if spans is None:
        chosen = _sampled(words, ceil(rate * sum(end - start for start, end in words)), span_lengths(p), rng)
    else:
        chosen = _given(words, spans, len(tokens))
    whole = [vocab.need("cls"), *tokens, vocab.need("sep")]
    corrupted, targets = list(whole), torch.full((len(whole),), IGNORE)
    boundaries = torch.full((len(whole), 2), IGNORE)
    for start, end in chosen:
        here = slice(1 + start, 1 + end)  # [CLS] is position 0
        corrupted[here] = corrupt(tokens[start:end], vocab, rng)
        targets[here] = torch.tensor(whole[here])
        if start > 0 and end < len(tokens):
            boundaries[here] = torch.tensor([start, 1 + end])
    return Example(
        tokens=torch.tensor(corrupted),
        position_ids=torch.arange(len(whole))[None],
        segments=torch.zeros(len(whole), dtype=torch.long),
        visible=Visibility.full(len(whole)),
        targets=targets,
        labels={"boundaries": boundaries},
    )


def _sampled(words: Spans, budget: int, lengths: Sequence[float], rng: Random) -> Spans:
    """Sample spans of words until ``budget`` tokens are selected."""
    limits = list(accumulate(lengths))[:-1]
    word_of = [i for i, (start, end) in enumerate(words) for _ in range(start, end)]  # one entry per token
    taken, count = [False] * len(words), 0
    while count < budget:
        length, first = 1 + bisect_right(limits, rng.random()), choice(rng, word_of)
        for i in range(first, min(first + length, len(words))) if not taken[first] else ():
            if count < budget and not taken[i]:
                taken[i] = True
                count += words[i][1] - words[i][0]
    return _merged([word for word, is_taken in zip(words, taken, strict=True) if is_taken])


def _given(words: Spans, chosen: Spans, size: int) -> Spans:
    """The given spans, merged where they are adjacent."""
    check_spans(chosen, size)
    starts, ends = zip(*words, strict=True)
    for start, end in chosen:
        if start not in starts or end not in ends:
            raise ValueError(f"the span ({start}, {end}) does not begin and end with a whole word; the words of this "
                             f"text are {words!s:.80}")
    return _merged(chosen)


def _merged(chosen: Sequence[tuple[int, int]]) -> Spans:
    """Merge adjacent spans, which are in text order."""
    merged = list[tuple[int, int]]()
    for start, end in chosen:
        if merged and merged[-1][1] == start:
            start = merged.pop()[0]
        merged.append((start, end))
    return tuple(merged)
