"""Exact probabilities of a Small World for beam search: of every branch, and of the most likely sentence."""

from collections.abc import Sequence
from math import log

from plmlab.text.spacing import readable
from plmlab.text.tokenizers import Tokenizer
from plmlab.world import World
from plmlab.world.datasets.bayes_optimal import BayesOptimalPredictor
from plmlab.world.probability.automaton import END, FINAL
from plmlab.world.probability.likeliest import likeliest
from plmlab.world.probability.posterior import NotInGrammar


class ExactProbabilities:
    """The exact probabilities of a split of a world, for the ids of a tokenizer with ``size`` tokens.

    Raises ValueError if a word of the world is not a single token.
    """

    def __init__(self, world: World, split: str, tokenizer: Tokenizer, size: int) -> None:
        self.world, self.split = world, split
        self.automaton = world.automaton(split)
        self.word = {id: word for word, id in BayesOptimalPredictor(world, split, tokenizer, size).id.items()}


class PrefixProbabilities:
    """A prompt of the world, and the exact probabilities of its continuations.

    ``left`` explains where the prompt itself leaves the grammar; it is "" if the prompt is a prefix of a sentence.
    """

    def __init__(self, beside: ExactProbabilities, words: Sequence[str]) -> None:
        self.beside, self.words = beside, tuple(words)
        states = beside.automaton.read(self.words)
        self._states: dict[tuple[int, ...], dict[int, float]] = {(): states}
        self.left = "" if states else beside.world.explain(self.words, beside.split).message

    def chance(self, tokens: Sequence[int]) -> float | None:
        """The exact probability of the last of ``tokens``, given the prompt and the preceding tokens; None if the
        tokens leave the grammar."""
        part = self._mass(tuple(tokens))
        return part / self._mass(tuple(tokens[:-1])) if part > 0 else None

    def total(self, tokens: Sequence[int]) -> float | None:
        """The log-probability of ``tokens`` given the prompt, in nats; None if they leave the grammar."""
        part = self._mass(tuple(tokens))
        return log(part / self._mass(())) if part > 0 else None

    def best(self) -> tuple[str, int, float] | None:
        """The most likely continuation: its text, its number of tokens ([END] included), and its log-probability in
        nats given the prompt; None if no sentence has this prefix."""
        try:
            (words, logprob), = likeliest(self.beside.automaton, self.words)
        except NotInGrammar:
            return None
        rest = words[len(self.words):]
        return readable(rest), len(rest) + 1, logprob - log(self._mass(()))

    def _mass(self, tokens: tuple[int, ...]) -> float:
        return sum(self._after(tokens).values(), 0.0)

    def _after(self, tokens: tuple[int, ...]) -> dict[int, float]:
        """Map each state to its probability mass after the prompt and these tokens; [END] leads only to the final
        state."""
        if tokens not in self._states:
            before, word = self._after(tokens[:-1]), self.beside.word.get(tokens[-1])
            if word is None:
                states = {}
            elif word == END:
                states = {state: mass for state, mass in before.items() if state == FINAL}
            else:
                states = self.beside.automaton.advance(before, word)
            self._states[tokens] = states
        return self._states[tokens]
