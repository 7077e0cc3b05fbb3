"""The floor (entropy lower bound) of an objective: the lowest possible mean loss on the world's text."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from plmlab.world.probability.automaton import Automaton
from plmlab.world.probability.posterior import posterior

MakesExamples = Callable[..., Any]
"""An objective of ``plmlab.objectives``: (tokens, *, vocab, rng, **choices) → Example or PairExample."""

Reader = Callable[..., float]
"""A function of :mod:`plmlab.world.probability.readers`: (automaton, words, questions, vocab) → loss in nats."""


class FloorError(ValueError):
    """Raised if the floor cannot be computed: there are too few sentences, or the objective predicts nothing or hides
    the positions."""


@dataclass(frozen=True)
class Floor:
    """The lowest possible mean loss, in nats per predicted token.

    ``exact``: whether it was computed by a sweep over the automaton; otherwise it is a mean over sentences, with its
    standard error.
    """

    mean: float
    stderr: float
    exact: bool

    def __str__(self) -> str:
        return f"{self.mean:.4f} nats per token" + ("" if self.exact else f" ± {self.stderr:.4f}")


def mean_of(sums: Sequence[tuple[float, int]]) -> Floor:
    """The floor from one pair (nats, number of predictions) per sentence: the mean number of nats per prediction.

    The standard error is that of a ratio of sums.

    Raises:
        FloorError: if nothing is predicted.
    """
    count = sum(steps for _, steps in sums)
    if not count:
        raise FloorError("the objective predicts nothing: no sentence has a target")
    mean = math.fsum(nats for nats, _ in sums) / count
    spread = math.fsum((nats - mean * steps) ** 2 for nats, steps in sums)
    return Floor(mean, math.sqrt(spread * len(sums) / max(1, len(sums) - 1)) / count, False)


def surprises(automaton: Automaton, words: Sequence[str], visible: frozenset[int], positions: Iterable[int]) -> float:
    """−Σ log p(word | visible words, length) over the positions, in nats; each position is predicted independently."""
    hidden = [position for position in range(len(words)) if position not in visible]
    beliefs = dict(zip(hidden, posterior(automaton, words, hidden), strict=True))
    return -math.fsum(math.log(beliefs[position][words[position]]) for position in positions)
