"""Two languages in one stream: half and half, each known word by word, and nothing beside its translation."""

from itertools import islice
from random import Random

import pytest
import torch

from plmlab.example import IGNORE
from plmlab.objectives import masked
from plmlab.world.datasets.batches import bilingual_batches
from plmlab.world.datasets.segments import segment_pairs
from plmlab.world.datasets.tokenizer import build_bilingual_tokenizer, build_world_tokenizer

UNK, FIRST_WORD = 1, 39


@pytest.fixture(scope="module")
def tokenizer(small):
    return build_bilingual_tokenizer(small)


def test_english_keeps_its_ids(small, tokenizer):
    english = build_world_tokenizer(small, ["english"])
    ids = range(len(english))
    assert tokenizer.tokens(ids) == english.tokens(ids) and len(tokenizer) > len(english) + 50
    assert len(set(tokenizer.tokens(range(len(tokenizer))))) == len(tokenizer), "no word twice"


def test_every_word_of_both_languages_is_one_token(small, tokenizer):
    said = {words for split in ("train", "test", "facts", "entities", "combinations")
            for one in islice(small.sentences(split, seed=1), 300) for words in (one.words, one.chinese)}
    said |= {words for split in ("train", "facts") for article in small.paired(split)
             for one in article.sentences for words in (one.words, one.chinese)}
    for words, ids in zip(said, tokenizer.encode_all([" ".join(words) for words in said], plain=True), strict=True):
        assert UNK not in ids and tuple(tokenizer.tokens(ids)) == words


def test_half_of_the_sentences_are_chinese_and_none_stands_beside_its_original(small, tokenizer):
    """Each row is one sentence of the stream that the step's generator begins, in one of its two languages."""
    batches, chinese = bilingual_batches(small, "train", tokenizer, masked, 200, 5), 0
    for step in range(3):
        batch = batches(step)
        truth = torch.where(batch.targets != IGNORE, batch.targets, batch.tokens)
        drawn = islice(small.sentences("train", seed=int(Random(f"5:{step}").random() * 2**53)), 200)
        for row, one in zip(truth.tolist(), drawn, strict=True):
            words = tuple(tokenizer.tokens([token for token in row if token >= FIRST_WORD]))
            assert words in (one.words, one.chinese)
            chinese += words == one.chinese
        again = batches(step)
        assert torch.equal(batch.tokens, again.tokens) and torch.equal(batch.targets, again.targets)
    assert 600 * 0.42 < chinese < 600 * 0.58


def test_a_pair_is_all_in_one_language_half_of_them_in_chinese(small):
    told = [[words for article in small.paired("train") for one in article.sentences for words in way(one)]
            for way in (lambda one: one.words, lambda one: one.chinese)]
    english, chinese = map(set, told)
    drawn = list(islice(segment_pairs(small, "train", 3, longest=40, bilingual=True), 400))
    ways = [({*pair.first, *pair.second} <= english, {*pair.first, *pair.second} <= chinese) for pair in drawn]
    assert all(one != other for one, other in ways)
    assert 400 * 0.4 < sum(other for _, other in ways) < 400 * 0.6
    assert 400 * 0.4 < sum(pair.is_next for pair in drawn) < 400 * 0.6
    assert max(len(pair.first) + len(pair.second) for pair in drawn) <= 40


def test_what_follows_follows_in_chinese_too(small):
    articles = [tuple(word for one in article.sentences for word in one.chinese) for article in small.paired("train")]
    found = 0
    for pair in islice(segment_pairs(small, "train", 3, longest=400, bilingual=True), 200):
        both = (*pair.first, *pair.second)
        homes = [words for words in articles if any(words[at:at + len(pair.first)] == pair.first
                                                    for at in range(len(words)))]
        if homes and len(both) < 400:
            stands = any(words[at:at + len(both)] == both for words in homes for at in range(len(words)))
            assert stands == pair.is_next
            found += 1
    assert found > 50


def test_in_one_language_nothing_is_drawn_for_the_other(small):
    """The stream that BERT and others were trained on: the same articles and cuts from the same seed."""
    drawn = list(islice(segment_pairs(small, "train", 0, longest=40), 3))
    assert [(len(pair.first), len(pair.second), pair.is_next) for pair in drawn] == [
        (18, 9, True), (16, 4, False), (9, 9, False)]
