"""Skip-gram trained by sampling, with our implementation and with gensim on the same text: the distance from the exact
minimum."""

from functools import cache
from itertools import islice
from typing import Any

from plmlab import world
from plmlab.chapters.ch02.factorisation import factors_of, pair_loss, scores
from plmlab.chapters.ch02.judging import same_category_rate, world_answers
from plmlab.chapters.ch02.trainers import TRAINERS
from plmlab.world.datasets.word_kinds import free_sentences

SIZE = 50


@cache
def text(count: int, seed: int) -> list[list[str]]:
    """``count`` random sentences of the full world, with no sentences held out (cached)."""
    return list(islice(free_sentences(world.full(), seed), count))


def sampled(who: str, count: int, rate: float, seed: int) -> dict[str, Any]:
    """Train once and evaluate: the relative excess of the exact loss (``above``), the ``distance`` to the shifted PMI,
    the ``answers`` to analogies, and the fraction of neighbours of the same category (``kin``)."""
    words, contexts = TRAINERS[who](text(count, seed), rate, seed, size=SIZE)
    pair_scores = scores(factors_of(pair_loss("full"), words, contexts))
    return {"above": pair_loss("full").above(pair_scores), "distance": pair_loss("full").distance(pair_scores),
            "answers": world_answers(words), "kin": same_category_rate(words)[0]}
