"""Exact figures of training text and of the plain test: the sum of the words' codes is followed as it grows."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from plmlab.world.grammar.splits import MODULUS, word_code
from plmlab.world.probability.automaton import Automaton, Entropy

MASS, NATS, WORDS = range(3)


@dataclass(frozen=True)
class Parts:
    """The figures of training text and of the plain test (:func:`plmlab.world.grammar.splits.is_test`).

    The nats are those of a reader who knows the grammar and not the codes: −log p(sentence) under the grammar's own
    distribution, in the mean over the sentences of the part.
    """

    share: float          # of the grammar's text, what training leaves out
    train: Entropy
    test: Entropy


def parts(automaton: Automaton, apart: Collection[str]) -> Parts:
    """The exact figures of both parts, by one sweep over the automaton; ``apart`` holds the ids of the open patterns.

    Raises:
        ValueError: of some open pattern no sentence, or every one, belongs to the plain test.
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
                raise ValueError(f"the pattern {start.label} cannot be split: {held[MASS]:.0%} of it would be test")
            share += p * held[MASS]
        for part, figure in ((train, kept), (test, held)):
            part += p * figure / figure[MASS]
            part[NATS] -= p * np.log(p)
    return Parts(float(share), *(Entropy(float(part[NATS]), float(part[WORDS]) + 1) for part in (train, test)))


def _sweep(automaton: Automaton) -> np.ndarray:
    """[state, figure, sum so far] → of the ways to the end that make the sum 0: mass, mass × nats, mass × words."""
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
