"""What a reader makes of one statement with the documents that were retrieved for it."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from plmlab.retrieval.retrieved import Retrieved


@dataclass(frozen=True)
class Reading:
    """``retrieved`` has the documents of this one statement; ``answers`` are the likeliest answers with each document,
    the likeliest of all first; ``likelihoods`` are p(y|z,x) of each of these with each document. The scores of the
    documents are divided by the ``temperature`` before the softmax."""

    retrieved: Retrieved
    temperature: float
    answers: tuple[tuple[int, ...], ...]
    likelihoods: Float[Tensor, "doc answer"]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the documents."""
        return self.retrieved.lists()[0]

    @property
    def scores(self) -> Float[Tensor, "doc"]:
        """f(x, z)."""
        return self.retrieved.scores[0]

    @property
    def priors(self) -> Float[Tensor, "doc"]:
        """p(z|x)."""
        return self.retrieved.probs(self.temperature)[0]

    @property
    def marginals(self) -> Float[Tensor, "answer"]:
        """p(y|x) = Σ_z p(z|x) p(y|z,x) of each answer."""
        return self.priors @ self.likelihoods

    def score_gradient(self, answer: int = 0) -> Float[Tensor, "doc"]:
        """r(z) = [p(y|z,x) / p(y|x) − 1] p(z|x), the derivative of log p(y|x) for what the softmax is taken of (§3.3):
        each document's score, over the temperature."""
        return (self.likelihoods[:, answer] / self.marginals[answer] - 1) * self.priors
