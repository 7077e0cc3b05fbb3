"""Forward and backward sweeps over all states of an automaton at once, with its arcs cached as arrays (前向与后向)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse

from plmlab.world.probability.automaton import Automaton

Masses: TypeAlias = Float[np.ndarray, " state"]
"""By state, in double precision: forward probability of reaching it, or backward probability of what follows."""
Column: TypeAlias = Int[np.ndarray, " arc"]


@dataclass(frozen=True)
class Sweep:
    """Propagates masses by one word: forward, from the source states of arcs to their targets, or backward."""

    matrix: sparse.csr_array
    leaves: Column
    enters: Column
    chances: Float[np.ndarray, " arc"]
    reading: dict[str, Int[np.ndarray, " _"]]
    reads: int                      # 1 or −1: the direction of the sweep

    def over_any(self, masses: Masses) -> Masses:
        """The masses after one more word of any kind."""
        return self.matrix @ masses

    def over(self, masses: Masses, words: Sequence[str]) -> Masses:
        """The masses after these words, given in text order; zeros if no path contains them."""
        for word in words[::self.reads]:
            arcs = self.reading.get(word)
            if arcs is None:
                return np.zeros_like(masses)
            moved = masses[self.leaves[arcs]] * self.chances[arcs]
            masses = np.bincount(self.enters[arcs], moved, len(masses))
        return masses


class Sweeps:
    """An automaton's arcs as arrays, ordered by source state and then by word.

    Attributes:
        initial: state → the probability of starting there.
        forward, backward: the two sweeps.
    """

    def __init__(self, automaton: Automaton):
        self.words = automaton.vocabulary
        number = {word: i for i, word in enumerate(self.words)}
        arcs = sorted((state, number[arc.word], arc.target, arc.weight / automaton.totals[state])
                      for state, leaving in enumerate(automaton.arcs) for arc in leaving)
        source, word, target = np.array([arc[:3] for arc in arcs], dtype=np.int64).reshape(-1, 3).T
        self._source, self._word, self._target = source, word, target
        self._chances = np.array([arc[3] for arc in arcs])
        matrix = sparse.csr_array((self._chances, (source, target)), shape=(automaton.states, automaton.states))
        by_word = np.argsort(word, kind="stable")
        bounds = pairwise(np.searchsorted(word[by_word], np.arange(len(self.words) + 1)))
        reading = {said: by_word[slice(*ends)] for said, ends in zip(self.words, bounds, strict=True)}
        self.forward = Sweep(matrix.T.tocsr(), source, target, self._chances, reading, 1)
        self.backward = Sweep(matrix, target, source, self._chances, reading, -1)
        self.initial = np.zeros(automaton.states)
        for state, chance in automaton.initial().items():
            self.initial[state] = chance
        # start of the arcs of each (state, word), and of each state among these
        self._ways = np.flatnonzero(np.diff(source * len(self.words) + word, prepend=-1))
        self._states = np.flatnonzero(np.diff(source[self._ways], prepend=-1))

    def said_between(self, before: Masses, behind: Masses) -> Float[np.ndarray, " vocabulary"]:
        """The total mass of each word's arcs between ``before`` and ``behind``, in the order of ``words``."""
        through = before[self._source] * self._chances * behind[self._target]
        return np.bincount(self._word, through, len(self.words))

    def best_word(self, behind: Masses) -> Masses:
        """For each state, the total probability of its best next word, summed over all arcs with that word; ``behind``
        holds the total probability that can be reached from each state."""
        by_word = np.add.reduceat(self._chances * behind[self._target], self._ways)
        found = np.zeros_like(behind)
        found[self._source[self._ways[self._states]]] = np.maximum.reduceat(by_word, self._states)
        return found


_KEPT: WeakKeyDictionary[Automaton, Sweeps] = WeakKeyDictionary()


def sweeps_of(automaton: Automaton) -> Sweeps:
    """The automaton's sweeps, built on the first call (about a second for the 160,000 arcs of the full world)."""
    if automaton not in _KEPT:
        _KEPT[automaton] = Sweeps(automaton)
    return _KEPT[automaton]
