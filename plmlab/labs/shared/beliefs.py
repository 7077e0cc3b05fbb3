"""What two readers believe of one position, a model and the best possible one, beside each other."""

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypedDict

import torch
from torch import Tensor

from plmlab.interpret.distances import kl_divergence
from plmlab.world.datasets.bayes_optimal import Distribution

TOP = 8
"""So many of the likeliest words are shown."""
LEAST = 1e-300
"""Below it a probability counts as this, so that its surprisal is a number."""

Labels: TypeAlias = Callable[[Sequence[int]], list[str]]


class Row(TypedDict):
    """A word and its probability for either reader, None where there is none; whether it is the true one (``own``)."""

    word: str
    p: float | None
    best: float | None
    own: bool


class Own(TypedDict):
    """What the model believes of the true word: ``rank`` among how many (``of``), surprisal in ``nats``."""

    p: float
    rank: int
    nats: float
    of: int
    best: float | None


class BeliefState(TypedDict):
    """One position, as `belief_state` describes it."""

    rows: list[Row]
    own: Own | None
    kl: float | None


def surprisal(p: float | Tensor) -> Tensor:
    """−log p in nats; finite even where p is 0, which counts as 1e-300."""
    return -torch.as_tensor(p, dtype=torch.float64).clamp_min(LEAST).log()


def share(p: float) -> str:
    """A probability as a percentage: "25 %"; three digits where it is below a tenth, or nearly 1."""
    return f"{100 * p:.0f} %" if 0.0995 <= p <= 0.995 else f"{100 * p:.3g} %"


def divergence(best: Distribution, model: Distribution) -> float:
    """KL(best ‖ model): how many nats more the model pays here than the best possible reader, on average."""
    return float(kl_divergence(best, model.clamp_min(LEAST)))


def belief_state(belief: Distribution, best: Distribution | None, true: int | None, labels: Labels) -> BeliefState:
    """The likeliest words by either reader, the likelier for the model first, the true one among them; for JavaScript.

    Each of ``rows`` has the model's probability ``p`` and the ``best`` reader's. ``own`` tells of the true word: its
    rank (1 is the highest), probability and surprisal in nats; None where there is none. ``kl`` is the `divergence`,
    None without a best reader.
    """
    highest = belief if best is None else torch.maximum(belief, best)
    top = highest.topk(min(TOP, len(belief))).indices.tolist()
    top += [true] if true is not None and true not in top else []
    top.sort(key=lambda id: -float(belief[id]))
    rows: list[Row] = [{"word": word, "p": float(belief[id]), "best": None if best is None else float(best[id]),
             "own": id == true} for word, id in zip(labels(top), top, strict=True)]
    own: Own | None = None
    if true is not None:
        own = {"p": float(belief[true]), "rank": int((belief > belief[true]).sum()) + 1,
               "nats": float(surprisal(belief[true])), "of": len(belief),
               "best": None if best is None else float(best[true])}
    return {"rows": rows, "own": own, "kl": None if best is None else divergence(best, belief)}
