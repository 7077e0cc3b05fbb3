"""Exact counts of a grammar's words and pairs, against every sentence written out, and a toy worked by hand."""

from collections.abc import Sequence

import numpy as np
import pytest
from world_brute import derivations, random_automaton

from plmlab.world.probability.automaton import Arc, Automaton, Builder, Start
from plmlab.world.probability.cooccurrence import cooccurrence, shrinking, word_counts

SEEDS = range(25)


def by_enumeration(automaton: Automaton, words: Sequence[str], weights: Sequence[float],
                   ) -> tuple[np.ndarray, np.ndarray]:
    """The expected counts of words and of pairs, by going through all sentences."""
    row = {word: i for i, word in enumerate(words)}
    single, pairs = np.zeros(len(words)), np.zeros((len(words), len(words)))
    for said, p in derivations(automaton):
        for i, word in enumerate(said):
            single[row[word]] += p
            for j, other in enumerate(said):
                if i != j and abs(i - j) <= len(weights):
                    pairs[row[word], row[other]] += p * weights[abs(i - j) - 1]
    return single, pairs


def by_hand() -> Automaton:
    """a b a (1/4) and b c (3/4)."""
    builder = Builder()
    last_a, last_c = (builder.state([Arc(word, None, 0, 1)]) for word in "ac")
    middle = builder.state([Arc("b", None, last_a, 1)])
    first = builder.state([Arc("a", None, middle, 1)])
    return builder.automaton([Start("one", first, 1), Start("two", builder.state([Arc("b", None, last_c, 1)]), 3)])


def test_a_toy_worked_by_hand() -> None:
    automaton = by_hand()
    assert word_counts(automaton, ["a", "b", "c"]).tolist() == [0.5, 1, 0.75]
    assert cooccurrence(automaton, ["a", "b", "c"], [1.0]).tolist() == [[0, 0.5, 0], [0.5, 0, 0.75], [0, 0.75, 0]]
    assert cooccurrence(automaton, ["a", "b", "c"], [0.0, 1.0]).tolist() == [[0.5, 0, 0], [0, 0, 0], [0, 0, 0]], \
        "a stands two before a: the first beside the last, and the last beside the first"
    assert cooccurrence(automaton, ["c", "a", "b"], [1.0, 0.5]).tolist() == \
        [[0, 0, 0.75], [0, 0.25, 0.5], [0.75, 0.5, 0]]


@pytest.mark.parametrize("weights", [[1.0], [1.0, 0.5, 0.25], [0.2, 0.0, 3.0], shrinking(5), [1.0] * 12])
@pytest.mark.parametrize("seed", SEEDS)
def test_random_grammars_by_enumeration(seed: int, weights: list[float]) -> None:
    automaton = random_automaton(seed, words="abcdef", states=7)
    words = [*automaton.vocabulary[::-1], "never"]
    single, pairs = by_enumeration(automaton, words, weights)
    np.testing.assert_allclose(word_counts(automaton, words), single, atol=1e-12)
    np.testing.assert_allclose(cooccurrence(automaton, words, weights), pairs, atol=1e-12)
    assert pairs.any() or max(len(said) for said, _ in derivations(automaton)) == 1


@pytest.mark.parametrize("window", [1, 5, 20])
def test_the_small_world_by_all_its_sentences(window: int, small) -> None:
    automaton = small.automaton()
    words = automaton.vocabulary
    single, pairs = by_enumeration(automaton, words, shrinking(window))
    counted = cooccurrence(automaton, words, shrinking(window))
    np.testing.assert_allclose(word_counts(automaton, words), single, atol=1e-12)
    np.testing.assert_allclose(counted, pairs, atol=1e-12)
    assert (counted == counted.T).all() and sum(1 for _ in derivations(automaton)) > 500


def test_counts_of_the_full_world_add_up(full) -> None:
    """Each sentence of n words has 2 (n − d) places d apart, both ways; how long sentences are, the automaton knows."""
    automaton = full.automaton()
    words = automaton.vocabulary
    counts = word_counts(automaton, words)
    assert counts.sum() == pytest.approx(automaton.entropy.tokens - 1, rel=1e-9)
    ahead = cooccurrence(automaton, words, [1.0])
    assert ahead.sum() == pytest.approx(2 * (counts.sum() - 1), rel=1e-9) and (ahead >= 0).all()
    before = counts - ahead.sum(1) / 2
    assert (before > -1e-12).all(), "a word has a neighbour on each side, but for the first and the last"


def test_a_window_shrinks_as_the_papers_and_gensims() -> None:
    """Of reaches 1 … 4, each as likely: 4 of 4 reach one apart, 1 of 4 reaches four apart."""
    assert shrinking(4) == [1.0, 0.75, 0.5, 0.25] and shrinking(1) == [1.0]
    for window in (0, -2):
        with pytest.raises(ValueError, match=f"window={window} holds no context word; give 1 or more"):
            shrinking(window)


def test_a_word_without_a_row_is_told() -> None:
    for ask in (lambda words: word_counts(by_hand(), words), lambda words: cooccurrence(by_hand(), words, [1.0])):
        with pytest.raises(ValueError, match="2 words of the grammar, such as 'a', are missing from words"):
            ask(["b"])
