"""Effect of the embedding dimension: the minimum of the exact loss for each dimension, compared with truncated SVD."""

from typing import Any

import torch
from torch import Tensor

from plmlab.chapters.ch02.factorisation import (
    NEGATIVES,
    Factors,
    PairLoss,
    minimise_exact,
    pair_loss,
    scores,
    truncated_svd,
)
from plmlab.chapters.ch02.judging import answers_spread, same_category_rate, world_answers
from plmlab.recipes import Parts, seed_summary, tune_learning_rates
from plmlab.vectors import WordVectors

SEEDS, PILOTS = (0, 1, 2), (8, 9)
SIZES = (5, 10, 20, 50, 100, 200)
RATES = (0.03, 0.1, 0.3)
PILOT_STEPS, STEPS, LONGER = 300, 1500, 4500
LONG_SIZE = 20
"""The dimension that is also trained for longer, to check convergence."""
SHIFTS = (1, 5, 15)
"""Numbers of negative samples, as in Levy and Goldberg's table 1."""


def minimised(size: int, steps: int, rate: float, seed: int) -> dict[str, Any]:
    """Run gradient descent once on the exact loss and evaluate the factors with `evaluate`."""
    return evaluate(pair_loss("full"), minimise_exact(pair_loss("full"), size, steps=steps, lr=rate, seed=seed))


def evaluate(loss: PairLoss, factors: Factors) -> dict[str, Any]:
    """Evaluate factors: the relative excess loss (``above``); the ``distance`` to the shifted PMI; the mean score of
    the pairs that never occur (``never``); and the ``answers`` and ``kin`` of the word vectors."""
    pair_scores = scores(factors)
    vectors = WordVectors(loss.words, factors[0].float())
    return {"above": loss.above(pair_scores), "distance": loss.distance(pair_scores), "never": never(loss, pair_scores),
            "answers": world_answers(vectors), "kin": same_category_rate(vectors)[0]}


def never(loss: PairLoss, pair_scores: Tensor) -> float:
    """Mean score of the pairs that never occur, weighted by their expected frequency as negative samples."""
    weight = torch.where(loss.occurs, 0.0, loss.negative)
    return ((weight * pair_scores.double()).sum() / weight.sum()).item()


def falls_short(size: int, rate: float, seed: int) -> float:
    """Score of a learning rate (higher is better): the negative relative excess loss."""
    return -minimised(size, PILOT_STEPS, rate, seed)["above"]


def svd(size: int, positive: bool) -> dict[str, Any]:
    """Evaluate the factors of truncated SVD with `evaluate`."""
    return evaluate(pair_loss("full"), truncated_svd(pair_loss("full"), size, positive=positive))


def svd_above(size: int, negatives: int) -> float:
    """Relative excess loss of truncated SVD for this number of negative samples; a ``size`` of 0 means no
    truncation."""
    loss = pair_loss("full", negatives)
    return loss.above(scores(truncated_svd(loss, size)) if size else loss.table(positive=True))


def rows(positive: bool) -> dict[str, Any]:
    """Evaluate the rows of the shifted PMI matrix as word vectors, whose dimension is the vocabulary size."""
    loss = pair_loss("full")
    vectors = WordVectors(loss.words, loss.table(positive=positive).float())
    return {"answers": world_answers(vectors), "kin": same_category_rate(vectors)[0]}


def measure(parts: Parts) -> dict[str, Any]:
    """Dimension → results of gradient descent for three seeds, and of truncated SVD."""
    best = tune_learning_rates(parts, falls_short, PILOTS, {(size,): RATES for size in SIZES})
    runs = parts(minimised, [(size, STEPS, best[size,][0], seed) for size in SIZES for seed in SEEDS])
    longer = parts(minimised, [(LONG_SIZE, LONGER, best[LONG_SIZE,][0], SEEDS[0])])
    cut = parts(svd, [(size, positive) for size in SIZES for positive in (True, False)])
    shifted = parts(svd_above, [(size, negatives) for size in (0, *SIZES) for negatives in SHIFTS])
    matrix_rows = parts(rows, [(True,), (False,)])
    loss = pair_loss("full")
    return {
        "words": len(loss.words), "negatives": NEGATIVES, "steps": STEPS, "floor": loss.floor,
        "occurring": loss.occurs.double().mean().item(),
        "negatives that occur": (loss.negative[loss.occurs].sum() / loss.negative.sum()).item(),
        "longer": {"size": LONG_SIZE, "steps": LONGER, "above": next(iter(longer.values()))["above"]},
        "descent": {str(size): {
            "lr": rate, "tried": {str(other): -score for other, score in tried.items()},
            **{name: seed_summary({seed: runs[size, STEPS, rate, seed][name] for seed in SEEDS})
               for name in ("above", "distance", "never", "kin")},
            "answers": answers_spread({seed: runs[size, STEPS, rate, seed]["answers"] for seed in SEEDS}),
        } for (size,), (rate, tried) in best.items()},
        "svd": {"positive" if positive else "zeros": {str(size): cut[size, positive] for size in SIZES}
                for positive in (True, False)},
        "svd above": {str(negatives): {str(size): shifted[size, negatives] for size in (0, *SIZES)}
                      for negatives in SHIFTS},
        "rows": {"positive": matrix_rows[True,], "zeros": matrix_rows[False,]},
    }
