"""The best possible reader of a sentence in any order, and what the whole sentence costs it: by the chain rule, the
same in each."""

from collections.abc import Sequence
from math import log

from plmlab.world import World
from plmlab.world.datasets.bayes_optimal import BayesOptimalPredictor, Distribution
from plmlab.world.probability.automaton import FINAL, Automaton
from plmlab.world.probability.posterior import NotInGrammar


def beliefs(reader: BayesOptimalPredictor, words: Sequence[str], order: Sequence[int]) -> list[Distribution | None]:
    """Step by step, the exact distribution of the word that is said, given those said before it, each at its place, and
    how many there are; None where no sentence of that length has them."""
    found: list[Distribution | None] = []
    for t, place in enumerate(order):
        hidden = sorted(order[t:])
        try:
            found.append(reader.both(words, hidden)[hidden.index(place)])
        except NotInGrammar:
            found.append(None)
    return found


def length_chances(automaton: Automaton, longest: int) -> list[float]:
    """The probability that a sentence has 0, 1, …, ``longest`` words."""
    states = automaton.initial()
    found = [states.get(FINAL, 0.0)]
    for _ in range(longest):
        states = automaton.advance(states, None)
        found.append(states.get(FINAL, 0.0))
    return found


def surprisal(world: World, split: str, words: Sequence[str]) -> float | None:
    """−log p(sentence | its length), in nats; None for what is no sentence of the split's grammar."""
    return surprisals(world, split, [words])[0] if world.explain(words, split).valid else None


def surprisals(world: World, split: str, sentences: Sequence[Sequence[str]]) -> list[float]:
    """−log p(sentence | its length) of sentences of the split's grammar, in nats."""
    lengths = length_chances(world.automaton(split), max(map(len, sentences)))
    return [log(lengths[len(words)]) - world.logprob(words, split) for words in sentences]
