"""Late combination of a left-to-right and a right-to-left prediction, compared with joint bidirectional context.

All predictions are Bayes-optimal (`World.next_words`, `previous_words`, `World.posterior`), so that the excess loss of
late combination is not due to the errors of a model.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import islice
from math import exp, log
from typing import NamedTuple

from plmlab.world.probability.backwards import previous_words
from plmlab.world.world import World

COUNTED = 5000
"""Number of sentences for unigram counts."""


class Beliefs(NamedTuple):
    """A ``word`` and its predicted distributions (word → probability): given the ``left`` context, the ``right``
    context, ``both``, and without context (``usual``, the unigram distribution)."""

    word: str
    left: dict[str, float]
    right: dict[str, float]
    both: dict[str, float]
    usual: dict[str, float]


@cache
def frequencies(world: World) -> dict[str, float]:
    """Unigram probabilities of the training text with add-½ smoothing (cached)."""
    counts = Counter(word for words in islice(world.text("train", seed=43), COUNTED) for word in words)
    total = counts.total() + len(world.vocabulary) / 2
    return {word: (counts[word] + 0.5) / total for word in world.vocabulary}


def predictions(world: World, words: Sequence[str]) -> list[Beliefs]:
    """Bayes-optimal predictions for each word of a training-split sentence."""
    automaton = world.automaton("train")
    return [Beliefs(word, world.next_words(words[:index]), previous_words(automaton, words[index + 1:]),
                    world.posterior(words, {index})[0], frequencies(world)) for index, word in enumerate(words)]


def pooled(beliefs: Beliefs, left: float, right: float, usual: float) -> float:
    """Loss in nats of the log-linear combination p_left^left · p_right^right / p_unigram^usual, renormalized."""
    def score(word: str) -> float:
        return exp(left * log(beliefs.left[word]) + right * log(beliefs.right[word]) - usual * log(beliefs.usual[word]))

    return log(sum(score(word) for word in beliefs.left if word in beliefs.right)) - log(score(beliefs.word))
