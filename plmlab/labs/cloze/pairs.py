"""Two positions that are believed apart, or together."""

from collections.abc import Mapping, Sequence
from math import fsum, log
from typing import TypeAlias

import torch
from torch import Tensor

from plmlab.labs.cloze.state import Crossed, Worst
from plmlab.labs.shared.beliefs import TOP, Labels
from plmlab.world.datasets.bayes_optimal import Distribution

CROSSED = 0.01
"""A word that no reader believes in more than this has no row or column in a table of pairs."""
SEARCHED = 64
"""How many words of each gap are looked through for the likeliest pair that no sentence has."""

HARDLY = 0.001
"""Impossible pairs that get less probability than this together are not spoken of."""
NEARLY = 0.02
"""A pair is spoken of only if the product gives it at least so much more than asking one word after the other does."""

Joint: TypeAlias = Mapping[tuple[int, int], float]
"""Two tokens together → their probability; what is not in it is impossible."""


def world_pair(one: Distribution, other: Distribution, joint: Joint, labels: Labels) -> Crossed:
    """What believing two words independently costs, against the joint probability of an exact reader.

    ``impossible`` is the probability that the model's product gives to pairs which no sentence has; ``unavoidable``
    what the product of the exact marginals gives to them; ``information`` the mutual information of the two positions,
    in nats (Shannon 1948), which is what the independence costs the best possible reader. ``worst`` is the pair to
    speak of, None where the gaps can be filled apart.
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
    """The pair that the product believes in most and no sentence has, of the likeliest words of both."""
    rows, columns = (list(zip(*map(Tensor.tolist, belief.topk(min(SEARCHED, len(belief)))), strict=True))
                     for belief in (one, other))
    p, a, b = max((p * q, a, b) for p, a in rows for q, b in columns if (a, b) not in joint)
    return {"words": labels([a, b]), "product": p, "together": 0.0}


def chained_pair(one: Distribution, other: Distribution, firsts: Sequence[int], seconds: Sequence[Distribution],
                 labels: Labels) -> Crossed:
    """What believing two words independently costs, against the model asked one after the other: p(a) · p(b | a).

    ``seconds`` are its distributions of b, once each of the words ``firsts`` stands in the first gap. The dict has the
    keys of `world_pair`; what needs an exact reader is None.
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
    """The tokens that any of some readers holds likeliest, in that order: 2 to 8 of them, and no rare third one."""
    top = torch.stack(beliefs).amax(0).topk(min(TOP, len(beliefs[0])))
    return [id for rank, (p, id) in enumerate(zip(*map(Tensor.tolist, top), strict=True)) if p >= CROSSED or rank < 2]
