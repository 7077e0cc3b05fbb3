"""Exact statistics of the training text and of the plain test, computed by tracking the sum of the words' codes."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from plmlab.world.grammar.splits import MODULUS, word_code
from plmlab.world.probability.automaton import Automaton, Entropy

MASS, NATS, WORDS = range(3)


@dataclass(frozen=True)
class Parts:
    """Statistics of the training text and of the plain test (:func:`plmlab.world.grammar.splits.is_test`).

    The entropies are losses of a predictor that knows the grammar but not the codes: −log p(sentence) under the
    grammar's own distribution, averaged over the sentences of each part.
    """

    share: float          # proportion of the grammar's text that is left out of training
    train: Entropy
    test: Entropy


def parts(automaton: Automaton, apart: Collection[str]) -> Parts:
    """Compute the exact statistics of both parts in one sweep; ``apart`` holds the ids of the open patterns.

    Raises:
        ValueError: if an open pattern has none or all of its sentences in the plain test.
    """
    figures = _sweep(automaton)
    total = sum(start.weight for start in automaton.starts)
    share = 0.0
    train, test = np.zeros(3), np.zeros(3)
    for start in automaton.starts:
        p = start.weight / total
        whole = figures[start.state].sum(axis=1)
        held = kept = whole
        if start.label in apart:
            held = figures[start.state][:, 0]
            kept = whole - held
            if not 0 < held[MASS] < 1:
                raise ValueError(f"the pattern {start.label} cannot be split: {held[MASS]:.0%} of it would be in the "
                                 "test set")
            share += p * held[MASS]
        for part, figure in ((train, kept), (test, held)):
            part += p * figure / figure[MASS]
            part[NATS] -= p * np.log(p)
    return Parts(float(share), *(Entropy(float(part[NATS]), float(part[WORDS]) + 1) for part in (train, test)))


def _sweep(automaton: Automaton) -> np.ndarray:
    """[state, statistic, sum so far] → total over the paths to the end that bring the sum to 0. The statistics are
    mass, mass × nats, and mass × words."""
    sums = np.arange(MODULUS)
    ahead = {word: (sums + word_code(word)) % MODULUS for word in automaton.vocabulary}
    figures = np.zeros((automaton.states, 3, MODULUS))
    figures[0, MASS, 0] = 1.0
    for state in range(1, automaton.states):
        here, total = figures[state], automaton.totals[state]
        for arc in automaton.arcs[state]:
            p = arc.weight / total
            target = figures[arc.target][:, ahead[arc.word]]
            here += p * target
            here[NATS] -= p * np.log(p) * target[MASS]
            here[WORDS] += p * target[MASS]
    return figures
