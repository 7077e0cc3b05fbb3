"""Floors by another road than Examples: what is seen and asked, drawn step by step; the oracle of `example_floor`."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from random import Random

from plmlab.draws import shuffled
from plmlab.world.probability.automaton import Automaton
from plmlab.world.probability.floors import Floor, mean_of, surprises

Step = tuple[frozenset[int], int]
"""The positions in sight, and the one that is to be said."""
Steps = Callable[[Sequence[str], Random], list[Step]]


def masked(rate: float = 0.15) -> Steps:
    """Every position is hidden with probability ``rate`` (one at least); all hidden ones are predicted at once."""
    def steps(words: Sequence[str], rng: Random) -> list[Step]:
        hidden = {position for position in range(len(words)) if rng.random() < rate} or {int(rng.random() * len(words))}
        visible = frozenset(range(len(words))) - hidden
        return [(visible, position) for position in sorted(hidden)]

    return steps


def permuted(part: float = 1.0) -> Steps:
    """The positions in random order; each of the last ``part`` of them is predicted from those before it."""
    def steps(words: Sequence[str], rng: Random) -> list[Step]:
        order = shuffled(rng, range(len(words)))
        first = len(words) - max(1, round(part * len(words)))
        return [(frozenset(order[:place]), order[place]) for place in range(first, len(words))]

    return steps


def estimated(automaton: Automaton, sentences: Iterable[Sequence[str]], steps: Steps, rng: Random) -> Floor:
    """The mean of −log p(word | visible words, length) over the steps of the sentences, and its standard error.

    Each term is exact; which sentences and positions are asked for is sampled. The error counts a sentence's steps as
    one draw (a ratio estimate), since they are not independent.
    """
    sums: list[tuple[float, int]] = []
    for words in sentences:
        asked: dict[frozenset[int], list[int]] = defaultdict(list)
        for visible, position in steps(words, rng):
            assert position not in visible and 0 <= position < len(words)
            asked[visible].append(position)
        nats = sum(surprises(automaton, words, visible, positions) for visible, positions in asked.items())
        sums.append((nats, sum(map(len, asked.values()))))
    return mean_of(sums)
