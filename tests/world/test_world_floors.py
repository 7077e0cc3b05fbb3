"""Floors against every sentence of the small world written out."""

import math
from collections import defaultdict
from itertools import islice
from random import Random

import pytest
from floor_steps import permuted
from world_brute import language

from plmlab import objectives, world
from plmlab.world.grammar.splits import is_test
from plmlab.world.probability.automaton import Entropy


@pytest.fixture(scope="module")
def sentences(small: world.World) -> dict[tuple[str, ...], float]:
    return language(small.automaton("train"))


def split_by_hand(small: world.World, sentences: dict[tuple[str, ...], float], split: str) -> Entropy:
    """The mean surprise of a split's text: pattern by pattern, the sentences of the split by their probability."""
    by_pattern: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for words, p in sentences.items():
        pattern = str(small.automaton("train").paths(words)[0].label)
        if pattern not in small.open_patterns or is_test(words) == (split == "test"):
            by_pattern[pattern].append((len(words), p))
    weights = {pattern.id: pattern.weight for pattern in small.patterns}
    nats = tokens = 0.0
    for pattern, said in by_pattern.items():
        mass = sum(p for _, p in said)
        share = weights[pattern] / sum(weights.values())
        nats += share * sum(-p * math.log(p) for _, p in said) / mass
        tokens += share * sum(p * (length + 1) for length, p in said) / mass
    return Entropy(nats, tokens)


@pytest.mark.parametrize("split", ["train", "test"])
def test_the_causal_floor_is_exact(small, sentences, split: str):
    expected = split_by_hand(small, sentences, split)
    assert small.entropy(split).sentence == pytest.approx(expected.sentence)
    assert small.entropy(split).tokens == pytest.approx(expected.tokens)
    floor = small.floor(objectives.causal, split=split)
    assert floor.exact and floor.stderr == 0
    assert floor.mean == pytest.approx(expected.sentence / expected.tokens)


def test_what_training_leaves_out_is_counted(small, sentences):
    left_out = sum(p for words, p in sentences.items()
                   if is_test(words) and str(small.automaton("train").paths(words)[0].label) in small.open_patterns)
    assert small.open_patterns and small.parts.share == pytest.approx(left_out)


@pytest.mark.parametrize("split", ["facts", "entities", "combinations"])
def test_each_split_has_its_own_exact_floor(small, split: str):
    found = language(small.automaton(split))
    expected = sum(-p * math.log(p) for p in found.values()) / sum(p * (len(w) + 1) for w, p in found.items())
    assert small.floor(objectives.causal, split=split).mean == pytest.approx(expected)


def test_a_floor_of_one_hidden_word_is_the_mean_of_exact_conditionals(small, sentences):
    """Every sentence's third word hidden, by hand and by sampling."""
    fits: dict[tuple, float] = defaultdict(float)
    for words, p in sentences.items():
        fits[len(words), words[:2], words[3:]] += p
    exact = sum(-p * math.log(p / fits[len(words), words[:2], words[3:]]) for words, p in sentences.items())
    def third(tokens, *, vocab, rng):
        return objectives.masked(tokens, vocab=vocab, rng=rng, select=[3], corrupt=objectives.always_mask)

    floor = small.floor(third, sentences=1000)
    assert not floor.exact and 0 < floor.stderr < 0.04
    assert abs(floor.mean - exact) < 4 * floor.stderr


def test_the_steps_of_a_whole_permutation_add_up_to_the_sentence(small, sentences):
    """Whatever the order, Σ −log p(step) = −log p(sentence | its length)."""
    lengths: dict[int, float] = defaultdict(float)
    for words, p in sentences.items():
        lengths[len(words)] += p
    for words in islice(small.text("train", seed=7), 10):
        rng, nats = Random(3), 0.0
        for visible, position in permuted()(words, rng):
            hidden = [place for place in range(len(words)) if place not in visible]
            belief = dict(zip(hidden, small.posterior(words, hidden), strict=True))[position]
            nats -= math.log(belief[words[position]])
        assert nats == pytest.approx(-small.logprob(words) + math.log(lengths[len(words)]))


def test_masked_sees_more_than_causal_and_more_hiding_costs_more(small):
    light, heavy = (small.floor(objectives.masked, rate=rate, sentences=200, rng=Random(1)) for rate in (0.15, 0.9))
    assert light.mean + 3 * light.stderr < heavy.mean - 3 * heavy.stderr


@pytest.mark.parametrize("ask, message", [
    (lambda w: w.floor(objectives.masked, rate=0.0), "above 0"),
    (lambda w: w.floor(objectives.masked, sentences=1), "too few"),
])
def test_impossible_floors(small, ask, message: str):
    with pytest.raises(ValueError, match=message):
        ask(small)
