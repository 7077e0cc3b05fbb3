"""Skip-gram as it is trained, from draws: how near it comes to the exact minimum, beside gensim on the same text."""

from functools import cache
from itertools import islice
from typing import Any

from plmlab import world
from plmlab.chapters.ch02.factorisation import NEGATIVES, WINDOW, factors_of, pair_loss, scores
from plmlab.chapters.ch02.judging import answers_spread, kin_share, world_answers
from plmlab.chapters.ch02.trainers import TRAINERS
from plmlab.recipes import Parts, best_rates, spread
from plmlab.world.datasets.word_kinds import free_sentences

SEEDS, PILOTS = (0, 1, 2), (8, 9)
SENTENCES = (10_000, 40_000, 160_000, 640_000)
"""How many sentences are read, each once."""
SIZE = 50
RATES = {"ours": (0.01, 0.03, 0.1), "gensim": (0.01, 0.03, 0.1)}


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


def closeness(who: str, count: int, rate: float, seed: int) -> float:
    """What a learning rate is judged by: minus how far the exact loss lies above the least."""
    return -sampled(who, count, rate, seed)["above"]


def measure(parts: Parts) -> dict[str, Any]:
    """Who → sentences read → the learning rate, what the others came to, and the figures of three seeds."""
    arms = [(who, count) for who in TRAINERS for count in SENTENCES]
    best = best_rates(parts, closeness, PILOTS, {arm: RATES[arm[0]] for arm in arms})
    runs = parts(sampled, [(*arm, best[arm][0], seed) for arm in arms for seed in SEEDS])
    told: dict[str, Any] = {"size": SIZE, "window": WINDOW, "negatives": NEGATIVES}
    for (who, count), (rate, tried) in best.items():
        done = {seed: runs[who, count, rate, seed] for seed in SEEDS}
        told.setdefault(who, {})[str(count)] = {
            "lr": rate, "tried": {str(one): -score for one, score in tried.items()},
            **{name: spread({seed: run[name] for seed, run in done.items()}) for name in ("above", "distance", "kin")},
            "answers": answers_spread({seed: run["answers"] for seed, run in done.items()}),
        }
    return told
