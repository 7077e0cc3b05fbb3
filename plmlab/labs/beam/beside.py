"""The Small World beside a beam: the exact probability of every branch, and the likeliest sentence of all."""

from collections.abc import Sequence
from math import log

from plmlab.text.spacing import readable
from plmlab.text.tokenizers import Tokenizer
from plmlab.world import World
from plmlab.world.datasets.bayes_optimal import BayesOptimalPredictor
from plmlab.world.probability.automaton import END, FINAL
from plmlab.world.probability.likeliest import likeliest
from plmlab.world.probability.posterior import NotInGrammar


class Beside:
    """A world's split, by the ids of a tokenizer of ``size`` tokens.

    ValueError: a word of the world is not one token.
    """

    def __init__(self, world: World, split: str, tokenizer: Tokenizer, size: int) -> None:
        self.world, self.split = world, split
        self.automaton = world.automaton(split)
        self.word = {id: word for word, id in BayesOptimalPredictor(world, split, tokenizer, size).id.items()}


class Begun:
    """A beginning in the world, and the exact probability of all that may come after it.

    ``left`` says in words where the beginning itself leaves the grammar; "" where it begins a sentence.
    """

    def __init__(self, beside: Beside, words: Sequence[str]) -> None:
        self.beside, self.words = beside, tuple(words)
        states = beside.automaton.read(self.words)
        self._states: dict[tuple[int, ...], dict[int, float]] = {(): states}
        self.left = "" if states else beside.world.explain(self.words, beside.split).message

    def chance(self, tokens: Sequence[int]) -> float | None:
        """The exact probability of the last of some tokens after the beginning, given all before it; None where what
        stands before it, or the token itself, leaves the grammar."""
        part = self._mass(tuple(tokens))
        return part / self._mass(tuple(tokens[:-1])) if part > 0 else None

    def total(self, tokens: Sequence[int]) -> float | None:
        """The log-probability of some tokens after the beginning, in nats; None where they leave the grammar."""
        part = self._mass(tuple(tokens))
        return log(part / self._mass(())) if part > 0 else None

    def best(self) -> tuple[str, int, float] | None:
        """The likeliest sentence that begins so: what comes after the beginning, how many tokens that is, the end
        included, and its log-probability in nats, given the beginning; None where no sentence begins so."""
        try:
            (words, logprob), = likeliest(self.beside.automaton, self.words)
        except NotInGrammar:
            return None
        rest = words[len(self.words):]
        return readable(rest), len(rest) + 1, logprob - log(self._mass(()))

    def _mass(self, tokens: tuple[int, ...]) -> float:
        return sum(self._after(tokens).values(), 0.0)

    def _after(self, tokens: tuple[int, ...]) -> dict[int, float]:
        """State → its mass after the beginning and these tokens; the end leads to the final state alone."""
        if tokens not in self._states:
            before, word = self._after(tokens[:-1]), self.beside.word.get(tokens[-1])
            if word is None:
                found = {}
            elif word == END:
                found = {state: mass for state, mass in before.items() if state == FINAL}
            else:
                found = self.beside.automaton.advance(before, word)
            self._states[tokens] = found
        return self._states[tokens]
