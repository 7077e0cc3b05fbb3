"""Span corruption (片段破坏) of T5: spans are dropped from the encoder's input, each replaced by a sentinel of its own,
and the decoder generates the dropped tokens."""

from collections.abc import Callable, Sequence
from itertools import accumulate, chain, pairwise
from random import Random

from plmlab.draws import sample
from plmlab.example import PairExample
from plmlab.objectives.blanks import Span, check_spans
from plmlab.objectives.masked import check_rate
from plmlab.objectives.registry import Choice, objective
from plmlab.objectives.sequences import sequence_to_sequence
from plmlab.text.vocabulary import Vocabulary

Placement = Callable[[int, int, int, Random], list[Span]]
"""``place(kept, dropped, spans, rng)`` places ``spans`` spans with ``dropped`` tokens in a text of kept + dropped
tokens; neither number is smaller than ``spans``."""


def end_dropped(kept: int, dropped: int, spans: int, rng: Random) -> list[Span]:
    """Kept and dropped segments alternate, beginning with a kept one, so that the last span ends the text (the authors'
    code). All such divisions are equally likely. Random draws: the lengths of the dropped segments, then of the kept
    ones."""
    lengths = segments(dropped, spans, rng)
    return _alternating(segments(kept, spans, rng), lengths)


def anywhere(kept: int, dropped: int, spans: int, rng: Random) -> list[Span]:
    """Spans can begin and end the text, with at least one kept token between two spans; all such divisions are equally
    likely. Random draws: as in `end_dropped`."""
    lengths = segments(dropped, spans, rng)
    first, *between, _ = segments(kept + 2, spans + 1, rng)  # the first and the last may be empty: one less each
    return _alternating([first - 1, *between], lengths)


@objective(
    title="span corruption (T5)", chinese="片段破坏", paper="Raffel et al. 2020, §3.1.4, §3.3.4, fig. 2",
    choices=(Choice("rate", "proportion of tokens to drop", 0.15, 0.05, 0.6, 0.05),
             Choice("mean", "mean length of a dropped span", 3.0, 1.0, 10.0, 0.5)),
    question="Compare the lengths of source and target. Does the decoder generate the kept tokens again?",
    answer="No. The target has only the dropped tokens, each span after its sentinel, so it is much shorter than the "
           "text. A [MASK] of BERT stands for one token; a sentinel stands for a span of unknown length, which ends "
           "where the decoder predicts the next sentinel.",
)
def span_corruption(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random, rate: float = 0.15, mean: float = 3.0,
                    spans: Sequence[Span] | None = None, place: Placement = end_dropped) -> PairExample:
    """The source has a sentinel instead of each dropped span; the target has each sentinel with its span after it.

    ``round(rate · n)`` tokens of n are dropped, at least one and at most n − 1, in ``round(dropped / mean)`` spans, at
    least one; both numbers are fixed, only the lengths and places are random (the authors' code). There are never more
    spans than dropped or kept tokens. ``place`` draws the spans. With `end_dropped`, the authors' choice, the text ends
    with a dropped span, and a text with a single span (n ≤ 30 at the default rate and mean) always loses its end. If
    kept tokens follow the last span, as in the paper's figure and with `anywhere`, one more sentinel ends the target.
    ``spans`` sets the spans (begin, end) in text order instead of sampling them.

    Source and target both end with [END], and the decoder's input begins with [START]. Raises ValueError if the
    vocabulary has too few sentinels.
    """
    check_rate(rate)
    count = len(tokens)
    if spans is None:
        spans = drawn_spans(count, rate, mean, place, rng)
    check_spans(spans, count)
    closing = not spans or spans[-1][1] < count
    if len(spans) + closing > len(vocab.sentinels):
        raise ValueError(f"{len(spans)} spans need {len(spans) + closing} sentinels, but the vocabulary has "
                         f"{len(vocab.sentinels)}; use a shorter text, or a lower rate")
    ends = [0, *(end for _, end in spans)]
    marked = list(zip(vocab.sentinels, spans, ends, strict=False))  # sentinel, span, end of the span before it
    source = chain.from_iterable((*tokens[last:begin], mark) for mark, (begin, _), last in marked)
    target = chain.from_iterable((mark, *tokens[slice(*span)]) for mark, span, _ in marked)
    return sequence_to_sequence([*source, *tokens[ends[-1]:]], [*target, *vocab.sentinels[len(spans):][:closing]],
                                vocab=vocab)


def segments(total: int, count: int, rng: Random) -> list[int]:
    """The lengths of ``count`` segments of at least one token each, ``total`` tokens together; all such divisions are
    equally likely."""
    cuts = sorted(sample(rng, range(1, total), count - 1))
    return [end - begin for begin, end in pairwise([0, *cuts, total])]


def drawn_spans(count: int, rate: float, mean: float, place: Placement, rng: Random) -> list[Span]:
    """Sample the spans of a text of ``count`` tokens; a text of one token has none."""
    if mean < 1:
        raise ValueError(f"mean={mean}: the mean length of a span must be at least 1")
    dropped = min(max(1, round(rate * count)), count - 1)
    if dropped < 1:
        return []
    kept = count - dropped
    return place(kept, dropped, min(max(1, round(dropped / mean)), kept), rng)


def _alternating(kept: Sequence[int], dropped: Sequence[int]) -> list[Span]:
    """The spans in a text in which each dropped segment follows a kept one."""
    edges = list(accumulate(chain.from_iterable(zip(kept, dropped, strict=True))))
    return list(zip(edges[::2], edges[1::2], strict=True))
