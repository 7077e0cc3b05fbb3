"""A world's sentences read from their end: which word stands before what has been read, exact (从右往左的概率)."""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from plmlab.world.probability.automaton import FINAL, Automaton

START = "[START]"


@dataclass(frozen=True)
class Entries:
    """How a sentence comes to stand in each state, in one list by state each.

    ``visits``: word → how often a sentence says it and stands there then, expected; START where sentences begin there.
    ``arcs``: word → the arcs that read it and lead there, each as the state that it leaves and its probability.
    """

    visits: list[dict[str, float]]
    arcs: list[dict[str, list[tuple[int, float]]]]


def previous_words(automaton: Automaton, suffix: Sequence[str]) -> dict[str, float]:
    """Word or START → its exact probability of standing right before ``suffix``, which ends the sentence; likeliest
    first; empty if no sentence ends so.

    The mirror of ``automaton.next_words``: what a reader from the right can know at best. The probability that
    sentences say a word and enter a state (a sweep from the starts, kept for each automaton) times that of saying
    ``suffix`` from there to the end (a sweep back).
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
    """One sweep over all arcs, from the highest state down; what was found is kept as long as the automaton is."""
    if automaton in _KEPT:
        return _KEPT[automaton]
    found = Entries([{} for _ in range(automaton.states)], [{} for _ in range(automaton.states)])
    for state, chance in automaton.initial().items():
        found.visits[state][START] = chance
    for state in range(automaton.states - 1, FINAL, -1):
        visits = sum(found.visits[state].values())
        for arc in automaton.arcs[state]:
            step = arc.weight / automaton.totals[state]
            said = found.visits[arc.target]
            said[arc.word] = said.get(arc.word, 0.0) + visits * step
            found.arcs[arc.target].setdefault(arc.word, []).append((state, step))
    _KEPT[automaton] = found
    return found
