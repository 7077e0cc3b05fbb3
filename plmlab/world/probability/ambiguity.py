"""Proof that no sentence has two derivations, by constructing the product of the automaton with itself."""

from collections import defaultdict
from functools import cached_property

from plmlab.world.probability.automaton import FINAL, Arc, Automaton, Path

Pair = tuple[int, int]


class SelfProduct:
    """Product of an automaton with itself: two copies process the same words.

    A pair of different states is *parted*: it is reached by two different derivations of the same words. Every state
    leads to the end, so the grammar is ambiguous if and only if two parted copies reach the same state again, or two
    arcs (or starts) differ only in their labels.
    """

    def __init__(self, automaton: Automaton):
        self.automaton = automaton
        self._came: dict[Pair, tuple[Pair | None, str]] = {}

    @cached_property
    def by_word(self) -> list[dict[str, list[Arc]]]:
        """State → word → its arcs with this word."""
        table: list[dict[str, list[Arc]]] = []
        for arcs in self.automaton.arcs:
            words: dict[str, list[Arc]] = defaultdict(list)
            for arc in arcs:
                words[arc.word].append(arc)
            table.append(dict(words))
        return table

    def clash(self) -> tuple[Path, Path] | None:
        """Two derivations of the same sentence, or None if the grammar is unambiguous."""
        words = self._meeting()
        if words is None:
            return None
        first, second, *_ = self.automaton.paths(words)
        return first, second

    @property
    def pairs(self) -> int:
        """The number of parted pairs that can be reached: the size of the proof."""
        return len(self._came)

    def _meeting(self) -> list[str] | None:
        """A sentence with two derivations, if there is one."""
        stack: list[Pair] = []
        states = [start.state for start in self.automaton.starts]
        for place, later in enumerate(states):
            for earlier in states[:place]:
                if earlier == later:
                    return self._tail(later)
                self._part((earlier, later), None, "", stack)
        for state in self._from:
            for word, arcs in self.by_word[state].items():
                for place, arc in enumerate(arcs):
                    for other in arcs[:place]:
                        if arc.target == other.target:
                            return [*self._head(state), word, *self._tail(arc.target)]
                        self._part((arc.target, other.target), (state, state), word, stack)
        return self._follow(stack)

    def _follow(self, stack: list[Pair]) -> list[str] | None:
        by_word = self.by_word
        while stack:
            pair = stack.pop()
            fewer, more = sorted((by_word[pair[0]], by_word[pair[1]]), key=len)
            for word in fewer:
                for arc in fewer[word]:
                    for other in more.get(word, ()):
                        if arc.target == other.target:
                            return [*self._trace(pair), word, *self._tail(arc.target)]
                        self._part((arc.target, other.target), pair, word, stack)
        return None

    def _part(self, pair: Pair, source: Pair | None, word: str, stack: list[Pair]) -> None:
        pair = (min(pair), max(pair))
        if pair not in self._came:
            self._came[pair] = (source, word)
            stack.append(pair)

    def _trace(self, pair: Pair) -> list[str]:
        """Words by which both copies reach this pair."""
        words: list[str] = []
        source: Pair | None = pair
        while source is not None and source[0] != source[1]:
            source, word = self._came[source]
            words[:0] = [word] if word else []
        return words if source is None else [*self._head(source[0]), *words]

    @cached_property
    def _from(self) -> dict[int, tuple[int | None, str]]:
        """Each reachable state → the previous state and the word on a path to it."""
        came: dict[int, tuple[int | None, str]] = {start.state: (None, "") for start in self.automaton.starts}
        stack = list(came)
        while stack:
            here = stack.pop()
            for arc in self.automaton.arcs[here]:
                if arc.target not in came:
                    came[arc.target] = (here, arc.word)
                    stack.append(arc.target)
        return came

    def _head(self, state: int | None) -> list[str]:
        """Words on a path from a start to this state."""
        words: list[str] = []
        while state is not None:
            state, word = self._from[state]
            words[:0] = [word] if word else []
        return words

    def _tail(self, state: int) -> list[str]:
        """Words on a path from this state to the end."""
        words = []
        while state != FINAL:
            arc = self.automaton.arcs[state][0]
            words.append(arc.word)
            state = arc.target
        return words
