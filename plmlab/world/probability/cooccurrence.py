"""How often two words stand near each other in a world's sentences: exact, from its automaton (共现)."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from jaxtyping import Float
from scipy import sparse

from plmlab.world.probability.automaton import FINAL, Automaton

Counts: TypeAlias = Float[np.ndarray, "word word"]
"""[word, context]: the expected number of times a sentence, in double precision."""


def shrinking(window: int) -> list[float]:
    """The chance that a pair 1, 2, … ``window`` words apart is read, where each place draws its own reach evenly from 1
    to ``window`` (Mikolov et al. 2013a, §3.2). A ValueError for a window below 1."""
    if window < 1:
        raise ValueError(f"a window of {window} holds no neighbour; give 1 or more")
    return [(window - distance + 1) / window for distance in range(1, window + 1)]


def word_counts(automaton: Automaton, words: Sequence[str]) -> Float[np.ndarray, "word"]:
    """The expected number of times that each word stands in a sentence; a ValueError where ``words`` lack one."""
    leads, _, _ = _steps(automaton, words)
    return np.asarray(leads.sum(axis=1)).ravel()


def cooccurrence(automaton: Automaton, words: Sequence[str], weights: Sequence[float]) -> Counts:
    """The expected number of pairs of a word and a context word a sentence, each pair that stands d apart counted
    ``weights[d − 1]`` times, on both sides (``shrinking(window)`` is word2vec's).

    Pairs do not reach over a sentence's end. ``words`` gives rows and columns; a ValueError where it lacks one that the
    grammar says.
    """
    leads, goes, says = _steps(automaton, words)
    ahead = np.zeros((len(words), len(words)))
    for weight in weights:
        ahead += weight * (leads @ says).toarray()
        leads = leads @ goes
    return ahead + ahead.T


def _steps(automaton: Automaton, words: Sequence[str]) -> tuple[sparse.csr_array, ...]:
    """Three matrices: [word, state], the chance to say the word and stand in the state then; [state, state], to go on
    so in one step; [state, word], to say the word next."""
    row = {word: i for i, word in enumerate(words)}
    if lacking := [word for word in automaton.vocabulary if word not in row]:
        raise ValueError(f"{len(lacking):,} words of the grammar, such as {lacking[0]!r:.60}, have no row here")
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
