"""Skip-gram trained by sampling, with our implementation and with gensim, as a function of the number of training
sentences."""

from typing import Any

from plmlab.chapters.ch02.factorisation import NEGATIVES, WINDOW
from plmlab.chapters.ch02.judging import answers_spread
from plmlab.chapters.ch02.sampling import SIZE, sampled
from plmlab.chapters.ch02.trainers import TRAINERS
from plmlab.recipes import Parts, seed_summary, tune_learning_rates

SEEDS, PILOTS = (0, 1, 2), (8, 9)
SENTENCES = (10_000, 40_000, 160_000, 640_000)
"""Numbers of training sentences; one epoch each."""
RATES = {"ours": (0.01, 0.03, 0.1), "gensim": (0.01, 0.03, 0.1)}


def closeness(who: str, count: int, rate: float, seed: int) -> float:
    """Score of a learning rate: the negative relative excess of the exact loss over its minimum."""
    return -sampled(who, count, rate, seed)["above"]


def measure(parts: Parts) -> dict[str, Any]:
    """Trainer → number of sentences → the learning rate, the scores of all rates tried, and the results of three
    seeds."""
    arms = [(who, count) for who in TRAINERS for count in SENTENCES]
    best = tune_learning_rates(parts, closeness, PILOTS, {arm: RATES[arm[0]] for arm in arms})
    runs = parts(sampled, [(*arm, best[arm][0], seed) for arm in arms for seed in SEEDS])
    results: dict[str, Any] = {"size": SIZE, "window": WINDOW, "negatives": NEGATIVES}
    for (who, count), (rate, tried) in best.items():
        by_seed = {seed: runs[who, count, rate, seed] for seed in SEEDS}
        results.setdefault(who, {})[str(count)] = {
            "lr": rate, "tried": {str(other): -score for other, score in tried.items()},
            **{name: seed_summary({seed: run[name] for seed, run in by_seed.items()})
               for name in ("above", "distance", "kin")},
            "answers": answers_spread({seed: run["answers"] for seed, run in by_seed.items()}),
        }
    return results
