"""A reader's predictions for one query, with its retrieved documents."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Self

from jaxtyping import Float
from torch import Tensor

from plmlab.retrieval.retrieved import Retrieved


@dataclass(frozen=True)
class Reading:
    """A reader's predictions for one query.

    ``retrieved`` holds the query's documents. ``answers`` are the most likely answers given each document, most likely
    overall first; ``likelihoods`` are p(y|z,x) of each answer given each document. The document scores are divided by
    ``temperature`` before the softmax."""

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
        """The documents' retrieval scores f(x, z)."""
        return self.retrieved.scores[0]

    @property
    def priors(self) -> Float[Tensor, "doc"]:
        """The retrieval distribution p(z|x)."""
        return self.retrieved.probs(self.temperature)[0]

    @property
    def marginals(self) -> Float[Tensor, "answer"]:
        """p(y|x) = Σ_z p(z|x) p(y|z,x) for each answer."""
        return self.priors @ self.likelihoods

    @property
    def best(self) -> tuple[tuple[int, ...], ...]:
        """The most likely answers: one per form of the marginal."""
        return self.answers[:1]

    def score_gradient(self, answer: int = 0) -> Float[Tensor, "doc"]:
        """r(z) = [p(y|z,x) / p(y|x) − 1] p(z|x) (§3.3), the gradient of log p(y|x) with respect to each document's
        score divided by the temperature."""
        return (self.likelihoods[:, answer] / self.marginals[answer] - 1) * self.priors


@dataclass(frozen=True)
class MemoryReading(Reading):
    """The predictions of a model that mixes the vectors that it retrieves, with the ``weights`` p(z|x), instead of the
    predictions from them: ``probs``, its p(y|x), is not Σ_z p(z|x) p(y|z,x).

    ``likelihoods`` are p(y|z,x) if the memory returns document z alone; ``gradients`` are those of log p(y|x) with
    respect to the scores divided by the temperature."""

    weights: Float[Tensor, "doc"]
    probs: Float[Tensor, "answer"]
    gradients: Float[Tensor, "answer doc"]

    @property
    def priors(self) -> Float[Tensor, "doc"]:
        """The retrieval distribution p(z|x); without a null document in the model, that of the null document is 0."""
        return self.weights

    @property
    def marginals(self) -> Float[Tensor, "answer"]:
        """p(y|x) for each answer."""
        return self.probs

    def score_gradient(self, answer: int = 0) -> Float[Tensor, "doc"]:
        """The gradient of log p(y|x) with respect to each document's score divided by the temperature."""
        return self.gradients[answer]


@dataclass(frozen=True)
class GeneratedAnswers(Reading):
    """A RAG's answers to one question, generated token by token.

    ``answers`` are without [END], ``likelihoods`` and ``marginals`` (RAG-Sequence's) include it. For each token of an
    answer, [END] last, and 0 after it: ``predictions`` are p(y_i|x,z,y_<i), ``posteriors`` RAG-Sequence's weights
    p(z|x,y_<i); RAG-Token's weights are the ``priors``. ``token_marginals`` are RAG-Token's p(y|x)."""

    predictions: Float[Tensor, "answer doc token"]
    posteriors: Float[Tensor, "answer doc token"]
    token_marginals: Float[Tensor, "answer"]

    def select(self, answers: Collection[tuple[int, ...]]) -> Self:
        """The same reading with only these of its answers."""
        rows = [row for row, answer in enumerate(self.answers) if answer in answers]
        return replace(self, answers=tuple(self.answers[row] for row in rows), likelihoods=self.likelihoods[:, rows],
                       predictions=self.predictions[rows], posteriors=self.posteriors[rows],
                       token_marginals=self.token_marginals[rows])

    @property
    def best(self) -> tuple[tuple[int, ...], ...]:
        """The most likely answers, by RAG-Sequence and by RAG-Token."""
        return self.answers[0], self.answers[int(self.token_marginals.argmax())]
