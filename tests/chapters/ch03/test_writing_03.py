"""What is written is judged by the grammar, searches against each other, and cuts of a text against hand counts."""

import math

import pytest
import torch

from plmlab import world
from plmlab.chapters.ch03 import units
from plmlab.chapters.ch03.writing import (
    beginnings,
    lstm,
    prefers_the_wrong,
    prompt_tokens,
    sampled_texts,
    search,
    text_quality,
    words_of,
)
from plmlab.decode import Hypothesis
from plmlab.text.vocabulary import Vocabulary
from plmlab.world.datasets.tokenizer import world_tokenizer


def said(words: list[str], logprob: float = -1.0) -> Hypothesis:
    return Hypothesis((*world_tokenizer().encode(" ".join(words), plain=True), world_tokenizer().vocab.need("end")),
                      logprob)


def test_the_world_judges():
    right, other = (list(words) for words, _ in zip(world.full().text("test", seed=1), "ab", strict=False))
    found = text_quality([said(right), said(right), said(other), said(right[::-1], -5.0)], {tuple(right)})
    assert (found.grammatical, found.different, found.read) == (0.75, 0.75, 0.5)
    nats = -(2 * world.full().logprob(right) + world.full().logprob(other)) / 3
    assert found.world == pytest.approx(nats)
    assert text_quality([said(right[::-1])]).world == math.inf


def test_words_go_there_and_back():
    words = ("the", "butchers", "borrowed", "money", "from", "the", "bank", ".")
    assert words_of(said(list(words))) == words
    assert prompt_tokens(words[:2], 3).shape == (3, 3)


def test_drawn_texts_follow_their_seed():
    one, again, other = (sampled_texts(lstm()[0], seed, 5) for seed in (0, 0, 1))
    assert one == again != other


def test_beginnings_are_different_and_of_real_sentences():
    found = beginnings(2, 30)
    assert len(set(found)) == 30
    assert all(world.full().next_words(words) for words in found)


@pytest.mark.parametrize("words", [("the", "butchers"), ("my",)])
def test_search_finds_at_least_what_beams_find(words):
    found = search(words, (1, 5))
    assert not any(text.logprob > found.best.logprob + 1e-4 for text in found.found.values())
    assert found.search_error(1) == (found.found[1].logprob < found.best.logprob - 1e-4)
    assert found.likeliest >= found.nats(found.best) - 1e-9
    assert found.model_error() == (found.nats(found.best) < found.likeliest - 1e-4)


def test_preferences():
    short, long = Hypothesis((1, 2), -3.0), Hypothesis((1, 2, 3, 4, 5, 6), -6.0)
    assert prefers_the_wrong(lambda text: text.logprob, [(long, short), (short, long)]) == 0.5
    assert prefers_the_wrong(lambda text: text.logprob / len(text.tokens), [(long, short)]) == 0


def test_a_cut_by_hand():
    vocab = Vocabulary(41)
    found = units.evaluate_ngram([[39, 39, 40]], [[39, 1]], vocab, 1, 7)
    p = {39: 2 / 4, 40: 1 / 4, 6: 1 / 4}
    d = 2 / (2 + 2 * 1)
    sayable, kinds = 4, 3
    chance = [(2 - d) / 4 + d * kinds / 4 / sayable, d * kinds / 4 / sayable, (1 - d) / 4 + d * kinds / 4 / sayable]
    nats = -sum(math.log(one) for one in chance)
    assert p[39] == 0.5 and found.tokens == 3 and found.unknown == pytest.approx(1 / 3)
    assert found.perplexity == pytest.approx(math.exp(nats / 3)) and found.bits == pytest.approx(nats / math.log(2) / 7)


def test_cuts_hold_the_whole_text():
    torch.manual_seed(0)
    letters = sum(len(line) + 1 for line in units.lines()[1])
    found = units.characters(1)
    assert found.tokens == letters
    assert units.words(50, 1).unknown > units.words(5, 1).unknown > 0
    assert not set(units.lines()[0]) & set(units.lines()[1])
