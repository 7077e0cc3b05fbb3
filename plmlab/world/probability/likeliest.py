"""The likeliest sentences of a grammar: exact, from its automaton (最可能的句子)."""

import math
from collections.abc import Sequence
from heapq import heappop, heappush

from plmlab.world.probability.automaton import FINAL, Automaton
from plmlab.world.probability.posterior import NotInGrammar


def likeliest(automaton: Automaton, prefix: Sequence[str] = (), count: int = 1,
              ) -> list[tuple[tuple[str, ...], float]]:
    """The ``count`` likeliest sentences that begin with ``prefix``, or all if there are fewer, the best first: (all
    words of the sentence, its log-probability in nats, the end included).

    A search that always goes on with the beginning that promises most. How much that is, is known: its own probability
    times that of the likeliest way from its state to the end (``automaton.best_tails``, as in Viterbi 1967), so that
    no step goes astray (A*; Hart et al. 1968). The likeliest derivation is the likeliest sentence only where no
    sentence has two, as in the world (``World.prove_unambiguous``).

    Raises:
        NotInGrammar: no sentence begins with ``prefix``.
        ValueError: a count below 1.
    """
    if count < 1:
        raise ValueError(f"count={count}: ask for 1 sentence or more")
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
