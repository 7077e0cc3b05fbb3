"""Predicting every word of a sentence: the Bayes-optimal loss is the same in every order, and a leak falls below it."""

from collections.abc import Callable, Sequence
from itertools import permutations
from math import log
from random import Random

import pytest
import torch

from plmlab import world
from plmlab.batches import ExampleBatches
from plmlab.draws import randint, shuffled
from plmlab.example import Example
from plmlab.models.xlnet import XLNetConfig, XLNetPretraining
from plmlab.objectives import permuted
from plmlab.objectives.permuted import predict_all_in_order, with_leak
from plmlab.text.vocabulary import Vocabulary
from plmlab.train import fit
from plmlab.world.probability.example_floor import questions
from plmlab.world.probability.readers import FIRST, PositionVocabulary, length_known, positions_known


def predict_all(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random) -> Example:
    """Every word is a target, in a random order after [SEP] and [CLS], as in the chapter."""
    return predict_all_in_order(shuffled(rng, range(len(tokens))), tokens, vocab=vocab)


def predict_all_leaking(tokens: Sequence[int], *, vocab: Vocabulary, rng: Random) -> Example:
    return with_leak(predict_all(tokens, vocab=vocab, rng=rng))


def test_a_sentence_has_the_same_optimal_loss_in_every_order() -> None:
    """−log p(sentence | its length), whether the length is known or only positions are; 0 with a leak."""
    small, words = world.small(), ["the", "boys", "sleep", "."]
    automaton, vocab = small.automaton("train"), PositionVocabulary.of(4)
    for order in permutations(range(4)):
        one = permuted(range(FIRST, FIRST + 4), vocab=vocab, rng=Random(0), order=[4, 5, *order], predict=range(4))
        losses = [reader(automaton, words, questions(one, vocab), vocab) for reader in (length_known, positions_known)]
        first = sum(-log(p) for p in [_of_length(words)])
        assert losses == pytest.approx([first, first])
    leaks = predict_all_leaking(range(FIRST, FIRST + 4), vocab=vocab, rng=Random(0))
    assert length_known(automaton, words, questions(leaks, vocab), vocab) == 0


def _of_length(words: list[str]) -> float:
    """p(sentence | its length), from the joint distribution of all of them."""
    return world.small().joint(words, range(len(words)), "train")[tuple(words)]


def test_every_word_is_a_target_after_sep_and_cls() -> None:
    vocab, orders = Vocabulary(1000), set()
    for seed in range(60):
        one = predict_all([101, 102, 103], vocab=vocab, rng=Random(seed))
        assert one.targets.tolist() == [101, 102, 103, -100, -100]
        mask = one.query_stream_mask.dense()[:3]
        assert mask[:, 3:].all() and not mask[:, :3].diagonal().any()
        orders.add(tuple(mask[:, :3].sum(1).tolist()))
    assert len(orders) == 6


@pytest.mark.usefixtures("one_thread")
def test_a_leak_falls_below_the_floor_and_a_model_without_one_does_not() -> None:
    """In a text of six independent words out of twenty, whose floor is log 20."""
    def loss(objective: Callable[..., Example]) -> float:
        vocab = Vocabulary(60)
        batches = ExampleBatches(lambda rng: [objective([40 + randint(rng, 20) for _ in range(6)], vocab=vocab, rng=rng)
                                              for _ in range(8)], 0, vocab.need("pad"))
        torch.manual_seed(0)
        model = XLNetPretraining(XLNetConfig(vocab.size, layers=1, model=64, heads=2, inner=128, dropout=0.0))
        return fit(model, batches, steps=30, lr=2e-2, warmup=10, show=False).smoothed(10)[-1]

    assert loss(predict_all_leaking) < 0.5 * log(20) < 0.98 * log(20) < loss(predict_all) < 1.1 * log(20)
