"""The automaton's figures against brute force: every sentence written out, every question answered by summing."""

import math
from collections import defaultdict
from random import Random

import pytest
from world_brute import derivations, language, random_automaton

from plmlab.world.grammar.explain import explain
from plmlab.world.probability.ambiguity import SelfProduct
from plmlab.world.probability.automaton import END, Arc, Automaton, Builder, Start
from plmlab.world.probability.posterior import NotInGrammar, joint, posterior

SEEDS = range(40)


def by_hand() -> Automaton:
    """a b (1/4), a c (3/4 · 1/3), c (3/4 · 2/3): half of it is 'c'."""
    builder = Builder()
    b, c = (builder.state([Arc(word, None, 0, 1)]) for word in "bc")
    first = builder.state([Arc("a", None, b, 1)])
    second = builder.state([Arc("a", None, c, 1), Arc("c", None, 0, 2)])
    return builder.automaton([Start("one", first, 1), Start("two", second, 3)])


def test_figures_worked_by_hand():
    automaton = by_hand()
    assert math.exp(automaton.logprob(["a", "b"])) == pytest.approx(1 / 4)
    assert math.exp(automaton.logprob(["a", "c"])) == pytest.approx(1 / 4)
    assert math.exp(automaton.logprob(["c"])) == pytest.approx(1 / 2)
    assert automaton.entropy.sentence == pytest.approx(1.5 * math.log(2))
    assert automaton.entropy.tokens == pytest.approx(0.5 * 3 + 0.5 * 2)
    assert automaton.next_words([]) == pytest.approx({"a": 1 / 2, "c": 1 / 2})
    assert automaton.next_words(["c"]) == {END: 1.0}
    assert posterior(automaton, ["a", "?"], [1]) == [pytest.approx({"b": 1 / 2, "c": 1 / 2})]


@pytest.mark.parametrize("seed", SEEDS)
def test_probabilities_and_next_words(seed: int):
    automaton = random_automaton(seed)
    sentences = language(automaton)
    assert sum(sentences.values()) == pytest.approx(1)
    for words, p in sentences.items():
        assert math.exp(automaton.logprob(words)) == pytest.approx(p)
    assert automaton.logprob(["nowhere"]) == -math.inf
    for prefix in {words[:place] for words in sentences for place in range(len(words) + 1)}:
        expected: dict[str, float] = defaultdict(float)
        for words, p in sentences.items():
            if words[:len(prefix)] == prefix:
                expected[words[len(prefix)] if len(words) > len(prefix) else END] += p
        mass = sum(expected.values())
        assert automaton.next_words(prefix) == pytest.approx({word: p / mass for word, p in expected.items()})


@pytest.mark.parametrize("seed", SEEDS)
def test_entropy_is_that_of_derivations(seed: int):
    automaton = random_automaton(seed, states=5)
    found = list(derivations(automaton))
    assert automaton.entropy.sentence == pytest.approx(sum(-p * math.log(p) for _, p in found))
    assert automaton.entropy.tokens == pytest.approx(sum(p * (len(words) + 1) for words, p in found))


@pytest.mark.parametrize("seed", SEEDS)
def test_posteriors_marginal_and_joint(seed: int):
    automaton = random_automaton(seed)
    sentences = language(automaton)
    rng = Random(seed)
    for shown in list(sentences)[:12]:
        hidden = [position for position in range(len(shown)) if rng.random() < 0.5] or [0]
        fits = {words: p for words, p in sentences.items() if len(words) == len(shown)
                and all(words[position] == shown[position] for position in range(len(shown)) if position not in hidden)}
        mass = sum(fits.values())
        together: dict[tuple[str, ...], float] = defaultdict(float)
        alone: list[dict[str, float]] = [defaultdict(float) for _ in hidden]
        for words, p in fits.items():
            together[tuple(words[position] for position in hidden)] += p / mass
            for marginal, position in zip(alone, hidden, strict=True):
                marginal[words[position]] += p / mass
        assert joint(automaton, shown, hidden) == pytest.approx(dict(together))
        for marginal, expected in zip(posterior(automaton, shown, hidden), alone, strict=True):
            assert marginal == pytest.approx(dict(expected))


def test_a_reader_is_told_when_nothing_fits():
    with pytest.raises(NotInGrammar, match="no sentence of 2 words matches 'b _'"):
        posterior(by_hand(), ["b", "b"], [1])
    with pytest.raises(ValueError, match="positions 0 to 1"):
        posterior(by_hand(), ["a", "b"], [2])


@pytest.mark.parametrize("seed", range(120))
def test_ambiguity_is_found_exactly_where_a_sentence_has_two_derivations(seed: int):
    automaton = random_automaton(seed, words="abcdefgh"[:3 + seed % 6], states=4, labels=1 + seed % 2)
    counts: dict[tuple[str, ...], int] = defaultdict(int)
    for words, _ in derivations(automaton):
        counts[words] += 1
    clash = SelfProduct(automaton).clash()
    assert (clash is not None) == (max(counts.values()) > 1)
    if clash:
        one, other = ([arc.word for arc in path.arcs] for path in clash)
        assert one == other and counts[tuple(one)] > 1 and clash[0] != clash[1]


def test_both_verdicts_occur_among_the_random_automata():
    verdicts = [SelfProduct(random_automaton(seed, words="abcdefgh"[:3 + seed % 6], states=4,
                                             labels=1 + seed % 2)).clash() is None for seed in range(120)]
    assert 20 < sum(verdicts) < 100


def test_states_that_go_on_alike_are_one_and_weights_are_in_lowest_terms():
    builder = Builder()
    one = builder.state([Arc("a", None, 0, 2), Arc("b", None, 0, 4)])
    assert builder.state([Arc("a", None, 0, 1), Arc("b", None, 0, 2)]) == one
    assert [arc.weight for arc in builder.arcs[one]] == [1, 2]


def test_where_a_sentence_leaves_the_grammar():
    automaton, words = by_hand(), {"a", "b", "c"}
    assert explain(automaton, ["a", "b"], words).valid
    unfinished = explain(automaton, ["a"], words)
    assert (unfinished.valid, unfinished.prefix) == (False, 1)
    assert unfinished.expected == pytest.approx({"b": 1 / 2, "c": 1 / 2})
    assert "no sentence ends after 'a'" in unfinished.message
    wrong = explain(automaton, ["a", "a"], words)
    assert (wrong.prefix, wrong.valid) == (1, False) and "'a' cannot occur here" in wrong.message
    assert "does not know the word 'zebra'" in explain(automaton, ["zebra"], words).message
    assert "no word yet" in explain(automaton, [], words).message
    assert explain(automaton, ["c", "c"], words).expected == {END: 1.0}


def test_an_automaton_needs_a_start():
    with pytest.raises(ValueError, match="no pattern could be filled"):
        Builder().automaton([])
