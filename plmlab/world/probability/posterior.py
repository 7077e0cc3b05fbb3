"""The Bayes-optimal reader: exact probabilities of hidden words, by forward–backward over the automaton."""

from collections import defaultdict
from collections.abc import Collection, Sequence

from plmlab.world.probability.automaton import FINAL, Automaton

Masses = dict[int, float]


class NotInGrammar(ValueError):
    """The visible words fit no sentence of the grammar."""


def checked_slots(words: Sequence[str], hidden: Collection[int]) -> list[int]:
    """The hidden slots in order; raises ValueError for a slot outside the sentence."""
    slots = sorted(set(hidden))
    for slot in slots:
        if not 0 <= slot < len(words):
            raise ValueError(f"slot {slot} is hidden, but the sentence has slots 0 to {len(words) - 1}")
    return slots


def posterior(automaton: Automaton, words: Sequence[str], hidden: Collection[int]) -> list[dict[str, float]]:
    """For each hidden slot, in order, word → its probability given all visible words.

    The reader knows how long the sentence is, and sees the words at the slots that are not hidden; what ``words``
    holds at hidden slots is not looked at. The distributions are marginals: each slot's own.

    Raises:
        NotInGrammar: no sentence of this length has the visible words.
    """
    slots = checked_slots(words, hidden)
    forward, backward = _sweeps(automaton, [None if i in slots else word for i, word in enumerate(words)])
    found = []
    for slot in slots:
        masses: dict[str, float] = defaultdict(float)
        for state, mass in forward[slot].items():
            for arc in automaton.arcs[state]:
                rest = backward[slot + 1].get(arc.target)
                if rest:
                    masses[arc.word] += mass * arc.weight / automaton.totals[state] * rest
        found.append(_normalised(masses))
    return found


def joint(automaton: Automaton, words: Sequence[str], hidden: Collection[int]) -> dict[tuple[str, ...], float]:
    """The words at all hidden slots together → their probability given the visible words.

    Raises:
        NotInGrammar: no sentence of this length has the visible words.
    """
    slots = checked_slots(words, hidden)
    template = [None if i in slots else word for i, word in enumerate(words)]
    _, backward = _sweeps(automaton, template)
    beams: dict[tuple[str, ...], Masses] = {(): automaton.initial()}
    for place, word in enumerate(template):
        alive = backward[place + 1]
        following: dict[tuple[str, ...], Masses] = defaultdict(lambda: defaultdict(float))
        for said, states in beams.items():
            for state, mass in states.items():
                for arc in automaton.reading(state, word):
                    if arc.target in alive:
                        key = said if word is not None else (*said, arc.word)
                        following[key][arc.target] += mass * arc.weight / automaton.totals[state]
        beams = following
    return _normalised({said: states.get(FINAL, 0.0) for said, states in beams.items()})


def _sweeps(automaton: Automaton, template: Sequence[str | None]) -> tuple[list[Masses], list[Masses]]:
    """Forward masses before each slot, and backward masses: what the states have still to say, by probability."""
    forward = [automaton.initial()]
    for word in template:
        forward.append(automaton.advance(forward[-1], word))
    if FINAL not in forward[-1]:
        raise NotInGrammar(f"no sentence of {len(template)} words reads "
                           f"'{' '.join(word or '_' for word in template)}'")
    backward: list[Masses] = [{FINAL: 1.0}]
    for place in range(len(template) - 1, -1, -1):
        ahead, word, here = backward[0], template[place], {}
        for state in forward[place]:
            mass = 0.0
            for arc in automaton.reading(state, word):
                if arc.target in ahead:
                    mass += arc.weight / automaton.totals[state] * ahead[arc.target]
            if mass:
                here[state] = mass
        backward.insert(0, here)
    return forward, backward


def _normalised(masses: dict) -> dict:
    total = sum(masses.values())
    return dict(sorted(((key, mass / total) for key, mass in masses.items() if mass),
                       key=lambda item: (-item[1], item[0])))
