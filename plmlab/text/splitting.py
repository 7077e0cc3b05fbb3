"""Split a long text into blocks at punctuation, by dynamic programming (CogLTX, Ding et al. 2020).

A text longer than the model's input is processed in blocks of at most 63 tokens, so that a block and its [SEP] are at
most 64 tokens. The blocks should end where a sentence ends, and there should be few of them: both are costs, and the
split with the lowest total cost is found exactly.
"""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

Token = TypeVar("Token", bound=Hashable)

PUNCTUATION_COSTS = {"\n": 0, ".": 1, "?": 1, "!": 1, ",": 2}
"""Token → cost of ending a block after it. The cost is lowest at the end of a paragraph."""


def split_at_punctuation(tokens: Sequence[Token], end_costs: Mapping[Token, int], longest: int = 63, *,
                         block_cost: int = 4) -> list[tuple[int, int]]:
    """Split a text into consecutive blocks of at most ``longest`` tokens with the lowest total cost; returns their
    spans (begin, end) with exclusive end, in order.

    ``tokens`` are ids or strings, and ``end_costs`` maps those after which a block may end to a cost, as
    `PUNCTUATION_COSTS` does. Each block adds ``block_cost``. A stretch without such tokens that is longer than a block
    is broken after each ``longest`` of its tokens, counted from its beginning. Of several splits with the same cost,
    the one with the shortest last block is returned, then the one with the shortest block before it, and so on.

    Each token is compared with at most ``longest`` others. Raises ValueError if the text is empty or ``longest`` is
    below 1.

    Source: ``Buffer.split_document_into_blocks(…, hard=False)`` in the authors' code, which returns no block for an
    empty text. There a break inside a stretch costs 8, which has no effect: no other split is possible at such a place,
    because a longer block would exceed ``longest``. For question answering they use ``hard=True`` instead, where each
    sentence is a block, or several of about equal length.
    """
    if longest < 1:
        raise ValueError(f"longest={longest} was given; a block needs at least one token")
    if len(tokens) == 0:
        raise ValueError("the text is empty; give at least one token to split into blocks")
    ends = _possible_ends(tokens, end_costs, longest)
    total, begin_of = {0: 0}, {}
    for index, end in enumerate(ends[1:], 1):
        begins = ends[bisect_left(ends, end - longest):index]
        # min returns the first of several minima, so that the latest begin wins a tie
        begin_of[end] = min(reversed(begins), key=total.__getitem__)
        total[end] = total[begin_of[end]] + end_costs.get(tokens[end - 1], 0) + block_cost
    spans, end = [], len(tokens)
    while end:
        spans.append((begin_of[end], end))
        end = begin_of[end]
    return spans[::-1]


def _possible_ends(tokens: Sequence[Token], end_costs: Mapping[Token, int], longest: int) -> list[int]:
    """The positions where a block may end, from 0, in ascending order and never more than ``longest`` apart."""
    natural = [0, *(end for end, token in enumerate(tokens, 1) if token in end_costs or end == len(tokens))]
    return [0, *(end for begin, last in pairwise(natural) for end in (*range(begin + longest, last, longest), last))]


def costs_by_id(id_of: Callable[[str], int]) -> dict[int, int]:
    """`PUNCTUATION_COSTS` by token id, for tokenizers without line breaks."""
    return {id_of(mark): cost for mark, cost in PUNCTUATION_COSTS.items() if mark != "\n"}
