"""Texts with blanks of unknown length, read by who knows the grammar: exact posteriors of what fills them (填空)."""

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
"""How many words each of some blanks holds, in the order of the text."""
Span = tuple[int, int]
"""Where a span begins in the sentence, and behind which word it ends, as in a slice."""
Drawing = Callable[[int, Sequence[Span]], float]
"""(number of words, spans in the order of the text) → the probability that an objective hides just these of so many."""


@dataclass(frozen=True, eq=False)
class Blanks:
    """A text in which each ``BLANK`` stands for one word or more, some of them perhaps filled.

    A blank's number is its place among the text's blanks, counted from 0, and stays what it is when others are filled.
    What is known is the words in sight and their order, not how many words a blank holds, and so not how many the
    sentence has. Of all ways to fill the blanks so that a sentence comes out, each is as likely as its sentence. That
    is what follows from the text alone; `DrawnBlanks` also weighs how likely a sentence is to be given such blanks.

    Every figure is a sum over the automaton (the forward and the backward masses, Baum et al. 1970), in which a blank
    is all powers from the first of "any word" (finitely many: the automaton has no cycle). Where two fillings of all
    blanks give one sentence ("[MASK] a [MASK]" of "b a c a d"), each counts.

    Raises:
        NotInGrammar: no sentence has the words in sight.
        ValueError: a blank is filled that the text does not have, or with no word, or with a ``BLANK``.
    """

    automaton: Automaton
    text: Sequence[str]
    filled: Mapping[int, Sequence[str]] = field(default_factory=dict)
    _lengths_told: ClassVar[str] = "one word or more"

    def __post_init__(self) -> None:
        for blank, words in self.filled.items():
            self._check(blank)
            if not words or BLANK in words:
                raise ValueError(f"blank {blank} is filled with {' '.join(words)!r:.60}; a filling is one word or "
                                 f"more, and no {BLANK}")
        if not self.mass:
            raise NotInGrammar(f"no sentence of the grammar reads '{self}', with {self._lengths_told} for each {BLANK}")

    def __str__(self) -> str:
        """The text with what is filled in."""
        return " ".join(word for number, run in enumerate(self._runs)
                        for word in (*(self.filled.get(number - 1, [BLANK]) if number else ()), *run))

    @cached_property
    def mass(self) -> float:
        """The probability of the words in sight: that of all sentences which come of filling the blanks. One that does
        in several ways counts as often, so that it may be above 1."""
        every = range(self.count)
        return float(sum(self._weight(lengths) * masses[FINAL] for lengths, masses in
                         self._swept(self._sweeps.forward, self._sweeps.initial, every).items()))

    @property
    def count(self) -> int:
        """How many blanks the text has, filled ones too."""
        return len(self._runs) - 1

    def fill(self, fillings: Mapping[int, Sequence[str]]) -> Self:
        """The same with more blanks filled: number → its words. Errors as those of the class."""
        return replace(self, filled={**self.filled, **fillings})

    def posterior(self, fillings: Mapping[int, Sequence[str]]) -> float:
        """The probability that these blanks hold just these words (number → words), given what is in sight and filled;
        blanks that are not named may hold anything. 0 where no sentence comes of it; a ValueError as the class's."""
        for blank in fillings:
            self._check_open(blank)
        try:
            return self.fill(fillings).mass / self.mass
        except NotInGrammar:
            return 0.0

    def next_words(self, blank: int, written: Sequence[str] = ()) -> dict[str, float]:
        """Word or END → its exact probability of coming next in a blank that begins with ``written``, likeliest first.

        END ends the blank, and so can't come first. The chain rule over a filling's words and END gives ``posterior``.

        Raises:
            NotInGrammar: no filling begins with ``written``.
            ValueError: the text has no such blank, or it is filled.
        """
        before, behind = self._sides(blank)
        said, ended = np.zeros(len(self._sweeps.words)), 0.0
        for lengths, masses in before.items():
            masses = self._sweeps.forward.over(masses, written)
            if masses.any():
                now, *later = self._ends(lengths, behind, len(written))
                rest = np.zeros_like(masses)
                for ends in reversed(later):
                    rest = self._sweeps.backward.over_any(rest) + ends
                said += self._sweeps.said_between(masses, rest)
                ended += float(masses @ now)
        found = {word: mass for word, mass in zip((*self._sweeps.words, END), (*said.tolist(), ended), strict=True)
                 if mass}
        if not found:
            raise NotInGrammar(f"no filling of blank {blank} of '{self}' begins with {' '.join(written)!r:.60}")
        return _shares(dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))))

    def lengths(self, blank: int) -> dict[int, float]:
        """Number of words → the probability that the blank holds so many; those that are possible, in order.

        ValueError: the text has no such blank, or it is filled.
        """
        before, behind = self._sides(blank)
        found: dict[int, float] = defaultdict(float)
        for lengths, masses in before.items():
            for length, ends in enumerate(self._ends(lengths, behind, 0)):
                found[length] += float(masses @ ends)
                masses = self._sweeps.forward.over_any(masses)
        return _shares({length: mass for length, mass in sorted(found.items()) if mass})

    def likeliest(self, blank: int, count: int = 1) -> list[tuple[Filling, float]]:
        """The ``count`` likeliest fillings of a blank, whatever other blanks hold, or all if there are fewer, the best
        first: (words, their posterior probability).

        A search that goes on with the beginning that promises most (A*; Hart et al. 1968). A beginning stands in
        several states; what it promises is, summed over them, the most that one filling can come to from each. No
        filling is worth more than its beginning promised, so that none is missed, and a filling's figure is the sum of
        all its derivations. Where the best way to go on differs between the states, the search looks at more. Fillings
        that are as likely come in no fixed order.

        Raises:
            ValueError: a count below 1, no such blank in the text, or it is filled.
        """
        if count < 1:
            raise ValueError(f"count={count}: ask for 1 filling or more")
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
        """The words before the first blank, between two, and behind the last."""
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
        """What can have been said up to a blank, and what can follow it; an error if it is not open."""
        self._check_open(blank)
        if blank not in self._kept:
            last = np.zeros_like(self._sweeps.initial)
            last[FINAL] = 1.0
            behind = self._swept(self._sweeps.backward, last, range(self.count - 1, blank, -1))
            self._kept[blank] = (self._swept(self._sweeps.forward, self._sweeps.initial, range(blank)),
                                 {lengths[::-1]: masses for lengths, masses in behind.items()})
        return self._kept[blank]

    def _swept(self, sweep: Sweep, masses: Masses, blanks: Sequence[int]) -> dict[Lengths, Masses]:
        """The masses behind these blanks and all words around them, taken apart by the blanks' lengths, as swept."""
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
        """Each length that a blank can have, and the masses behind it."""
        if blank in self.filled:
            words = self.filled[blank]
            yield len(words), sweep.over(masses, words)
            return
        length = 0
        while (masses := sweep.over_any(masses)).any():
            length += 1
            yield length, masses

    def _ends(self, before: Lengths, behind: Mapping[Lengths, Masses], written: int) -> list[Masses]:
        """For a blank of so many words as are written, of one more and so on: state → what can follow from there."""
        found = []
        for length in range(written, self.automaton.longest + 1):
            ends = np.zeros_like(self._sweeps.initial)
            for after, masses in behind.items():
                if length and (weight := self._weight((*before, length, *after))):
                    ends = ends + weight * masses
            found.append(ends)
        return found

    def _promised(self, ends: Sequence[Masses]) -> list[Masses]:
        """For 0, 1, 2, … words written: state → the most that one way to go on with the blank can be worth there."""
        found = [ends[-1]]
        for here in reversed(ends[:-1]):
            found.append(np.maximum(here, self._sweeps.best_word(found[-1])))
        return found[::-1]

    def _apart(self, lengths: Lengths) -> Lengths:
        """What must be known of the lengths of blanks."""
        return ()

    def _weight(self, lengths: Lengths) -> float:
        """How much a way to fill the blanks with so many words counts, beside its sentence's probability."""
        return 1.0

    def _check(self, blank: int) -> None:
        if blank not in range(self.count):
            raise ValueError(f"blank {blank} is asked for; '{' '.join(self.text)}' has {self.count}, counted from 0")

    def _check_open(self, blank: int) -> None:
        self._check(blank)
        if blank in self.filled:
            raise ValueError(f"blank {blank} is asked for, but is filled with {' '.join(self.filled[blank])!r:.60}")


@dataclass(frozen=True, eq=False)
class DrawnBlanks(Blanks):
    """Blanks whose reader also knows how they were drawn: ``drawing`` tells how likely these spans of words are to be
    hidden in a sentence so long.

    Each way to fill the blanks is then as likely as its sentence times that, ``mass`` is the probability that an
    Example shows this text, and no reader of such Examples predicts better. The cost grows with the number of lengths
    that the other blanks can have together.

    Raises:
        NotInGrammar: no sentence has the words in sight, with spans hidden that the drawing hides.
        ValueError: as Blanks.
    """

    drawing: Drawing = field(kw_only=True)
    _lengths_told: ClassVar[str] = "as many words as the drawing hides"

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
