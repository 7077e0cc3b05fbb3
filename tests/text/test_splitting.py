"""Splitting at punctuation against all possible splits of short texts, and by hand."""

from itertools import accumulate, pairwise, product
from math import inf
from random import Random

import pytest

from plmlab.text.splitting import PUNCTUATION_COSTS, split_at_punctuation

Spans = list[tuple[int, int]]


def end_cost(text: str, end: int, longest: int) -> float:
    """Cost of ending a block before position ``end`` of a text whose tokens are characters; 8 inside a stretch without
    punctuation, as in the authors' code."""
    if text[end - 1] in PUNCTUATION_COSTS:
        return PUNCTUATION_COSTS[text[end - 1]]
    if end == len(text):
        return 0
    without_punctuation = 0
    while without_punctuation < end and text[end - 1 - without_punctuation] not in PUNCTUATION_COSTS:
        without_punctuation += 1
    return inf if without_punctuation % longest else 8


def cost(text: str, spans: Spans, longest: int) -> float:
    if any(end - begin > longest for begin, end in spans):
        return inf
    return sum(4 + end_cost(text, end, longest) for _, end in spans)


def all_splits(text: str) -> list[Spans]:
    inner = range(1, len(text))
    return [list(pairwise([0, *(end for end, here in zip(inner, chosen, strict=True) if here), len(text)]))
            for chosen in product([False, True], repeat=len(inner))]


def lengths_from_the_last(spans: Spans) -> list[int]:
    return [end - begin for begin, end in reversed(spans)]


@pytest.mark.parametrize("seed", range(60))
def test_against_all_splits(seed: int) -> None:
    """The lowest cost, and of several splits with this cost the one with the shortest last blocks."""
    rng = Random(seed)
    text = "".join("aaaaa.,,?\n"[int(rng.random() * 10)] for _ in range(1 + int(rng.random() * 11)))
    longest = 1 + int(rng.random() * 5)
    best = min(all_splits(text), key=lambda spans: (cost(text, spans, longest), lengths_from_the_last(spans)))
    assert split_at_punctuation(text, PUNCTUATION_COSTS, longest) == best


def test_ties_occur_and_the_last_block_is_the_shortest() -> None:
    """By hand: three sentences of three tokens, of which two fit in a block, cost 2 · (4 + 1) in two ways."""
    assert split_at_punctuation("aa.aa.aa.", PUNCTUATION_COSTS, 6) == [(0, 6), (6, 9)]
    assert cost("aa.aa.aa.", [(0, 3), (3, 9)], 6) == cost("aa.aa.aa.", [(0, 6), (6, 9)], 6) == 10


@pytest.mark.parametrize(("text", "blocks"), [
    ("a,a.aa", ["a,a.", "aa"]),                  # a full stop (1) instead of a comma (2)
    ("a,a\na.aa", ["a,a\n", "a.aa"]),            # the end of a paragraph (0) instead of a full stop
    ("a.a.a.", ["a.a.", "a."]),                  # two blocks, although each sentence could be one
    ("aaaaaaa.", ["aaaa", "aaa."]),              # no punctuation for longer than a block
    ("a.aaaaaaa", ["a.", "aaaa", "aaa"]),        # the break is counted from the punctuation, not from the block
    (".....", ["....", "."]),
])
def test_by_hand(text: str, blocks: list[str]) -> None:
    assert [text[begin:end] for begin, end in split_at_punctuation(text, PUNCTUATION_COSTS, 4)] == blocks


@pytest.mark.parametrize(("length", "lengths"), [
    (1, [1]), (62, [62]), (63, [63]), (64, [63, 1]), (126, [63, 63]), (127, [63, 63, 1]),
])
def test_without_punctuation(length: int, lengths: list[int]) -> None:
    """Blocks of 63 tokens and the rest; here the tokens are ids."""
    ends = list(accumulate(lengths, initial=0))
    assert split_at_punctuation([7] * length, {5: 1}) == list(pairwise(ends))


@pytest.mark.parametrize("token", ["a", ".", "\n"])
def test_one_token(token: str) -> None:
    assert split_at_punctuation([token], PUNCTUATION_COSTS, 1) == [(0, 1)]


@pytest.mark.parametrize("seed", range(5))
def test_every_token_is_in_one_block(seed: int) -> None:
    """A long text of ids; no two consecutive blocks would fit into one."""
    rng = Random(seed)
    ids = [int(rng.random() * 40) for _ in range(5000)]
    spans = split_at_punctuation(ids, {0: 0, 1: 1, 2: 1, 3: 2})
    assert [position for begin, end in spans for position in range(begin, end)] == list(range(5000))
    assert max(end - begin for begin, end in spans) <= 63
    assert all(next_end - begin > 63 for (begin, _), (_, next_end) in pairwise(spans))


def test_the_cost_of_a_block() -> None:
    """With blocks that cost nothing, each paragraph is one: the costs are equal, and the last block is shorter."""
    assert split_at_punctuation("a\na\na\n", PUNCTUATION_COSTS) == [(0, 6)]
    assert split_at_punctuation("a\na\na\n", PUNCTUATION_COSTS, block_cost=0) == [(0, 2), (2, 4), (4, 6)]


def test_nothing_to_split() -> None:
    with pytest.raises(ValueError, match="the text is empty; give at least one token"):
        split_at_punctuation([], PUNCTUATION_COSTS)
    with pytest.raises(ValueError, match="longest=0 was given; a block needs at least one token"):
        split_at_punctuation("a.", PUNCTUATION_COSTS, 0)
