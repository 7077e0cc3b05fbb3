"""Bayes-optimal predictions: exact posteriors over masked words, by forward–backward over the automaton."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from plmlab.world.probability.automaton import END, FINAL, Automaton

Masses = dict[int, float]


class NotInGrammar(ValueError):
    """Raised if no sentence of the grammar has the visible words."""


def checked_positions(words: Sequence[str], hidden: Collection[int]) -> list[int]:
    """The masked positions in ascending order. Raises ValueError for a position outside the sentence."""
    positions = sorted(set(hidden))
    for position in positions:
        if not 0 <= position < len(words):
            raise ValueError(f"position {position} is masked, but the sentence has positions 0 to {len(words) - 1}")
    return positions


def posterior(automaton: Automaton, words: Sequence[str], hidden: Collection[int]) -> list[dict[str, float]]:
    """For each masked position, in order, word → its posterior probability given all visible words.

    The length of the sentence is known, and so are the words at the positions that are not masked; what ``words`` holds
    at masked positions is ignored. The distributions are marginals, one per position.

    Raises:
        NotInGrammar: if no sentence of this length has the visible words.
    """
    positions = checked_positions(words, hidden)
    forward, backward = _sweeps(automaton, [None if i in positions else word for i, word in enumerate(words)])
    return [_normalised(_masses(automaton, forward[position], backward[position + 1])) for position in positions]


def posterior_open(automaton: Automaton, visible: Mapping[int, str], positions: Collection[int],
                   at_least: int = 0) -> list[dict[str, float]]:
    """For each of the ``positions``, in order, word → its posterior probability if the end of the sentence is unknown.

    It is known which words are at the ``visible`` positions, that the queried positions exist, and that the sentence
    has at least ``at_least`` words. After the last known position, every continuation and every end is possible. A
    queried position beyond it is conditioned on being reached: either it holds a word or the sentence ends there, and
    ``END`` has the probability of the latter. If ``at_least`` exceeds its index, it is known to be a word. For a
    prefix, the distribution at the next position is ``Automaton.next_words``. The distributions are marginals, one per
    position.

    Raises:
        NotInGrammar: if no sentence with this many words has the visible ones, or none reaches a queried position.
        ValueError: if a position is negative, or queried although it is visible.
    """
    queried = sorted(set(positions))
    if low := [position for position in (*queried, *visible) if position < 0]:
        raise ValueError(f"position {low[0]} was given; the positions of a sentence count from 0")
    if clashing := [position for position in queried if position in visible]:
        raise ValueError(f"position {clashing[0]} is queried, but its word is visible: '{visible[clashing[0]]}'")
    known = max(at_least, *(position + 1 for position in visible), 0)
    template = [visible.get(position) for position in range(max(known, *queried, 0))]
    forward = _forward(automaton, template)
    if not forward[-1]:
        raise NotInGrammar(f"no sentence of {len(template)} words or more begins with {_written(template)}")
    backward = _backward(automaton, template[:known], forward, dict.fromkeys(forward[known], 1.0))
    found = []
    for position in queried:
        behind = backward[position
                          + 1] if position < known else dict.fromkeys(automaton.advance(forward[position], None), 1.0)
        masses = _masses(automaton, forward[position], behind)
        if position >= known:
            masses[END] = forward[position].get(FINAL, 0.0)
        found.append(_normalised(masses))
    return found


def joint(automaton: Automaton, words: Sequence[str], hidden: Collection[int]) -> dict[tuple[str, ...], float]:
    """The joint posterior over the words at all masked positions (a tuple) given the visible words.

    Raises:
        NotInGrammar: if no sentence of this length has the visible words.
    """
    positions = checked_positions(words, hidden)
    template = [None if i in positions else word for i, word in enumerate(words)]
    _, backward = _sweeps(automaton, template)
    beams: dict[tuple[str, ...], Masses] = {(): automaton.initial()}
    for place, word in enumerate(template):
        alive = backward[place + 1]
        following: dict[tuple[str, ...], Masses] = defaultdict(lambda: defaultdict(float))
        for fillings, states in beams.items():
            for state, mass in states.items():
                for arc in automaton.reading(state, word):
                    if arc.target in alive:
                        key = fillings if word is not None else (*fillings, arc.word)
                        following[key][arc.target] += mass * arc.weight / automaton.totals[state]
        beams = following
    return _normalised({fillings: states.get(FINAL, 0.0) for fillings, states in beams.items()})


def _sweeps(automaton: Automaton, template: Sequence[str | None]) -> tuple[list[Masses], list[Masses]]:
    """The forward and backward masses of a sentence of the template's length."""
    forward = _forward(automaton, template)
    if FINAL not in forward[-1]:
        raise NotInGrammar(f"no sentence of {len(template)} words matches {_written(template)}")
    return forward, _backward(automaton, template, forward, {FINAL: 1.0})


def _forward(automaton: Automaton, template: Sequence[str | None]) -> list[Masses]:
    """Forward masses before each position and after the last: state → the probability of generating the template so
    far."""
    forward = [automaton.initial()]
    for word in template:
        forward.append(automaton.advance(forward[-1], word))
    return forward


def _backward(automaton: Automaton, template: Sequence[str | None], forward: Sequence[Masses],
              last: Masses) -> list[Masses]:
    """Backward masses of the states in ``forward``, given those after the last position (``last``)."""
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
    """Word → the total mass of its arcs from the states before its position to those after it."""
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
