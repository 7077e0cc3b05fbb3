"""Decoding strategies of chapter 07: the percentages by hand, the best settings, and the rule of the comparison."""

import math

import pytest

from plmlab import world
from plmlab.chapters.ch07 import corpus, decoding
from plmlab.chapters.ch07.decoding import Best, Quality

ONE, TWO = ("the", "keys"), ("no", "key")


def test_percentages_by_hand() -> None:
    """The notebook's five texts: four are correct, three of these four identical; and a group with one correct text."""
    quality = decoding.quality([ONE, ONE, None, ONE, TWO, None, None, ONE, None, None], group=5)
    assert quality.correct == 50 and quality.distinct == 30 and quality.variance == pytest.approx(200)


def test_the_share_of_a_first_word_is_of_the_correct_texts() -> None:
    assert decoding.first_word_share([ONE, None, TWO, ONE, ONE], "the") == 75


def test_the_best_settings_meet_their_condition() -> None:
    qualities = {("top_k", 1): Quality(99.9, 3, 1), ("top_k", 2): Quality(98, 20, 1),
                 ("top_k", 9): Quality(90, 36, 1), ("top_k", 10): Quality(91, 34, 1),
                 ("top_p", 0.9): Quality(97, 40, 1), ("top_p", 1): Quality(96, 45, 1)}
    assert decoding.best_settings(qualities) == {"top_k": Best(("top_k", 9), ("top_k", 2)),
                                                 "top_p": Best(("top_p", 0.9), ("top_p", 0.9))}
    assert decoding.rows(qualities)["top-p"][1] == "40.0 ± 0.6 (0.9)"


@pytest.mark.parametrize(("correct", "distinct", "wins"), [
    (99, 40, True), (97.1, 43, True), (97.1, 40.1, False), (99.5, 36, False), (97, 40, False)])
def test_a_method_wins_if_it_is_clearly_better_in_one_and_not_clearly_worse_in_the_other(
        correct: float, distinct: float, wins: bool) -> None:
    qualities = {("top_p", 0.9): Quality(correct, distinct, 1), ("top_k", 5): Quality(97, 40, 1)}
    assert decoding.beats(qualities, "top_p", "top_k") is wins


def test_errors_by_hand() -> None:
    assert decoding.correct_error(90) == pytest.approx(100 * math.sqrt(0.9 * 0.1 / 1500))
    assert decoding.distinct_error([Quality(99, 30, 3), Quality(99, 40, 9), Quality(99, 10, 99)]) == pytest.approx(
        math.sqrt(6 / 3))


def test_samples_are_sentences_of_the_world_or_none() -> None:
    texts = decoding.sample_texts(corpus.fresh(0).eval(), seed=0, count=20, top_k=3)
    assert len(texts) == 20 and None in texts
    assert all(world.small().logprob(words) > -math.inf for words in texts if words)
    assert len(decoding.world_texts()) == 1500 and decoding.quality(decoding.world_texts()).correct == 100
