"""What chapter 11 trains live: the same price in any order for who knows all, and a leak that falls through it."""

from itertools import permutations
from math import log
from random import Random
from typing import Any

import pytest

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.chapters.ch11.whole_order import learn, predict_all, predict_all_leaking
from plmlab.draws import randint
from plmlab.objectives import permuted
from plmlab.text import Tokenizer
from plmlab.text.vocabulary import Vocabulary
from plmlab.world.probability.example_floor import questions
from plmlab.world.probability.readers import FIRST, PositionVocabulary, length_known, positions_known


def test_in_every_order_a_sentence_has_one_price() -> None:
    """−log p(sentence | its length), whoever is told what of the length; and nothing where the answer is seen."""
    small, words = world.small(), ["the", "boys", "sleep", "."]
    automaton, vocab = small.automaton("train"), PositionVocabulary.of(4)
    for order in permutations(range(4)):
        one = permuted(range(FIRST, FIRST + 4), vocab=vocab, rng=Random(0), order=[4, 5, *order], predict=range(4))
        prices = [reader(automaton, words, questions(one, vocab), vocab) for reader in (length_known, positions_known)]
        first = sum(-log(p) for p in [_of_length(words)])
        assert prices == pytest.approx([first, first])
    leaks = predict_all_leaking(range(FIRST, FIRST + 4), vocab=vocab, rng=Random(0))
    assert length_known(automaton, words, questions(leaks, vocab), vocab) == 0


def _of_length(words: list[str]) -> float:
    """p(sentence | as many words), from the joint distribution of all of them."""
    return world.small().joint(words, range(len(words)), "train")[tuple(words)]


def test_every_word_is_asked_behind_the_ends() -> None:
    vocab, orders = Vocabulary(1000), set()
    for seed in range(60):
        one = predict_all([101, 102, 103], vocab=vocab, rng=Random(seed))
        assert one.targets.tolist() == [101, 102, 103, -100, -100]
        looks = one.query_stream_mask.dense()[:3]
        assert looks[:, 3:].all() and not looks[:, :3].diagonal().any()
        orders.add(tuple(looks[:, :3].sum(1).tolist()))
    assert len(orders) == 6


@pytest.mark.usefixtures("one_thread")
def test_the_leak_falls_through_the_floor_and_the_honest_model_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a text of twenty words that are drawn apart from each other: its floor is log 20, and is soon reached."""
    def drawn(_: object, split: str, tokenizer: Tokenizer, objective: Any, batch: int, seed: int) -> ExampleBatches:
        return ExampleBatches(lambda rng: [objective([40 + randint(rng, 20) for _ in range(6)], vocab=tokenizer.vocab,
                                                     rng=rng) for _ in range(8)], seed, tokenizer.vocab.need("pad"))
    monkeypatch.setattr("plmlab.chapters.ch11.whole_order.sentence_batches", drawn)
    honest, leaks = (learn(make, 40, 0, show=False)[1].smoothed(10)[-1] for make in (predict_all, predict_all_leaking))
    assert leaks < 0.5 * log(20) < 0.98 * log(20) < honest < 1.1 * log(20)
