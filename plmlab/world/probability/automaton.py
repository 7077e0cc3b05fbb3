"""An acyclic weighted automaton over words: the compiled sentence grammar, with exact probabilities."""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from random import Random
from typing import Any, NamedTuple

from plmlab.lists import refuse_string

END = "[END]"
FINAL = 0


class Arc(NamedTuple):
    """A transition: its word, the word's annotation, the target state, and its weight among the arcs of the same
    state."""

    word: str
    label: Any
    target: int
    weight: int


class Start(NamedTuple):
    """A start state: the annotation of the whole sentence (its pattern), the state, and its weight."""

    label: Any
    state: int
    weight: int


class Path(NamedTuple):
    """A derivation: the label of its start, and its arcs."""

    label: Any
    arcs: tuple[Arc, ...]


@dataclass(frozen=True)
class Entropy:
    """The entropy of a distribution over sentences, in nats, and the mean number of tokens (words plus the end)."""

    sentence: float       # −E log p(sentence)
    tokens: float         # the expected number of predictions: words and the end of the sentence

    @property
    def token(self) -> float:
        """Nats per predicted token: the lowest possible mean loss on this text."""
        return self.sentence / self.tokens


class Builder:
    """Builds an automaton from the end: a state is identified by its arcs, so states with the same continuations are
    merged."""

    def __init__(self) -> None:
        self.arcs: list[tuple[Arc, ...]] = [()]
        self._states: dict[tuple[Arc, ...], int] = {(): FINAL}

    def state(self, arcs: Iterable[Arc]) -> int:
        """Index of the state with these arcs, which is created if there is none; the weights are divided by their
        greatest common divisor."""
        arcs = tuple(arcs)
        common = math.gcd(*(arc.weight for arc in arcs))
        if common > 1:
            arcs = tuple(arc._replace(weight=arc.weight // common) for arc in arcs)
        found = self._states.get(arcs)
        if found is None:
            found = self._states[arcs] = len(self.arcs)
            self.arcs.append(arcs)
        return found

    def automaton(self, starts: Iterable[Start]) -> "Automaton":
        """The automaton of the states built so far, with the given start states.

        Raises:
            ValueError: if ``starts`` is empty.
        """
        return Automaton(list(starts), self.arcs)


class Automaton:
    """An acyclic weighted automaton: states 0 (the end), 1, 2, …; every arc leads to a state with a lower index.

    The probability of an arc is its weight divided by the total weight of its state's arcs. Weights are integers, so
    that sampling uses the same arithmetic on every machine. Several arcs of a state may have the same word.

    Raises:
        ValueError: if ``starts`` is empty.
    """

    def __init__(self, starts: list[Start], arcs: list[tuple[Arc, ...]]):
        if not starts:
            raise ValueError("an automaton without a start has no sentence: no pattern could be filled")
        self.starts = starts
        self.arcs = arcs
        self.totals = [sum(arc.weight for arc in state) for state in arcs]
        self._start_total = sum(start.weight for start in starts)
        self._by_word = cache(self._sorted_by_word)

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.arcs)

    @cached_property
    def size(self) -> int:
        """The number of arcs."""
        return sum(len(state) for state in self.arcs)

    @cached_property
    def vocabulary(self) -> list[str]:
        """All words that occur on arcs, sorted."""
        return sorted({arc.word for state in self.arcs for arc in state})

    def reading(self, state: int, word: str | None) -> Sequence[Arc]:
        """The arcs of the state with this ``word``, in order; all arcs if ``word`` is None."""
        return self.arcs[state] if word is None else self._by_word(state).get(word, ())

    def _sorted_by_word(self, state: int) -> dict[str, list[Arc]]:
        found: dict[str, list[Arc]] = {}
        for arc in self.arcs[state]:
            found.setdefault(arc.word, []).append(arc)
        return found

    def initial(self) -> dict[int, float]:
        """State → probability that a sentence starts there."""
        return dict(self._initial)

    @cached_property
    def _initial(self) -> dict[int, float]:
        found: dict[int, float] = {}
        for start in self.starts:
            found[start.state] = found.get(start.state, 0.0) + start.weight / self._start_total
        return found

    def advance(self, states: dict[int, float], word: str | None) -> dict[int, float]:
        """One forward step: state → its mass after ``word``, or after any word if ``word`` is None."""
        found: dict[int, float] = {}
        for state, mass in states.items():
            total = self.totals[state]
            for arc in self.reading(state, word):
                found[arc.target] = found.get(arc.target, 0.0) + mass * arc.weight / total
        return found

    def read(self, words: Sequence[str]) -> dict[int, float]:
        """State → probability of generating ``words`` and then being in this state."""
        refuse_string(words, "words")
        states = self.initial()
        for word in words:
            states = self.advance(states, word)
        return states

    def logprob(self, words: Sequence[str]) -> float:
        """Log-probability of the sentence, including its end, in nats; −inf outside the grammar."""
        mass = self.read(words).get(FINAL, 0.0)
        return math.log(mass) if mass > 0 else -math.inf

    def path_logprob(self, path: Path) -> float:
        """Log-probability of a derivation, in nats, which is also that of the sentence if the grammar is
        unambiguous."""
        start = self._labelled[path.label]
        state, nats = start.state, math.log(start.weight / self._start_total)
        for arc in path.arcs:
            nats += math.log(arc.weight / self.totals[state])
            state = arc.target
        return nats

    @cached_property
    def _labelled(self) -> dict[Any, Start]:
        """Label → the first start with this label."""
        return {start.label: start for start in reversed(self.starts)}

    def next_words(self, prefix: Sequence[str]) -> dict[str, float]:
        """Word or END → its exact probability after ``prefix``, most likely first; empty if no sentence begins with the
        prefix."""
        states = self.read(prefix)
        mass = sum(states.values())
        found: dict[str, float] = {}
        for state, part in states.items():
            if state == FINAL:
                found[END] = found.get(END, 0.0) + part / mass
            for arc in self.arcs[state]:
                found[arc.word] = found.get(arc.word, 0.0) + part / mass * arc.weight / self.totals[state]
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    @cached_property
    def entropy(self) -> Entropy:
        """The exact entropy over derivations, computed in one sweep; it equals that over sentences if the grammar is
        unambiguous."""
        surprise, length = [0.0], [0.0]
        for state in range(1, self.states):
            total = self.totals[state]
            nats = words = 0.0
            for arc in self.arcs[state]:
                p = arc.weight / total
                nats += p * (surprise[arc.target] - math.log(p))
                words += p * (1 + length[arc.target])
            surprise.append(nats)
            length.append(words)
        nats = words = 0.0
        for start in self.starts:
            p = start.weight / self._start_total
            nats += p * (surprise[start.state] - math.log(p))
            words += p * length[start.state]
        return Entropy(nats, words + 1)

    def paths(self, words: Sequence[str]) -> list[Path]:
        """All derivations of a sentence (exactly one if the grammar is unambiguous)."""
        layers: list[set[int]] = [set(self.initial())]
        for word in words:
            layers.append({arc.target for state in layers[-1] for arc in self.reading(state, word)})
        tails: dict[int, list[tuple[Arc, ...]]] = {FINAL: [()]} if FINAL in layers[-1] else {}
        for word, layer in zip(reversed(words), reversed(layers[:-1]), strict=True):
            tails = {state: [(arc, *tail) for arc in self.reading(state, word) for tail in tails.get(arc.target, ())]
                     for state in sorted(layer)}
        return [Path(start.label, tail) for start in self.starts for tail in tails.get(start.state, ())]

    @cached_property
    def longest(self) -> int:
        """The number of words in the longest sentence."""
        found = [0]
        for state in self.arcs[1:]:
            found.append(1 + max(found[arc.target] for arc in state))
        return max(found[start.state] for start in self.starts)

    @cached_property
    def counts(self) -> list[int]:
        """State → the number of derivations from it to the end."""
        found = [1]
        for state in self.arcs[1:]:
            found.append(sum(found[arc.target] for arc in state))
        return found

    @cached_property
    def best_tails(self) -> list[float]:
        """State → the probability of the most likely derivation from it to the end."""
        found = [1.0]
        for arcs, total in zip(self.arcs[1:], self.totals[1:], strict=True):
            found.append(max(arc.weight * found[arc.target] for arc in arcs) / total)
        return found

    @cached_property
    def _wheels(self) -> tuple[list[int], list[list[int]]]:
        return (list(accumulate(start.weight for start in self.starts)),
                [list(accumulate(arc.weight for arc in state)) for state in self.arcs])

    def draw_start(self, rng: Random) -> Start:
        """Sample a start with probability proportional to its weight."""
        starts, _ = self._wheels
        return self.starts[bisect_right(starts, int(rng.random() * starts[-1]))]

    def walk(self, start: Start, rng: Random) -> list[Arc]:
        """Sample a derivation from ``start`` to the end according to its probability; returns the arcs."""
        draw, arcs, (_, wheels) = rng.random, self.arcs, self._wheels
        state, path = start.state, []
        while state:
            wheel = wheels[state]
            arc = arcs[state][bisect_right(wheel, int(draw() * wheel[-1])) if len(wheel) > 1 else 0]
            path.append(arc)
            state = arc.target
        return path
