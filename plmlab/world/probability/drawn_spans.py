"""The probability that GLM's objectives mask exactly the given spans, which determines what the context reveals about a
blank.

There is one function per objective, to be passed as ``drawing`` to `plmlab.world.probability.blanks.DrawnBlanks`. Each
follows `plmlab.objectives.blanks` step by step.
"""

from collections.abc import Sequence
from functools import cache
from math import factorial, prod

from plmlab.objectives.blanks import ENDS, TO_THE_END
from plmlab.world.probability.blanks import Span


def blank_spans(count: int, spans: Sequence[Span], rate: float = 0.15) -> float:
    """The probability that ``blank_infilling`` masks exactly these spans of ``count`` words, at this ``rate``.

    Lengths are sampled one after the other until enough words are masked, then shuffled; the spans are then placed at
    random with at least one word between two spans. The probabilities of all sets of spans sum to 1.
    """
    lengths = [stop - begin for begin, stop in spans]
    room = count - sum(lengths) - len(spans) + 2
    places, behind = list[int](), 0
    for begin, stop in spans:
        places.append(begin - behind)
        behind += stop - begin + 1
    if not spans or min(lengths) < 1 or places != sorted(places) or places[0] < 0 or places[-1] >= room:
        return 0.0
    ways = factorial(len(places)) // prod(factorial(places.count(place)) for place in set(places))
    return _drawn_lengths(count, tuple(sorted(lengths)), rate) * ways / room ** len(places)


def document_span(count: int, spans: Sequence[Span]) -> float:
    """The probability that ``document_infilling`` masks exactly this one span of ``count`` words."""
    if len(spans) != 1:
        return 0.0
    [(begin, stop)] = spans
    length = stop - begin
    if not 0 <= begin < stop <= count or length < count - count // 2:
        return 0.0
    to_the_end = TO_THE_END if stop == count else 0.0
    return (to_the_end + (1 - TO_THE_END) / (count - length + 1)) / (count // 2 + 1)


@cache
def _drawn_lengths(count: int, lengths: tuple[int, ...], rate: float) -> float:
    """The probability that these lengths, sorted, are sampled and end up in one given order: the mean over all orders
    in which they can have been sampled."""

    @cache
    def drawn(left: tuple[int, ...]) -> float:
        hidden, number = sum(lengths) - sum(left), len(lengths) - len(left)
        ends = ENDS[:max(0, count - hidden - number)]
        goes_on = hidden < rate * count and bool(ends)
        if not left or not goes_on:
            return float(not left and not goes_on)
        total = 0.0
        for place, length in enumerate(left):
            if length <= len(ends):
                weight = ends[length - 1] - (ends[length - 2] if length > 1 else 0.0)
                total += weight / ends[-1] * drawn((*left[:place], *left[place + 1:]))
        return total

    return drawn(lengths) / factorial(len(lengths))
