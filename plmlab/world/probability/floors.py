"""The floor of an objective: the best mean loss that any reader could reach on the world's text."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from plmlab.draws import shuffled
from plmlab.world.probability.automaton import Automaton
from plmlab.world.probability.posterior import posterior

Step = tuple[frozenset[int], int]
Steps = Callable[[Sequence[str], Random], list[Step]]
MakesExamples = Callable[..., Any]
"""An objective of ``plmlab.objectives``: (tokens, *, vocab, rng, **choices) → Example or PairExample."""


class FloorError(ValueError):
    """No such objective, or a step that cannot be taken."""


@dataclass(frozen=True)
class Floor:
    """Nats a predicted token. ``exact``: by a sweep over the automaton; else a mean with its standard error."""

    mean: float
    stderr: float
    exact: bool

    def __str__(self) -> str:
        return f"{self.mean:.4f} nats a token" + ("" if self.exact else f" ± {self.stderr:.4f}")


def masked(rate: float = 0.15) -> Steps:
    """Every slot is hidden with probability ``rate`` (one at least); all hidden ones are predicted at once."""
    if not 0 < rate <= 1:
        raise FloorError(f"the rate is {rate}; it must be above 0 and at most 1")

    def steps(words: Sequence[str], rng: Random) -> list[Step]:
        hidden = {slot for slot in range(len(words)) if rng.random() < rate} or {int(rng.random() * len(words))}
        visible = frozenset(range(len(words))) - hidden
        return [(visible, slot) for slot in sorted(hidden)]

    return steps


def permuted(part: float = 1.0) -> Steps:
    """The slots in random order; each of the last ``part`` of them is predicted from those before it."""
    if not 0 < part <= 1:
        raise FloorError(f"the predicted part is {part}; it must be above 0 and at most 1")

    def steps(words: Sequence[str], rng: Random) -> list[Step]:
        order = shuffled(rng, range(len(words)))
        first = len(words) - max(1, round(part * len(words)))
        return [(frozenset(order[:place]), order[place]) for place in range(first, len(words))]

    return steps


OBJECTIVES: dict[str, Callable[..., Steps]] = {"masked": masked, "permuted": permuted}


def steps_of(objective: str, **choices: float) -> Steps:
    """The steps of one of the objectives above; a FloorError lists them."""
    if objective not in OBJECTIVES:
        raise FloorError(f"unknown objective {objective!r}; known are causal, {', '.join(OBJECTIVES)}, a function of "
                         "plmlab.objectives, or give steps=")
    return OBJECTIVES[objective](**choices)


def estimated(automaton: Automaton, sentences: Iterable[Sequence[str]], steps: Steps, rng: Random) -> Floor:
    """The mean of −log p(word | visible words, length) over the steps of the sentences, and its standard error.

    Each term is exact; which sentences and slots are asked for is sampled. The error counts a sentence's steps as one
    draw (a ratio estimate), since they are not independent.

    Raises:
        FloorError: a step whose slot is visible, or outside the sentence; no steps at all.
    """
    sums: list[tuple[float, int]] = []
    for words in sentences:
        asked: dict[frozenset[int], list[int]] = defaultdict(list)
        for visible, slot in steps(words, rng):
            if slot in visible or not 0 <= slot < len(words):
                raise FloorError(f"slot {slot} is to be predicted, but it is visible or outside {len(words)} words")
            asked[visible].append(slot)
        nats = sum(surprises(automaton, words, visible, slots) for visible, slots in asked.items())
        sums.append((nats, sum(map(len, asked.values()))))
    return mean_of(sums)


def mean_of(sums: Sequence[tuple[float, int]]) -> Floor:
    """Of each sentence's nats and predictions, the mean nats a prediction, with the error of a ratio of sums.

    Raises:
        FloorError: nothing was predicted.
    """
    count = sum(steps for _, steps in sums)
    if not count:
        raise FloorError("the objective predicts nothing: it gave no steps for any sentence")
    mean = math.fsum(nats for nats, _ in sums) / count
    spread = math.fsum((nats - mean * steps) ** 2 for nats, steps in sums)
    return Floor(mean, math.sqrt(spread * len(sums) / max(1, len(sums) - 1)) / count, False)


def surprises(automaton: Automaton, words: Sequence[str], visible: frozenset[int], slots: Iterable[int]) -> float:
    """−Σ log p(word | visible words, length) over the slots, in nats; each slot on its own."""
    hidden = [slot for slot in range(len(words)) if slot not in visible]
    beliefs = dict(zip(hidden, posterior(automaton, words, hidden), strict=True))
    return -math.fsum(math.log(beliefs[slot][words[slot]]) for slot in slots)
