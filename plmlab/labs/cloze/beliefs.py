"""What the Cloze Lab shows of beliefs: one slot of two readers, and two slots that are believed apart or together."""

from collections.abc import Callable, Mapping, Sequence
from math import fsum, log
from typing import Any, TypeAlias

import torch
from torch import Tensor

from plmlab.interpret.distances import kl_divergence
from plmlab.world.datasets.best_reader import Distribution

TOP = 8
LEAST = 1e-300
"""Below it a probability counts as this, so that its surprisal is a number."""
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
Labels: TypeAlias = Callable[[Sequence[int]], list[str]]


def surprisal(p: float | Tensor) -> Tensor:
    """−log p in nats; finite even where p is 0, which counts as 1e-300."""
    return -torch.as_tensor(p, dtype=torch.float64).clamp_min(LEAST).log()


def divergence(best: Distribution, model: Distribution) -> float:
    """KL(best ‖ model): how many nats more the model pays here than the best possible reader, on average."""
    return float(kl_divergence(best, model.clamp_min(LEAST)))


def belief_state(belief: Distribution, best: Distribution | None, true: int | None, labels: Labels) -> dict[str, Any]:
    """The likeliest words by either reader, the likelier for the model first, the true one among them; for JavaScript.

    Each of ``rows`` has the model's probability ``p`` and the ``best`` reader's. ``own`` tells of the true word: its
    rank (1 is the highest), probability and surprisal in nats; None where there is none. ``kl`` is the `divergence`,
    None without a best reader.
    """
    highest = belief if best is None else torch.maximum(belief, best)
    top = highest.topk(min(TOP, len(belief))).indices.tolist()
    top += [true] if true is not None and true not in top else []
    top.sort(key=lambda id: -float(belief[id]))
    rows = [{"word": word, "p": float(belief[id]), "best": None if best is None else float(best[id]),
             "own": id == true} for word, id in zip(labels(top), top, strict=True)]
    own = None
    if true is not None:
        own = {"p": float(belief[true]), "rank": int((belief > belief[true]).sum()) + 1,
               "nats": float(surprisal(belief[true])), "of": len(belief),
               "best": None if best is None else float(best[true])}
    return {"rows": rows, "own": own, "kl": None if best is None else divergence(best, belief)}


def world_pair(one: Distribution, other: Distribution, joint: Joint, labels: Labels) -> dict[str, Any]:
    """What believing two words independently costs, against the joint probability of an exact reader.

    ``impossible`` is the probability that the model's product gives to pairs which no sentence has; ``unavoidable``
    what the product of the exact marginals gives to them; ``information`` the mutual information of the two slots,
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


def _impossible_pair(one: Distribution, other: Distribution, joint: Joint, labels: Labels) -> dict[str, Any]:
    """The pair that the product believes in most and no sentence has, of the likeliest words of both."""
    rows, columns = (list(zip(*map(Tensor.tolist, belief.topk(min(SEARCHED, len(belief)))), strict=True))
                     for belief in (one, other))
    p, a, b = max((p * q, a, b) for p, a in rows for q, b in columns if (a, b) not in joint)
    return {"words": labels([a, b]), "product": p, "together": 0.0}


def chained_pair(one: Distribution, other: Distribution, firsts: Sequence[int], seconds: Sequence[Distribution],
                 labels: Labels) -> dict[str, Any]:
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
