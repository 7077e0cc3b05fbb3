"""Texts with blanks of unknown length: exact posteriors over their fillings, given the grammar (填空)."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import heappop, heappush
from typing import ClassVar, Self

import numpy as np

from plmlab.world.probability.automaton import END, FINAL, Automaton
from plmlab.world.probability.posterior import NotInGrammar
from plmlab.world.probability.sweeps import Masses, Sweep, Sweeps, sweeps_of

BLANK = "[MASK]"

Filling = tuple[str, ...]
Lengths = tuple[int, ...]
"""The number of words in each of several blanks, in the order of the text."""
Span = tuple[int, int]
"""A span of the sentence as (start, end), as in a slice."""
Drawing = Callable[[int, Sequence[Span]], float]
"""(number of words, spans in the order of the text) → the probability that an objective masks exactly these spans."""


@dataclass(frozen=True, eq=False)
class Blanks:
    """A text in which each ``BLANK`` stands for one or more words; some blanks may be filled.

    Blanks are numbered from 0 in the order of the text, and keep their numbers when others are filled.

    The visible words and their order are known, but neither how many words a blank holds nor how long the sentence is.
    The posterior over all fillings that complete a sentence is proportional to the probability of that sentence. It
    uses only the text; `DrawnBlanks` also takes into account how likely a sentence is to be given such blanks.

    All probabilities are sums over the automaton (forward and backward masses, Baum et al. 1970), in which a blank is
    the sum of all powers, from the first, of "any word" (finitely many, because the automaton has no cycle). If two
    fillings of all blanks give the same sentence ("[MASK] a [MASK]" for "b a c a d"), each counts.

    Raises:
        NotInGrammar: if no sentence has the visible words.
        ValueError: if a filled blank does not exist in the text, or its filling is empty or contains ``BLANK``.
    """

    automaton: Automaton
    text: Sequence[str]
    filled: Mapping[int, Sequence[str]] = field(default_factory=dict)
    _lengths_told: ClassVar[str] = "one or more words"

    def __post_init__(self) -> None:
        for blank, words in self.filled.items():
            self._check(blank)
            if not words or BLANK in words:
                raise ValueError(f"blank {blank} is filled with {' '.join(words)!r:.60}; a filling is one or more "
                                 f"words, none of them {BLANK}")
        if not self.mass:
            raise NotInGrammar(f"no sentence of the grammar matches '{self}', with {self._lengths_told} for each "
                               f"{BLANK}")

    def __str__(self) -> str:
        """The text with the filled blanks replaced by their fillings."""
        return " ".join(word for number, run in enumerate(self._runs)
                        for word in (*(self.filled.get(number - 1, [BLANK]) if number else ()), *run))

    @cached_property
    def mass(self) -> float:
        """The probability of the visible words: the total over all sentences obtained by filling the blanks. A sentence
        that can be obtained in several ways is counted once for each, so the total may exceed 1."""
        every = range(self.count)
        return float(sum(self._weight(lengths) * masses[FINAL] for lengths, masses in
                         self._swept(self._sweeps.forward, self._sweeps.initial, every).items()))

    @property
    def count(self) -> int:
        """The number of blanks in the text, including filled ones."""
        return len(self._runs) - 1

    def fill(self, fillings: Mapping[int, Sequence[str]]) -> Self:
        """Return a copy with more blanks filled; ``fillings`` maps the number of a blank to its words. Raises the same
        errors as the class."""
        return replace(self, filled={**self.filled, **fillings})

    def posterior(self, fillings: Mapping[int, Sequence[str]]) -> float:
        """The probability that these blanks hold exactly these words (number → words), given the visible words and
        fillings; other blanks may hold anything. 0 if no sentence results. Raises ValueError as the class does."""
        for blank in fillings:
            self._check_open(blank)
        try:
            return self.fill(fillings).mass / self.mass
        except NotInGrammar:
            return 0.0

    def next_words(self, blank: int, written: Sequence[str] = ()) -> dict[str, float]:
        """Word or END → its exact probability of being next in a blank that begins with ``written``, most likely first.

        END marks the end of the blank, so it cannot be first. By the chain rule, the product of these probabilities
        over the words of a filling and END is ``posterior``.

        Raises:
            NotInGrammar: if no filling begins with ``written``.
            ValueError: if the text has no such blank, or the blank is filled.
        """
        before, behind = self._sides(blank)
        word_masses, ended = np.zeros(len(self._sweeps.words)), 0.0
        for lengths, masses in before.items():
            masses = self._sweeps.forward.over(masses, written)
            if masses.any():
                now, *later = self._ends(lengths, behind, len(written))
                rest = np.zeros_like(masses)
                for ends in reversed(later):
                    rest = self._sweeps.backward.over_any(rest) + ends
                word_masses += self._sweeps.said_between(masses, rest)
                ended += float(masses @ now)
        every = zip((*self._sweeps.words, END), (*word_masses.tolist(), ended), strict=True)
        found = {word: mass for word, mass in every if mass}
        if not found:
            raise NotInGrammar(f"no filling of blank {blank} of '{self}' begins with {' '.join(written)!r:.60}")
        return _shares(dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))))

    def lengths(self, blank: int) -> dict[int, float]:
        """Number of words → the probability that the blank has this length; only possible lengths, in ascending order.

        Raises ValueError if the text has no such blank or the blank is filled.
        """
        before, behind = self._sides(blank)
        found: dict[int, float] = defaultdict(float)
        for lengths, masses in before.items():
            for length, ends in enumerate(self._ends(lengths, behind, 0)):
                found[length] += float(masses @ ends)
                masses = self._sweeps.forward.over_any(masses)
        return _shares({length: mass for length, mass in sorted(found.items()) if mass})

    def likeliest(self, blank: int, count: int = 1) -> list[tuple[Filling, float]]:
        """The ``count`` most likely fillings of a blank, marginalized over the other blanks, best first: (words,
        posterior). Returns all fillings if there are fewer.

        Best-first search (A*; Hart et al. 1968) over prefixes of the filling. A prefix can be in several states; its
        bound is the sum over these states of the highest probability that any single continuation can reach from each.
        The bound is never below the probability of a completed filling, so no filling is missed, and the probability of
        a filling sums over all its derivations. The search expands more prefixes where the best continuation differs
        between the states. Ties are returned in no fixed order.

        Raises:
            ValueError: if ``count`` is below 1, the text has no such blank, or the blank is filled.
        """
        if count < 1:
            raise ValueError(f"count={count}; give 1 or more fillings")
        before, behind = self._sides(blank)
        ends = {lengths: self._ends(lengths, behind, 0) for lengths in before}
        promised = {lengths: self._promised(told) for lengths, told in ends.items()}
        first = {(lengths, int(state)): float(masses[state])
                 for lengths, masses in before.items() for state in masses.nonzero()[0]}
        queue: list[tuple[float, Filling, bool, dict[tuple[Lengths, int], float]]] = [(-np.inf, (), False, first)]
        found: list[tuple[Filling, float]] = []
        while queue and len(found) < count:
            value, said, ended, states = heappop(queue)
            if ended:
                found.append((said, -value / self.mass))
                continue
            following: dict[str, dict[tuple[Lengths, int], float]] = defaultdict(lambda: defaultdict(float))
            worth = 0.0
            for (lengths, state), mass in states.items():
                worth += mass * float(ends[lengths][len(said)][state])
                for arc in self.automaton.arcs[state]:
                    following[arc.word][lengths, arc.target] += mass * arc.weight / self.automaton.totals[state]
            if worth:
                heappush(queue, (-worth, said, True, {}))
            for word, reached in following.items():
                hope = sum(mass * float(promised[lengths][len(said) + 1][state])
                           for (lengths, state), mass in reached.items())
                if hope:
                    heappush(queue, (-hope, (*said, word), False, reached))
        return sorted(found, key=lambda filling: -filling[1])

    @cached_property
    def _sweeps(self) -> Sweeps:
        return sweeps_of(self.automaton)

    @cached_property
    def _runs(self) -> list[list[str]]:
        """The words before the first blank, between consecutive blanks, and after the last."""
        runs: list[list[str]] = [[]]
        for word in self.text:
            if word == BLANK:
                runs.append([])
            else:
                runs[-1].append(word)
        return runs

    @cached_property
    def _kept(self) -> dict[int, tuple[dict[Lengths, Masses], dict[Lengths, Masses]]]:
        return {}

    def _sides(self, blank: int) -> tuple[dict[Lengths, Masses], dict[Lengths, Masses]]:
        """Forward masses before a blank and backward masses after it. Raises ValueError if the blank is not open."""
        self._check_open(blank)
        if blank not in self._kept:
            last = np.zeros_like(self._sweeps.initial)
            last[FINAL] = 1.0
            behind = self._swept(self._sweeps.backward, last, range(self.count - 1, blank, -1))
            self._kept[blank] = (self._swept(self._sweeps.forward, self._sweeps.initial, range(blank)),
                                 {lengths[::-1]: masses for lengths, masses in behind.items()})
        return self._kept[blank]

    def _swept(self, sweep: Sweep, masses: Masses, blanks: Sequence[int]) -> dict[Lengths, Masses]:
        """The masses after these blanks and all words around them, in the direction of the sweep, kept separately for
        each combination of blank lengths."""
        runs = self._runs[::sweep.reads]
        ways: dict[Lengths, Masses] = {(): sweep.over(masses, runs[0])}
        for blank, run in zip(blanks, runs[1:], strict=False):
            further: dict[Lengths, Masses] = {}
            for lengths, here in ways.items():
                for length, there in self._through(sweep, here, blank):
                    key = self._apart((*lengths, length))
                    further[key] = further[key] + there if key in further else there
            ways = {lengths: masses for lengths, there in further.items() if (masses := sweep.over(there, run)).any()}
        return ways

    def _through(self, sweep: Sweep, masses: Masses, blank: int) -> Iterator[tuple[int, Masses]]:
        """Yield each possible length of a blank, with the masses after the blank."""
        if blank in self.filled:
            words = self.filled[blank]
            yield len(words), sweep.over(masses, words)
            return
        length = 0
        while (masses := sweep.over_any(masses)).any():
            length += 1
            yield length, masses

    def _ends(self, before: Lengths, behind: Mapping[Lengths, Masses], written: int) -> list[Masses]:
        """For a blank of ``written`` words, of one more, and so on: state → mass of everything that can follow the
        blank."""
        found = []
        for length in range(written, self.automaton.longest + 1):
            ends = np.zeros_like(self._sweeps.initial)
            for after, masses in behind.items():
                if length and (weight := self._weight((*before, length, *after))):
                    ends = ends + weight * masses
            found.append(ends)
        return found

    def _promised(self, ends: Sequence[Masses]) -> list[Masses]:
        """For 0, 1, 2, … words written: state → upper bound on the mass that any single continuation of the blank can
        reach."""
        found = [ends[-1]]
        for here in reversed(ends[:-1]):
            found.append(np.maximum(here, self._sweeps.best_word(found[-1])))
        return found[::-1]

    def _apart(self, lengths: Lengths) -> Lengths:
        """The blank lengths for which masses have to be kept separately."""
        return ()

    def _weight(self, lengths: Lengths) -> float:
        """The weight of fillings with these numbers of words, in addition to the probability of the sentence."""
        return 1.0

    def _check(self, blank: int) -> None:
        if blank not in range(self.count):
            raise ValueError(f"blank {blank} was given; '{' '.join(self.text)}' has {self.count}, counted from 0")

    def _check_open(self, blank: int) -> None:
        self._check(blank)
        if blank in self.filled:
            raise ValueError(f"blank {blank} was given, but is filled with {' '.join(self.filled[blank])!r:.60}")


@dataclass(frozen=True, eq=False)
class DrawnBlanks(Blanks):
    """Blanks that also take into account how the blanks were sampled.

    ``drawing`` gives the probability that these spans are masked in a sentence of this length. The posterior of a
    filling is then proportional to the probability of its sentence times this probability; ``mass`` is the probability
    that an Example has this text; and no predictor of such Examples can do better. The cost of the computation grows
    with the number of joint lengths of the other blanks.

    Raises:
        NotInGrammar: if no sentence has the visible words and spans that can be sampled.
        ValueError: as for Blanks.
    """

    drawing: Drawing = field(kw_only=True)
    _lengths_told: ClassVar[str] = "a number of words that the objective can mask"

    def _apart(self, lengths: Lengths) -> Lengths:
        return lengths

    def _weight(self, lengths: Lengths) -> float:
        spans, place = [], 0
        for run, length in zip(self._runs, lengths, strict=False):
            spans.append((place + len(run), place + len(run) + length))
            place = spans[-1][1]
        return self.drawing(place + len(self._runs[-1]), spans)


def _shares(masses: dict) -> dict:
    total = sum(masses.values())
    return {key: mass / total for key, mass in masses.items()}
