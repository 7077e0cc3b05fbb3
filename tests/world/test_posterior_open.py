"""Posteriors of sentences whose length is unknown, against every sentence written out."""

from itertools import islice
from random import Random

import pytest
from world_brute import Language, by_hand, language, random_automaton

from plmlab.draws import randint, shuffled
from plmlab.world.probability.automaton import END
from plmlab.world.probability.posterior import NotInGrammar, posterior_open


def compare(automaton, sentences: Language, rng: Random) -> bool:
    """One draw of words in sight, positions asked and a least length; whether END was possible somewhere."""
    words = sorted(sentences)[randint(rng, len(sentences))]
    shown = shuffled(rng, range(len(words)))[:randint(rng, len(words) + 1)]
    visible = {position: words[position] for position in shown}
    asked = [position for position in range(len(words) + 2) if position not in visible and rng.random() < 0.5]
    at_least = randint(rng, len(words) + 2)
    if not all(by_hand(sentences, visible, position, at_least) for position in [*asked, 0]):
        with pytest.raises(NotInGrammar):
            posterior_open(automaton, visible, asked, at_least)
        return False
    found = posterior_open(automaton, visible, asked, at_least)
    assert len(found) == len(asked)
    for position, belief in zip(asked, found, strict=True):
        assert belief == pytest.approx(by_hand(sentences, visible, position, at_least))
        assert list(belief.values()) == sorted(belief.values(), reverse=True)
    return any(END in belief for belief in found)


def test_a_posterior_of_unknown_length_is_the_sum_over_sentences(grammar, sentences):
    rng = Random(1)
    ended = [compare(grammar, sentences, rng) for _ in range(60)]
    assert 5 < sum(ended) < 55


@pytest.mark.parametrize("seed", range(20))
def test_it_is_on_small_automata_too(seed: int):
    """With prefixes of sentences that are sentences, and several derivations of one."""
    automaton, rng = random_automaton(seed), Random(seed)
    for _ in range(10):
        compare(automaton, language(automaton), rng)


def test_behind_a_prefix_stands_the_next_word(small, grammar):
    for words in islice(small.text("train", seed=2), 5):
        for length in range(len(words) + 1):
            [found] = posterior_open(grammar, dict(enumerate(words[:length])), [length])
            assert found == pytest.approx(small.next_words(words[:length]))


def test_more_words_than_the_visible_ones_need(small, grammar, sentences):
    """What the first words leave open changes with how long the sentence is at least."""
    longest = grammar.longest
    found = [posterior_open(grammar, {}, [3], at_least)[0] for at_least in (4, longest)]
    assert found[0] == pytest.approx(by_hand(sentences, {}, 3, 4))
    assert found[1] == pytest.approx(small.posterior([""] * longest, range(longest))[3])
    assert found[0] != pytest.approx(found[1])


@pytest.mark.parametrize("visible, positions, at_least, error, message", [
    ({0: "zebra"}, [1], 0, NotInGrammar, "of 1 words or more begins with 'zebra'"),
    ({}, [0], 99, NotInGrammar, "of 99 words"),
    ({}, [99], 0, NotInGrammar, "of 99 words"),
    ({}, [-1], 0, ValueError, "position -1"),
    ({-2: "a"}, [0], 0, ValueError, "position -2"),
    ({1: "a"}, [0, 1], 0, ValueError, "position 1 is queried"),
])
def test_what_cannot_be_asked(grammar, visible, positions, at_least: int, error, message: str):
    with pytest.raises(error, match=message):
        posterior_open(grammar, visible, positions, at_least)
