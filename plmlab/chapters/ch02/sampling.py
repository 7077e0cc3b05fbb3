"""Skip-gram as it is trained, from draws: how near it comes to the exact minimum, beside gensim on the same text."""

from functools import cache
from itertools import islice
from typing import Any

from plmlab import world
from plmlab.chapters.ch02.factorisation import factors_of, pair_loss, scores
from plmlab.chapters.ch02.judging import kin_share, world_answers
from plmlab.chapters.ch02.trainers import TRAINERS
from plmlab.world.datasets.word_kinds import free_sentences

SIZE = 50


@cache
def text(count: int, seed: int) -> list[list[str]]:
    """So many sentences of the full world, none kept apart."""
    return list(islice(free_sentences(world.full(), seed), count))


def sampled(who: str, count: int, rate: float, seed: int) -> dict[str, Any]:
    """One training: how far its exact loss lies ``above`` the least, its ``distance`` to the shifted PMI, and what its
    vectors are worth."""
    words, contexts = TRAINERS[who](text(count, seed), rate, seed, size=SIZE)
    found = scores(factors_of(pair_loss("full"), words, contexts))
    return {"above": pair_loss("full").above(found), "distance": pair_loss("full").distance(found),
            "answers": world_answers(words), "kin": kin_share(words)[0]}
