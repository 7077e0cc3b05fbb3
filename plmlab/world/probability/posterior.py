"""The Bayes-optimal reader: exact probabilities of hidden words, by forward–backward over the automaton."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from plmlab.world.probability.automaton import END, FINAL, Automaton

Masses = dict[int, float]


class NotInGrammar(ValueError):
    """The visible words fit no sentence of the grammar."""


def checked_positions(words: Sequence[str], hidden: Collection[int]) -> list[int]:
    """The hidden positions in order; raises ValueError for a position outside the sentence."""
    positions = sorted(set(hidden))
    for position in positions:
        if not 0 <= position < len(words):
            raise ValueError(f"position {position} is hidden, but the sentence has positions 0 to {len(words) - 1}")
    return positions


def posterior(automaton: Automaton, words: Sequence[str], hidden: Collection[int]) -> list[dict[str, float]]:
    """For each hidden position, in order, word → its probability given all visible words.

    The reader knows how long the sentence is, and sees the words at the positions that are not hidden; what ``words``
    holds at hidden positions is not looked at. The distributions are marginals: each position's own.

    Raises:
        NotInGrammar: no sentence of this length has the visible words.
    """
    positions = checked_positions(words, hidden)
    forward, backward = _sweeps(automaton, [None if i in positions else word for i, word in enumerate(words)])
    return [_normalised(_masses(automaton, forward[position], backward[position + 1])) for position in positions]


def posterior_open(automaton: Automaton, visible: Mapping[int, str], positions: Collection[int],
                   at_least: int = 0) -> list[dict[str, float]]:
    """For each of the ``positions``, in order, word → its probability given the visible words, by a reader who does not
    know where the sentence ends.

    It knows the words at the ``visible`` positions, that the sentence has those positions, and that it has ``at_least``
    so many words. Behind the last position that it knows of, every way to go on or to end counts. A position that is
    asked there is one that the words before it reach: either a word stands in it or the sentence ends, and ``END`` has
    its probability. ``at_least=position + 1`` says that it is a word. Of a prefix, the position behind it has
    ``Automaton.next_words``. The distributions are marginals: each position's own.

    Raises:
        NotInGrammar: no sentence with that many words has the visible ones, or none of them reaches a position.
        ValueError: a position is below 0, or asked though it is visible.
    """
    asked = sorted(set(positions))
    if low := [position for position in (*asked, *visible) if position < 0]:
        raise ValueError(f"position {low[0]} was given; the positions of a sentence count from 0")
    if shown := [position for position in asked if position in visible]:
        raise ValueError(f"position {shown[0]} is asked for, but its word is visible: '{visible[shown[0]]}'")
    known = max(at_least, *(position + 1 for position in visible), 0)
    template = [visible.get(position) for position in range(max(known, *asked, 0))]
    forward = _forward(automaton, template)
    if not forward[-1]:
        raise NotInGrammar(f"no sentence of {len(template)} words or more begins {_written(template)}")
    backward = _backward(automaton, template[:known], forward, dict.fromkeys(forward[known], 1.0))
    found = []
    for position in asked:
        behind = backward[position
                          + 1] if position < known else dict.fromkeys(automaton.advance(forward[position], None), 1.0)
        masses = _masses(automaton, forward[position], behind)
        if position >= known:
            masses[END] = forward[position].get(FINAL, 0.0)
        found.append(_normalised(masses))
    return found


def joint(automaton: Automaton, words: Sequence[str], hidden: Collection[int]) -> dict[tuple[str, ...], float]:
    """The words at all hidden positions together → their probability given the visible words.

    Raises:
        NotInGrammar: no sentence of this length has the visible words.
    """
    positions = checked_positions(words, hidden)
    template = [None if i in positions else word for i, word in enumerate(words)]
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
    """The forward and the backward masses of a sentence that is as long as the template."""
    forward = _forward(automaton, template)
    if FINAL not in forward[-1]:
        raise NotInGrammar(f"no sentence of {len(template)} words reads {_written(template)}")
    return forward, _backward(automaton, template, forward, {FINAL: 1.0})


def _forward(automaton: Automaton, template: Sequence[str | None]) -> list[Masses]:
    """Before each position, and behind the last: state → the probability of having said what the template shows."""
    forward = [automaton.initial()]
    for word in template:
        forward.append(automaton.advance(forward[-1], word))
    return forward


def _backward(automaton: Automaton, template: Sequence[str | None], forward: Sequence[Masses],
              last: Masses) -> list[Masses]:
    """What the states of ``forward`` have still to say, by probability, if those behind the last position have
    ``last``."""
    backward = [last]
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
    return backward


def _masses(automaton: Automaton, before: Masses, behind: Masses) -> dict[str, float]:
    """Word → the mass of the ways through it, between the states before its position and those behind."""
    masses: dict[str, float] = defaultdict(float)
    for state, mass in before.items():
        for arc in automaton.arcs[state]:
            rest = behind.get(arc.target)
            if rest:
                masses[arc.word] += mass * arc.weight / automaton.totals[state] * rest
    return masses


def _written(template: Sequence[str | None]) -> str:
    return f"'{' '.join(word or '_' for word in template)}'"


def _normalised(masses: dict) -> dict:
    total = sum(masses.values())
    return dict(sorted(((key, mass / total) for key, mass in masses.items() if mass),
                       key=lambda item: (-item[1], item[0])))
