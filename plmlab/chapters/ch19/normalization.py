"""The item *normalization*: do the weights sum to 1, and can they be negative or undefined?"""

from math import log

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.chapters.ch19.finding import NOTHING, Finding

TOLERANCE = 1e-5


def connected_weights(scores: Float[Tensor, "target source"], exp: bool = True) -> Float[Tensor, "target source"]:
    """§3.3, the second formula: tanh of the scores divided by Σ e. The symbol e is not defined there: it is the exp of
    the scores, or (``exp=False``) the scores themselves."""
    return scores.tanh() / (scores.exp() if exp else scores).sum(1, keepdim=True)


def sigmoid_of_softmax(scores: Float[Tensor, "target source"]) -> Float[Tensor, "target source"]:
    """§2.2.3: σ(softmax(scores)), which the loss uses as a probability."""
    return scores.softmax(1).sigmoid()


def is_distribution(weights: Float[Tensor, "*batch source"]) -> bool:
    """Whether every row is non-negative and sums to 1."""
    return bool((weights >= 0).all() and ((weights.sum(-1) - 1).abs() < TOLERANCE).all())


def described(weights: Float[Tensor, "*batch source"]) -> str:
    """The range of the row sums, and the smallest weight, or that some weights are NaN or infinite."""
    if not bool(weights.isfinite().all()):
        return "0/0 or x/0 in some rows"
    sums = weights.sum(-1)
    return f"sums {sums.min():.2f} to {sums.max():.2f}; smallest weight {weights.min():.2f}"


def check_weights(claim: str, weights: Float[Tensor, "*batch source"], repair: str = NOTHING, open: str = NOTHING,
                  ) -> Finding:
    """The finding on some weights that are claimed to be probabilities."""
    return Finding("normalization", claim, described(weights), is_distribution(weights), repair, open)


def bounded_loss() -> Finding:
    """The finding on the range of −log σ(w̃), where w̃ is a softmax, so that it is between 0 and 1."""
    low, high = (-log(float(torch.tensor(float(w)).sigmoid())) for w in (1, 0))
    return Finding("normalization", "§2.2.3, −log σ(w̃) is a cross-entropy",
                   f"between {low:.2f} and {high:.2f} nats for any model", False, "cross-entropy of the MLP's output")


def note_findings() -> list[Finding]:
    """The findings on the study note, for random scores and for scores of 0."""
    scores = 2 * torch.randn(4, 6, generator=torch.Generator().manual_seed(0))
    return [check_weights("§2.2.3, σ(softmax) is a probability", sigmoid_of_softmax(scores), "softmax alone"),
            bounded_loss(),
            check_weights("§3.3, tanh/Σ exp is normalized", connected_weights(scores), "softmax of the scores",
                          "which formula is meant by FCSoftmax"),
            check_weights("§3.3, tanh/Σ scores is normalized; scores of 0", connected_weights(0 * scores, exp=False),
                          "softmax of the scores"),
            check_weights("§3.1, softmax(e) over the keys", scores.abs().softmax(1))]
