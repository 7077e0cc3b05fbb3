"""Compare two distributions over the token at a position: those of a model and of the Bayes-optimal predictor."""

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypedDict

import torch
from torch import Tensor

from plmlab.interpret.distances import kl_divergence
from plmlab.world.datasets.bayes_optimal import Distribution

TOP = 8
"""Number of most probable tokens shown."""
LEAST = 1e-300
"""Lower bound on probabilities, which keeps surprisals finite."""

Labels: TypeAlias = Callable[[Sequence[int]], list[str]]


class Row(TypedDict):
    """A token with its probability under the model (``p``) and under the Bayes-optimal predictor (``best``), either of
    which is None if unknown; ``own`` marks the true token."""

    word: str
    p: float | None
    best: float | None
    own: bool


class Own(TypedDict):
    """The model's prediction for the true token: its ``rank`` among ``of`` tokens and its surprisal in ``nats``."""

    p: float
    rank: int
    nats: float
    of: int
    best: float | None


class BeliefState(TypedDict):
    """The distributions at one position, as returned by `belief_state`."""

    rows: list[Row]
    own: Own | None
    kl: float | None


def surprisal(p: float | Tensor) -> Tensor:
    """−log p in nats; p is clamped to at least 1e-300, so the result is finite even for p = 0."""
    return -torch.as_tensor(p, dtype=torch.float64).clamp_min(LEAST).log()


def share(p: float) -> str:
    """Format a probability as a percentage, such as "25 %", with three significant digits if it is below 0.1 or close
    to 1."""
    return f"{100 * p:.0f} %" if 0.0995 <= p <= 0.995 else f"{100 * p:.3g} %"


def divergence(best: Distribution, model: Distribution) -> float:
    """KL(best ‖ model) in nats: the model's expected excess loss over the Bayes-optimal predictor at this position."""
    return float(kl_divergence(best, model.clamp_min(LEAST)))


def belief_state(belief: Distribution, best: Distribution | None, true: int | None, labels: Labels) -> BeliefState:
    """The most probable tokens under either distribution and the true token, sorted by the model's probability; for
    JavaScript.

    ``rows`` gives both probabilities of each token. ``own`` describes the true token by its rank (1 for the most
    probable token), probability and surprisal in nats; it is None if there is no true token. ``kl`` is the
    `divergence`; it is None if ``best`` is None.
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
