"""What a small dimension costs: the exact loss minimised with so many numbers a word, beside truncated SVD."""

from typing import Any

import torch
from torch import Tensor

from plmlab.chapters.ch02.factorisation import (
    NEGATIVES,
    Factors,
    PairLoss,
    descend,
    pair_loss,
    scores,
    truncated_svd,
)
from plmlab.chapters.ch02.judging import answers_spread, kin_share, world_answers
from plmlab.recipes import Parts, seed_summary, tune_learning_rates
from plmlab.vectors import WordVectors

SEEDS, PILOTS = (0, 1, 2), (8, 9)
SIZES = (5, 10, 20, 50, 100, 200)
RATES = (0.03, 0.1, 0.3)
PILOT_STEPS, STEPS, LONGER = 300, 1500, 4500
LONG_SIZE = 20
"""The size that is also minimised for longer, to see whether it had come to rest."""
SHIFTS = (1, 5, 15)
"""The numbers of negatives of Levy and Goldberg's table 1."""


def minimised(size: int, steps: int, rate: float, seed: int) -> dict[str, Any]:
    """One descent: how far its loss lies ``above`` the least, and what its vectors are worth."""
    return told(pair_loss("full"), descend(pair_loss("full"), size, steps=steps, lr=rate, seed=seed))


def told(loss: PairLoss, factors: Factors) -> dict[str, Any]:
    """``above`` and ``distance`` of some factors; ``never``, the mean score of the pairs that never occur, each weighed
    as often as it is refused; and what the words' vectors are worth."""
    found = scores(factors)
    vectors = WordVectors(loss.words, factors[0].float())
    return {"above": loss.above(found), "distance": loss.distance(found), "never": never(loss, found),
            "answers": world_answers(vectors), "kin": kin_share(vectors)[0]}


def never(loss: PairLoss, found: Tensor) -> float:
    """The mean score of the pairs that never occur, each weighed as often as it is refused."""
    weight = torch.where(loss.occurs, 0.0, loss.refused)
    return ((weight * found.double()).sum() / weight.sum()).item()


def falls_short(size: int, rate: float, seed: int) -> float:
    """What a learning rate is judged by, the higher the better: minus how far the loss lies above the least."""
    return -minimised(size, PILOT_STEPS, rate, seed)["above"]


def svd(size: int, positive: bool) -> dict[str, Any]:
    """The same of truncated SVD."""
    return told(pair_loss("full"), truncated_svd(pair_loss("full"), size, positive=positive))


def svd_above(size: int, negatives: int) -> float:
    """How far the loss of truncated SVD lies above the least with so many negatives; size 0 is no truncation."""
    loss = pair_loss("full", negatives)
    return loss.above(scores(truncated_svd(loss, size)) if size else loss.table(positive=True))


def rows(positive: bool) -> dict[str, Any]:
    """What the rows of the table itself are worth as vectors, as long as the vocabulary."""
    loss = pair_loss("full")
    vectors = WordVectors(loss.words, loss.table(positive=positive).float())
    return {"answers": world_answers(vectors), "kin": kin_share(vectors)[0]}


def measure(parts: Parts) -> dict[str, Any]:
    """Size → the figures of the descent with three seeds, and of truncated SVD."""
    best = tune_learning_rates(parts, falls_short, PILOTS, {(size,): RATES for size in SIZES})
    runs = parts(minimised, [(size, STEPS, best[size,][0], seed) for size in SIZES for seed in SEEDS])
    longer = parts(minimised, [(LONG_SIZE, LONGER, best[LONG_SIZE,][0], SEEDS[0])])
    cut = parts(svd, [(size, positive) for size in SIZES for positive in (True, False)])
    shifted = parts(svd_above, [(size, negatives) for size in (0, *SIZES) for negatives in SHIFTS])
    whole = parts(rows, [(True,), (False,)])
    loss = pair_loss("full")
    return {
        "words": len(loss.words), "negatives": NEGATIVES, "steps": STEPS, "floor": loss.floor,
        "occurring": loss.occurs.double().mean().item(),
        "refused that occur": (loss.refused[loss.occurs].sum() / loss.refused.sum()).item(),
        "longer": {"size": LONG_SIZE, "steps": LONGER, "above": next(iter(longer.values()))["above"]},
        "descent": {str(size): {
            "lr": rate, "tried": {str(one): -score for one, score in tried.items()},
            **{name: seed_summary({seed: runs[size, STEPS, rate, seed][name] for seed in SEEDS})
               for name in ("above", "distance", "never", "kin")},
            "answers": answers_spread({seed: runs[size, STEPS, rate, seed]["answers"] for seed in SEEDS}),
        } for (size,), (rate, tried) in best.items()},
        "svd": {"positive" if positive else "zeros": {str(size): cut[size, positive] for size in SIZES}
                for positive in (True, False)},
        "svd above": {str(negatives): {str(size): shifted[size, negatives] for size in (0, *SIZES)}
                      for negatives in SHIFTS},
        "rows": {"positive": whole[True,], "zeros": whole[False,]},
    }
