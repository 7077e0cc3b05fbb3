"""The inverse cloze task, against the rule of the authors' code (language/orqa/datasets/ict_dataset.py), written out
anew: a block is one row of tokens and the places where its sentences start."""

from collections import Counter
from itertools import accumulate, chain
from random import Random

import pytest
import torch

from plmlab.example import IGNORE
from plmlab.objectives.inverse_cloze import REMOVED, InverseCloze, MatchingBatch, inverse_cloze
from plmlab.text.vocabulary import Vocabulary

VOCAB = Vocabulary(99)
CLS, SEP = 2, 3


def theirs(title: list[int], tokens: list[int], starts: list[int], drawn: int, out: bool) -> tuple[list[int], ...]:
    """The query and the block with its segments, where sentence ``drawn`` is the query, and taken out or not."""
    first, behind = starts[drawn], [*starts[1:], len(tokens)][drawn]
    rest = tokens[:first] + tokens[behind:] if out else tokens
    return ([CLS, *tokens[first:behind], SEP], [CLS, *title, SEP, *rest, SEP],
            [0] * (len(title) + 2) + [1] * (len(rest) + 1))


def ours(made: InverseCloze) -> tuple[list[int], ...]:
    assert not made.query.segments.any() and made.query.visible.dense().all() and made.block.visible.dense().all()
    assert bool((made.query.targets == IGNORE).all() and (made.block.targets == IGNORE).all())
    return made.query.tokens.tolist(), made.block.tokens.tolist(), made.block.segments.tolist()


def drawn_block(rng: Random, most: int = 6) -> tuple[list[int], list[list[int]]]:
    title = [rng.randrange(40, 99) for _ in range(rng.randrange(4))]
    return title, [[rng.randrange(40, 99) for _ in range(rng.randrange(1, 8))] for _ in range(rng.randrange(1, most))]


@pytest.mark.parametrize("seed", range(40))
def test_each_is_one_of_theirs(seed: int) -> None:
    rng = Random(seed)
    title, sentences = drawn_block(rng)
    tokens, starts = [*chain(*sentences)], [0, *accumulate(map(len, sentences))][:-1]
    for removed in (0.0, 1.0):
        out = removed == 1 and len(sentences) > 1
        possible = [theirs(title, tokens, starts, number, out) for number in range(len(sentences))]
        assert ours(inverse_cloze(title, sentences, vocab=VOCAB, rng=rng, removed=removed)) in possible


def test_each_sentence_is_as_likely_and_nine_in_ten_are_taken_out() -> None:
    sentences, found = [[50], [51, 52], [53]], Counter()
    for seed in range(1000):
        made = inverse_cloze([60], sentences, vocab=VOCAB, rng=Random(seed))
        found[tuple(made.query.tokens[1:-1].tolist()), len(made.block.tokens) == 8] += 1
    for sentence in sentences:
        whole, without = found[tuple(sentence), True], found[tuple(sentence), False]
        assert abs((whole + without) / 1000 - 1 / 3) < 0.06
        assert abs(without / (whole + without) - REMOVED) < 0.06


def test_the_only_sentence_stays() -> None:
    """Theirs leaves such an example out where it would take the sentence."""
    for seed in range(30):
        made = inverse_cloze([60], [[50, 51]], vocab=VOCAB, rng=Random(seed))
        assert made.block.tokens.tolist() == [CLS, 60, SEP, 50, 51, SEP]


def test_a_block_without_a_sentence_is_refused() -> None:
    with pytest.raises(ValueError, match="the block has no sentences"):
        inverse_cloze([60], [], vocab=VOCAB, rng=Random(0))


def test_pairs_side_by_side() -> None:
    rng = Random(1)
    pairs = [inverse_cloze(*drawn_block(rng), vocab=VOCAB, rng=rng) for _ in range(5)]
    batch = MatchingBatch.of(pairs, pad=0)
    for row, pair in enumerate(pairs):
        for side, one in zip((batch.queries, batch.documents), pair, strict=True):
            size = len(one.tokens)
            assert torch.equal(side.tokens[row, :size], one.tokens)
            assert torch.equal(side.segments[row, :size], one.segments)
            assert side.padding_mask[row].tolist() == [position < size for position in range(side.size[1])]
    assert bool((batch.targets == IGNORE).all()) and batch.to("meta").documents.tokens.device.type == "meta"
