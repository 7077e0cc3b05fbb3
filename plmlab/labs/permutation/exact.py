"""Bayes-optimal predictions of a sentence in any factorization order, and the total surprisal, which by the chain rule
is the same for every order."""

from collections.abc import Sequence
from math import log

from plmlab.world import World
from plmlab.world.datasets.bayes_optimal import BayesOptimalPredictor, Distribution
from plmlab.world.probability.automaton import FINAL, Automaton
from plmlab.world.probability.posterior import NotInGrammar


def beliefs(reader: BayesOptimalPredictor, words: Sequence[str], order: Sequence[int]) -> list[Distribution | None]:
    """The exact distribution of each step's target, given the length and the words predicted before it, at their
    positions; None if no sentence of that length contains these words."""
    distributions: list[Distribution | None] = []
    for t, place in enumerate(order):
        hidden = sorted(order[t:])
        try:
            distributions.append(reader.both(words, hidden)[hidden.index(place)])
        except NotInGrammar:
            distributions.append(None)
    return distributions


def length_chances(automaton: Automaton, longest: int) -> list[float]:
    """The probability that a sentence has 0, 1, …, ``longest`` words."""
    states = automaton.initial()
    probabilities = [states.get(FINAL, 0.0)]
    for _ in range(longest):
        states = automaton.advance(states, None)
        probabilities.append(states.get(FINAL, 0.0))
    return probabilities


def surprisal(world: World, split: str, words: Sequence[str]) -> float | None:
    """−log p(sentence | its length), in nats; None if the words are not a sentence in the grammar of the split."""
    return surprisals(world, split, [words])[0] if world.explain(words, split).valid else None


def surprisals(world: World, split: str, sentences: Sequence[Sequence[str]]) -> list[float]:
    """−log p(sentence | its length) of sentences in the grammar of the split, in nats."""
    lengths = length_chances(world.automaton(split), max(map(len, sentences)))
    return [log(lengths[len(words)]) - world.logprob(words, split) for words in sentences]
