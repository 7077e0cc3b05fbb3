"""Pairs of segments: what follows follows, strangers are strangers, nothing is too long, all of an article is read."""

from itertools import islice

import pytest

from plmlab.world.datasets.segments import FILLED, segment_pairs
from plmlab.world.documents.pairs import PairError


def places(world, split):
    """Article → its words, and where its sentences begin."""
    found = {}
    for article in world.paired(split):
        begin = [0]
        for sentence in article.sentences:
            begin.append(begin[-1] + len(sentence.words))
        found[article.entity] = article.words, begin
    return found


def standing(part, whole, begin):
    """At which of its sentences' begins a stretch stands in a text."""
    return [at for at in begin if whole[at:at + len(part)] == part]


@pytest.mark.parametrize("split", ["train", "entities"])
def test_what_follows_follows_and_strangers_come_from_elsewhere(full, split):
    articles = places(full, split)
    told = [pair for pair in islice(segment_pairs(full, split, 3, longest=400), 350)
            if len(pair.first) + len(pair.second) < 400]
    assert len(told) > 290
    for first, second, is_next in told:
        homes = {key: [at for at in standing(first + second, words, begin) if at + len(first) in begin
                       and at + len(first) + len(second) in begin] for key, (words, begin) in articles.items()}
        assert any(homes.values()) == is_next
        for part in (first, second):
            assert any(at + len(part) in begin
                       for words, begin in articles.values() for at in standing(part, words, begin))
    assert 110 < sum(pair.is_next for pair in told) < 190
    assert any(len(pair.first) > 60 for pair in told) and any(len(pair.second) > 60 for pair in told)


def test_segments_are_as_long_as_may_be_and_no_longer(full):
    drawn = list(islice(segment_pairs(full, "train", 5, longest=40), 2000))
    sizes = [len(pair.first) + len(pair.second) for pair in drawn]
    assert max(sizes) == 40 and min(sizes) < 15 and all(pair.first and pair.second for pair in drawn)
    assert min(len(pair.first) for pair in drawn if len(pair.second) > 20) < 20
    whole = {article.words for article in full.articles("train")}
    ends = {words[at - 3:at] for words in whole for at in range(3, len(words) + 1) if words[at - 1] == "."}
    assert all(pair.first[-3:] in ends for pair in drawn if len(pair.first) > 2), "the beginning is cut off"


def test_all_articles_are_read_and_one_pair_in_eight_is_filled_up(full):
    drawn = list(islice(segment_pairs(full, "train", 0, longest=189), 4000))
    filled = sum(len(pair.first) + len(pair.second) == 189 for pair in drawn)
    assert filled == pytest.approx(4000 / FILLED, abs=4 * 21)
    read = {word for pair in drawn for word in (*pair.first, *pair.second)}
    assert read == {word for article in full.articles("train") for word in article.words}


def test_same_seed_same_pairs(full):
    one, again, other = (list(islice(segment_pairs(full, "train", seed, longest=100), 40)) for seed in (1, 1, 2))
    assert one == again != other


def test_what_can_not_be_paired_is_said(full, small):
    with pytest.raises(PairError, match="longest=1"):
        next(segment_pairs(full, "train", 0, longest=1))
