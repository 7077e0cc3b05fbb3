"""The most likely sentences of a grammar, computed exactly from its automaton (最可能的句子)."""

import math
from collections.abc import Sequence
from heapq import heappop, heappush

from plmlab.world.probability.automaton import FINAL, Automaton
from plmlab.world.probability.posterior import NotInGrammar


def likeliest(automaton: Automaton, prefix: Sequence[str] = (), count: int = 1,
              ) -> list[tuple[tuple[str, ...], float]]:
    """The ``count`` most likely sentences that begin with ``prefix``, best first: (all words, log-probability in nats,
    the end included). Returns all sentences if there are fewer.

    Best-first search (A*; Hart et al. 1968). The priority of a prefix is exact: its own probability times that of the
    most likely continuation from its state to the end (``automaton.best_tails``, as in Viterbi 1967), so no expansion
    is wasted. The most likely derivation is the most likely sentence only if no sentence has two derivations, as in the
    world's grammars (``World.prove_unambiguous``).

    Raises:
        NotInGrammar: if no sentence begins with ``prefix``.
        ValueError: if ``count`` is below 1.
    """
    if count < 1:
        raise ValueError(f"count={count}; give 1 or more sentences")
    tails = automaton.best_tails
    queue: list[tuple[float, tuple[str, ...], int, float]] = []
    for state, mass in automaton.read(prefix).items():
        heappush(queue, (-mass * tails[state], tuple(prefix), state, mass))
    if not queue:
        raise NotInGrammar(f"no sentence of the grammar begins with {' '.join(prefix)!r:.60}")
    found: list[tuple[tuple[str, ...], float]] = []
    while queue and len(found) < count:
        _, words, state, mass = heappop(queue)
        if state == FINAL:
            found.append((words, math.log(mass)))
        for arc in automaton.arcs[state]:
            after = mass * arc.weight / automaton.totals[state]
            heappush(queue, (-after * tails[arc.target], (*words, arc.word), arc.target, after))
    return sorted(found, key=lambda sentence: sentence[1], reverse=True)
