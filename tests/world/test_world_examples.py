"""The floor read off Examples: against the exact floors, and against every sentence of the small world."""

import math
import subprocess
import sys
from collections import defaultdict
from dataclasses import replace
from itertools import islice
from random import Random

import floor_steps
import pytest
import torch
from orders import in_an_order
from world_brute import language

from plmlab.example import Example, PairExample
from plmlab.objectives import always_mask, causal, masked
from plmlab.objectives.sequences import sequence_to_sequence
from plmlab.world.probability.example_floor import example_floor, known_positions, questions
from plmlab.world.probability.floors import FloorError
from plmlab.world.probability.readers import PositionVocabulary, length_known

SENTENCES = 150
"""So many are drawn where a floor is a mean."""


def nats(world, words, make, seed: int = 0) -> float:
    """What an objective costs at least on one sentence."""
    vocab = PositionVocabulary.of(len(words))
    example = make(range(39, 39 + len(words)), vocab=vocab, rng=Random(seed))
    return length_known(world.automaton("train"), words, questions(example, vocab), vocab)


def all_hidden(tokens, *, vocab, rng, rate: float = 0.15) -> Example:
    """Masked as the world's own "masked": each position with a probability, [MASK] in all of them."""
    tokens = list(tokens)
    select = [1 + t for t in range(len(tokens)) if rng.random() < rate] or [1 + int(rng.random() * len(tokens))]
    return masked(tokens, vocab=vocab, rng=rng, select=select, corrupt=always_mask)


def test_a_causal_sentence_costs_its_log_probability(small):
    """[END] included, though the Example says nothing of the grammar."""
    for words in islice(small.text("train", seed=4), 100):
        assert nats(small, words, causal) == pytest.approx(-small.logprob(words), abs=1e-9)


def test_causal_through_the_example_is_the_exact_floor(small):
    """Over every sentence of the language, by its probability."""
    found = language(small.automaton("train"))
    total = sum(p * nats(small, list(words), causal) for words, p in found.items())
    tokens = sum(p * (len(words) + 1) for words, p in found.items())
    assert total / tokens == pytest.approx(small.automaton("train").entropy.token)


@pytest.mark.parametrize("split", ["train", "test"])
def test_causal_sampled_comes_within_its_error(small, split: str):
    floor = example_floor(small.automaton(split), islice(small.text(split, seed=6), 300), causal, Random(6))
    assert not floor.exact and 0 < floor.stderr < 0.1
    assert abs(floor.mean - small.floor(causal, split=split).mean) < 4 * floor.stderr


@pytest.mark.parametrize("rate", [0.15, 0.6])
def test_masked_is_that_of_its_steps(small, rate: float):
    """The same draws give the same figure to the last digit; others, one within the errors."""
    ours = small.floor(all_hidden, rate=rate, rng=Random(2), sentences=SENTENCES)
    own = of_steps(small, floor_steps.masked(rate), Random(2))
    assert ours.mean == pytest.approx(own.mean, abs=1e-12) and ours.stderr == pytest.approx(own.stderr)
    other = small.floor(all_hidden, rate=rate, rng=Random(3), sentences=SENTENCES)
    assert 0 < abs(other.mean - own.mean) < 4 * math.hypot(own.stderr, other.stderr)


def test_bert_s_own_masking_is_below_it(small):
    """One asked word in ten stands in sight, at no cost: a tenth below [MASK] everywhere, by the same draws."""
    def everywhere(tokens, *, vocab, rng):
        made = masked(tokens, vocab=vocab, rng=rng)
        select = (made.targets != -100).nonzero().flatten().tolist()
        return masked(tokens, vocab=vocab, rng=rng, select=select, corrupt=always_mask)
    bert, hidden = (small.floor(make, sentences=500) for make in (masked, everywhere))
    assert bert.mean / hidden.mean == pytest.approx(0.9, abs=0.08)


def test_a_permutation_s_steps_add_up_to_the_sentence_given_its_length(small):
    lengths: dict[int, float] = defaultdict(float)
    for words, p in language(small.automaton("train")).items():
        lengths[len(words)] += p
    for seed, words in enumerate(islice(small.text("train", seed=7), 20)):
        expected = -small.logprob(words) + math.log(lengths[len(words)])
        assert nats(small, words, in_an_order, seed) == pytest.approx(expected, abs=1e-9)
    own = of_steps(small, floor_steps.permuted(), Random(1))
    ours = small.floor(in_an_order, rng=Random(1), sentences=SENTENCES)
    assert ours.mean == pytest.approx(own.mean, abs=4 * math.hypot(own.stderr, ours.stderr))


def test_who_is_not_asked_for_the_end_or_sees_more_than_a_beginning_is_told_the_length(small):
    """−log p(sentence | its length), the end for nothing."""
    def endless(tokens, *, vocab, rng):
        made = causal(tokens, vocab=vocab, rng=rng)
        return replace(made, targets=made.targets.masked_fill(made.targets == vocab.end, -100))

    def with_a_blank_in_sight(tokens, *, vocab, rng):
        made = causal(tokens, vocab=vocab, rng=rng)
        return replace(made, tokens=made.tokens.masked_fill(made.tokens == vocab.start, vocab.mask))

    lengths: dict[int, float] = defaultdict(float)
    for words, p in language(small.automaton("train")).items():
        lengths[len(words)] += p
    for words in islice(small.text("train", seed=9), 20):
        expected = -small.logprob(words) + math.log(lengths[len(words)])
        for make in (endless, with_a_blank_in_sight):
            assert nats(small, words, make) == pytest.approx(expected, abs=1e-9)


def test_a_word_put_in_another_s_place_is_no_word_of_the_sentence():
    vocab = PositionVocabulary.of(5)
    assert [vocab.position(id) for id in range(39, 44)] == [0, 1, 2, 3, 4]
    assert len(vocab.words) > 10 and max(vocab.words) < vocab.size
    assert all(vocab.position(id) is None and id not in vocab.special for id in vocab.words)


def test_what_a_position_sees_through_others_is_known_too():
    """1 sees 0, 2 sees 1: two layers bring 0 to 2."""
    chain = torch.tensor([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=torch.bool)
    assert known_positions(chain).tolist() == [[True, False, False], [True, True, False], [True, True, True]]


def test_a_window_of_two_positions_costs_what_causal_costs(small):
    """Each position sees itself and one before it, and so, over the layers, all before it."""
    def window(tokens, *, vocab, rng):
        made = causal(tokens, vocab=vocab, rng=rng)
        place = torch.arange(len(made.tokens))
        far = [(q, k, False) for q in place.tolist() for k in place.tolist() if k < q - 1]
        return replace(made, visible=replace(made.visible, edits=tuple(far), pattern="other"))
    words = next(small.text("train", seed=11))
    assert nats(small, words, window) == pytest.approx(-small.logprob(words))


def test_a_copy_costs_nothing_and_a_hint_costs_less(small):
    def copied(tokens, *, vocab, rng) -> PairExample:
        return sequence_to_sequence(list(tokens), list(tokens), vocab=vocab)

    def hinted(tokens, *, vocab, rng) -> PairExample:
        return sequence_to_sequence([vocab.mask, *list(tokens)[1:2]], list(tokens), vocab=vocab)

    for words in islice(small.text("train", seed=2), 20):
        assert nats(small, words, copied) == 0
        assert nats(small, words, hinted) < -small.logprob(words)
    assert sum(nats(small, words, hinted) for words in islice(small.text("train", seed=2), 20)) > 0


def test_a_leak_brings_the_floor_down(small):
    def leaky(tokens, *, vocab, rng):
        made = causal(tokens, vocab=vocab, rng=rng)
        return replace(made, visible=made.visible.edited(0, 1, True))
    words = next(small.text("train", seed=3))
    lost = -math.log(small.next_words([])[words[0]])
    assert nats(small, words, causal) - nats(small, words, leaky) == pytest.approx(lost)


def test_an_objective_without_targets_has_no_floor(small):
    def silent(tokens, *, vocab, rng):
        made = causal(tokens, vocab=vocab, rng=rng)
        return replace(made, targets=torch.full_like(made.targets, -100))
    with pytest.raises(FloorError, match="predicts nothing"):
        example_floor(small.automaton("train"), islice(small.text("train"), 3), silent, Random(0))


def test_the_choices_of_an_objective_are_its_own(small):
    with pytest.raises(ValueError, match="the proportion to predict"):
        small.floor(masked, rate=2.0)


def of_steps(world, steps, rng):
    """The floor of what is asked step by step, from the same draws as ``world.floor``."""
    drawn = islice(world.text("train", seed=int(rng.random() * 2**31)), SENTENCES)
    return floor_steps.estimated(world.automaton("train"), drawn, steps, rng)


def test_the_world_needs_no_torch_and_its_floors_need_no_model():
    code = ("import sys; from plmlab import world; w = world.small(); w.entropy()\n"
            "print('torch' in sys.modules)\n"
            "from plmlab.objectives import masked; w.floor(masked, sentences=3)\n"
            "print('torch' in sys.modules, any(name.startswith('plmlab.models') for name in sys.modules))")
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["False", "True", "False"]
