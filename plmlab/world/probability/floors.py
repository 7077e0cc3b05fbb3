"""The floor of an objective: the best mean loss that any reader could reach on the world's text."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from plmlab.world.probability.automaton import Automaton
from plmlab.world.probability.posterior import posterior

MakesExamples = Callable[..., Any]
"""An objective of ``plmlab.objectives``: (tokens, *, vocab, rng, **choices) → Example or PairExample."""

Reader = Callable[..., float]
"""A reader of :mod:`plmlab.world.probability.readers`: (automaton, words, questions, vocab) → what it pays, in nats."""


class FloorError(ValueError):
    """A floor that cannot be had: too few sentences, or an objective that predicts nothing or shows no places."""


@dataclass(frozen=True)
class Floor:
    """The best mean loss, in nats a predicted token.

    ``exact``: computed by a sweep over the automaton; otherwise a mean over sentences with its standard error.
    """

    mean: float
    stderr: float
    exact: bool

    def __str__(self) -> str:
        return f"{self.mean:.4f} nats a token" + ("" if self.exact else f" ± {self.stderr:.4f}")


def mean_of(sums: Sequence[tuple[float, int]]) -> Floor:
    """The floor of sentences that are given as (nats, predictions): the mean nats a prediction.

    Its error is that of a ratio of sums.

    Raises:
        FloorError: nothing was predicted.
    """
    count = sum(steps for _, steps in sums)
    if not count:
        raise FloorError("the objective predicts nothing: it gave no steps for any sentence")
    mean = math.fsum(nats for nats, _ in sums) / count
    spread = math.fsum((nats - mean * steps) ** 2 for nats, steps in sums)
    return Floor(mean, math.sqrt(spread * len(sums) / max(1, len(sums) - 1)) / count, False)


def surprises(automaton: Automaton, words: Sequence[str], visible: frozenset[int], positions: Iterable[int]) -> float:
    """−Σ log p(word | visible words, length) over the positions, in nats; each position on its own."""
    hidden = [position for position in range(len(words)) if position not in visible]
    beliefs = dict(zip(hidden, posterior(automaton, words, hidden), strict=True))
    return -math.fsum(math.log(beliefs[position][words[position]]) for position in positions)
