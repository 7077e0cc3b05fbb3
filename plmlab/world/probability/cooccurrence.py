"""Exact co-occurrence counts of a world's sentences, computed from its automaton (共现)."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from jaxtyping import Float
from scipy import sparse

from plmlab.world.probability.automaton import FINAL, Automaton

Counts: TypeAlias = Float[np.ndarray, "word word"]
"""[word, context]: the expected number per sentence, in double precision."""


def shrinking(window: int) -> list[float]:
    """Weights of word2vec's shrinking window (Mikolov et al. 2013a, §3.2).

    Entry d − 1 is the probability that a pair at distance d is used when every center word samples its window size
    uniformly from 1 to ``window``. Raises ValueError if the window is below 1.
    """
    if window < 1:
        raise ValueError(f"window={window} holds no context word; give 1 or more")
    return [(window - distance + 1) / window for distance in range(1, window + 1)]


def word_counts(automaton: Automaton, words: Sequence[str]) -> Float[np.ndarray, "word"]:
    """The expected number of occurrences of each word per sentence. Raises ValueError if ``words`` lacks a word of the
    grammar."""
    leads, _, _ = _steps(automaton, words)
    return np.asarray(leads.sum(axis=1)).ravel()


def cooccurrence(automaton: Automaton, words: Sequence[str], weights: Sequence[float]) -> Counts:
    """The expected number of (word, context word) pairs per sentence, weighted by distance.

    A pair at distance d has weight ``weights[d − 1]``, on either side (``shrinking(window)`` gives word2vec's weights).
    Windows do not cross sentence boundaries. ``words`` gives the rows and columns. Raises ValueError if ``words`` lacks
    a word of the grammar.
    """
    leads, goes, says = _steps(automaton, words)
    ahead = np.zeros((len(words), len(words)))
    for weight in weights:
        ahead += weight * (leads @ says).toarray()
        leads = leads @ goes
    return ahead + ahead.T


def _steps(automaton: Automaton, words: Sequence[str]) -> tuple[sparse.csr_array, ...]:
    """Three matrices: [word, state], expected number of times that the word leads to the state; [state, state],
    transition probabilities; [state, word], probabilities of the next word."""
    row = {word: i for i, word in enumerate(words)}
    if lacking := [word for word in automaton.vocabulary if word not in row]:
        raise ValueError(f"{len(lacking):,} words of the grammar, such as {lacking[0]!r:.60}, are missing from words")
    visits = np.zeros(automaton.states)
    for state, chance in automaton.initial().items():
        visits[state] += chance
    for state in range(automaton.states - 1, FINAL, -1):
        for arc in automaton.arcs[state]:
            visits[arc.target] += visits[state] * arc.weight / automaton.totals[state]
    found = [(state, arc.target, row[arc.word], arc.weight / automaton.totals[state])
             for state in range(1, automaton.states) for arc in automaton.arcs[state]]
    source, target, word = (np.array(column) for column in zip(*((a, b, c) for a, b, c, _ in found), strict=True))
    chances = np.array([p for *_, p in found])
    states, size = automaton.states, len(words)
    return (sparse.csr_array((visits[source] * chances, (word, target)), shape=(size, states)),
            sparse.csr_array((chances, (source, target)), shape=(states, states)),
            sparse.csr_array((chances, (source, word)), shape=(states, size)))
