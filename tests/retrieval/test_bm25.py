"""BM25 against its formula, word by word; and what it does with nothing."""

from itertools import pairwise
from math import log
from random import Random

import pytest

from plmlab.draws import choice, randint
from plmlab.retrieval import BM25


def by_formula(query: list[str], text: list[str], texts: list[list[str]]) -> float:
    mean, total = sum(map(len, texts)) / len(texts), 0.0
    for word in query:
        holds, times = sum(word in one for one in texts), text.count(word)
        rarity = log(1 + (len(texts) - holds + 0.5) / (holds + 0.5))
        total += rarity * times / (times + 1.5 * (0.25 + 0.75 * len(text) / mean))
    return total


def test_scores_are_those_of_the_formula() -> None:
    rng = Random(0)
    for size in (1, 2, 7, 30):
        texts = [[choice(rng, "abcdefgh") for _ in range(1 + randint(rng, 12))] for _ in range(size)]
        index = BM25(texts)
        for _ in range(5):
            query = [choice(rng, "abcdefghz") for _ in range(1 + randint(rng, 4))]
            found = index.search([query], 10 * size)
            assert sorted(found.lists()[0]) == [*range(size)]
            scores = [by_formula(query, texts[text], texts) for text in found.lists()[0]]
            assert found.scores[0].tolist() == pytest.approx(scores, abs=1e-5)
            assert all(one >= other - 1e-6 for one, other in pairwise(scores)), "the best come first"


def test_the_best_come_first_and_no_more_than_asked() -> None:
    index = BM25([["bank", "of", "a", "river"], ["bank"], ["tower"]])
    assert index.search([["river", "bank"], ["tower"]], 2).numbers[:, :1].tolist() == [[0], [2]]
    assert index.search([["river", "bank"]], 2).lists() == [(0, 1)]
    assert index.search([["tower"]], 1).lists() == [(2,)]


def test_words_that_no_text_has_score_nothing() -> None:
    index = BM25([["one"], ["two"]])
    for query in ([], ["three"], ["<img onerror>", "🦊", "银行"]):
        assert index.search([query], 2).scores.tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("texts", [[], [[]], [[], []]])
def test_no_word_to_index(texts: list[list[str]]) -> None:
    with pytest.raises(ValueError, match="no word in these texts"):
        BM25(texts)
