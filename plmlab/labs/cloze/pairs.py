"""Two masked words predicted independently, compared with their joint probability."""

from collections.abc import Mapping, Sequence
from math import fsum, log
from typing import TypeAlias

import torch
from torch import Tensor

from plmlab.labs.cloze.state import Crossed, Worst
from plmlab.labs.shared.beliefs import TOP, Labels
from plmlab.world.datasets.bayes_optimal import Distribution

CROSSED = 0.01
"""A word whose predicted probabilities are all below this has no row or column in a table of pairs."""
SEARCHED = 64
"""The number of words per mask searched for the most likely impossible pair."""

HARDLY = 0.001
"""Impossible pairs with less total probability than this are not mentioned."""
NEARLY = 0.02
"""A pair is mentioned only if its product exceeds its sequential probability by at least this much."""

Joint: TypeAlias = Mapping[tuple[int, int], float]
"""Pair of tokens → joint probability; pairs that are missing are impossible."""


def world_pair(one: Distribution, other: Distribution, joint: Joint, labels: Labels) -> Crossed:
    """Compare the product of two independent predictions with the exact joint posterior.

    ``impossible`` is the probability that the model's product assigns to pairs that occur in no sentence;
    ``unavoidable`` is the probability that the product of the exact marginals assigns to them; ``information`` is the
    mutual information of the two words in nats (Shannon 1948), which is the excess loss of the Bayes-optimal predictor
    due to independence. ``worst`` is the impossible pair to mention, or None if the masks can be filled independently.
    """
    marginals = torch.zeros_like(one), torch.zeros_like(other)
    for words, p in joint.items():
        for marginal, word in zip(marginals, words, strict=True):
            marginal[word] += p
    apart = {(a, b): float(marginals[0][a] * marginals[1][b]) for a, b in joint}
    rows, columns = likeliest(one, marginals[0]), likeliest(other, marginals[1])
    impossible = max(0.0, 1 - fsum(float(one[a] * other[b]) for a, b in joint))
    return {
        "kind": "world", "rows": labels(rows), "columns": labels(columns),
        "product": torch.outer(one[rows], other[columns]).tolist(),
        "together": [[joint.get((a, b), 0.0) for b in columns] for a in rows],
        "worst": None if impossible < HARDLY else _impossible_pair(one, other, joint, labels),
        "impossible": impossible,
        "unavoidable": max(0.0, 1 - fsum(apart.values())),
        "information": max(0.0, fsum(p * log(p / apart[words]) for words, p in joint.items())),
    }


def _impossible_pair(one: Distribution, other: Distribution, joint: Joint, labels: Labels) -> Worst:
    """The impossible pair with the largest product, among the most probable words of both distributions."""
    rows, columns = (list(zip(*map(Tensor.tolist, belief.topk(min(SEARCHED, len(belief)))), strict=True))
                     for belief in (one, other))
    p, a, b = max((p * q, a, b) for p, a in rows for q, b in columns if (a, b) not in joint)
    return {"words": labels([a, b]), "product": p, "together": 0.0}


def chained_pair(one: Distribution, other: Distribution, firsts: Sequence[int], seconds: Sequence[Distribution],
                 labels: Labels) -> Crossed:
    """Compare the product of two independent predictions with the model's sequential prediction, p(a) · p(b | a).

    ``seconds`` holds the model's distributions of b, one for each of the words ``firsts`` filled in for a. The dict has
    the keys of `world_pair`; values that need an exact posterior are None.
    """
    chained = one[list(firsts)][:, None] * torch.stack(list(seconds))
    product = torch.outer(one[list(firsts)], other)
    columns = likeliest(other, chained.sum(0))
    row, column = divmod(int((product - chained).argmax()), len(other))
    apart, together = float(product[row, column]), float(chained[row, column])
    return {
        "kind": "chained", "rows": labels(firsts), "columns": labels(columns), "product": product[:, columns].tolist(),
        "together": chained[:, columns].tolist(), "impossible": None, "unavoidable": None, "information": None,
        "worst": None if apart - together < NEARLY
        else {"words": labels([firsts[row], column]), "product": apart, "together": together},
    }


def likeliest(*beliefs: Distribution) -> list[int]:
    """The most probable tokens under any of the distributions, in descending order: at least 2 and at most 8, with no
    rare tokens after the second."""
    top = torch.stack(beliefs).amax(0).topk(min(TOP, len(beliefs[0])))
    return [id for rank, (p, id) in enumerate(zip(*map(Tensor.tolist, top), strict=True)) if p >= CROSSED or rank < 2]
