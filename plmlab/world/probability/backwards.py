"""Right-to-left probabilities: the exact distribution of the word before a given suffix of the sentence
(从右往左的概率)."""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from plmlab.world.probability.automaton import FINAL, Automaton

START = "[START]"


@dataclass(frozen=True)
class Entries:
    """How states are entered; both fields have one list element per state.

    ``visits``: word → expected number of times that a sentence enters the state with this word; START for an initial
    state. ``arcs``: word → the arcs with this word that lead to the state, each as its source state and its
    probability.
    """

    visits: list[dict[str, float]]
    arcs: list[dict[str, list[tuple[int, float]]]]


def previous_words(automaton: Automaton, suffix: Sequence[str]) -> dict[str, float]:
    """Word or START → its exact probability of directly preceding ``suffix``, the end of the sentence.

    Most likely first; empty if no sentence ends with the suffix. This mirrors ``automaton.next_words`` and is the
    Bayes-optimal prediction of a right-to-left model. The expected number of times that sentences enter a state with a
    word (a forward sweep, cached per automaton) is multiplied by the probability of generating ``suffix`` from there to
    the end (a backward sweep).
    """
    entries = _entries(automaton)
    ends = {FINAL: 1.0}
    for word in reversed(suffix):
        before: dict[int, float] = {}
        for state, chance in ends.items():
            for source, step in entries.arcs[state].get(word, ()):
                before[source] = before.get(source, 0.0) + step * chance
        ends = before
    found: dict[str, float] = {}
    for state, chance in ends.items():
        for word, visits in entries.visits[state].items():
            found[word] = found.get(word, 0.0) + visits * chance
    mass = sum(found.values())
    return {word: part / mass for word, part in sorted(found.items(), key=lambda item: (-item[1], item[0])) if part > 0}


_KEPT: WeakKeyDictionary[Automaton, Entries] = WeakKeyDictionary()


def _entries(automaton: Automaton) -> Entries:
    """Compute the entries in one sweep over all arcs, from the highest state down; cached for the automaton's
    lifetime."""
    if automaton in _KEPT:
        return _KEPT[automaton]
    found = Entries([{} for _ in range(automaton.states)], [{} for _ in range(automaton.states)])
    for state, chance in automaton.initial().items():
        found.visits[state][START] = chance
    for state in range(automaton.states - 1, FINAL, -1):
        visits = sum(found.visits[state].values())
        for arc in automaton.arcs[state]:
            step = arc.weight / automaton.totals[state]
            entering = found.visits[arc.target]
            entering[arc.word] = entering.get(arc.word, 0.0) + visits * step
            found.arcs[arc.target].setdefault(arc.word, []).append((state, step))
    _KEPT[automaton] = found
    return found
