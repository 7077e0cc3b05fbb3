"""Skip-gram with negative sampling as matrix factorization (Levy and Goldberg 2014), computed exactly for a world.

The optimum is the shifted PMI of the world's word–context pairs, under word2vec's smoothed noise distribution and
randomly shrunk windows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Self

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from plmlab import world
from plmlab.layers.sampled_softmax import noise_distribution
from plmlab.vectors import WordVectors
from plmlab.world import World
from plmlab.world.probability.cooccurrence import cooccurrence, shrinking, word_counts

WINDOW, NEGATIVES = 5, 5
Factors = tuple[Float[Tensor, "word model"], Float[Tensor, "word model"]]
"""The word vectors w and the context vectors c."""


@dataclass(frozen=True)
class PairLoss:
    """Expected loss of skip-gram with negative sampling (that is, the loss on infinite text), as a function of the
    scores w·c of all pairs.

    ``joint`` is P(w, c), the probability of a pair among all positive pairs; ``negative`` is k P(w) q(c), the expected
    number of times that the pair is sampled as a negative per positive pair. Both are float64.
    """

    words: tuple[str, ...]
    joint: Float[Tensor, "word context"]
    negative: Float[Tensor, "word context"]

    @classmethod
    def of(cls, whole: World, *, window: int = WINDOW, negatives: int = NEGATIVES) -> Self:
        """Compute the loss for a world's grammar, with no sentences held out."""
        automaton = whole.automaton()
        words = tuple(automaton.vocabulary)
        pairs = torch.from_numpy(cooccurrence(automaton, words, shrinking(window)))
        noise = noise_distribution(torch.from_numpy(word_counts(automaton, words)))
        joint = pairs / pairs.sum()
        return cls(words, joint, negatives * joint.sum(1, keepdim=True) * noise)

    @cached_property
    def occurs(self) -> Bool[Tensor, "word context"]:
        """Mask of the word–context pairs with non-zero probability."""
        return self.joint > 0

    @cached_property
    def optimum(self) -> Float[Tensor, "word context"]:
        """The scores that minimise the loss, log(P(w, c) / (k P(w) q(c))), which is the PMI shifted by log k; −∞ for a
        pair with probability 0."""
        return (self.joint / self.negative).log()

    def table(self, *, positive: bool) -> Float[Tensor, "word context"]:
        """``optimum``, with 0 for pairs with probability 0; with ``positive``, negative scores are also set to 0."""
        matrix = torch.where(self.occurs, self.optimum, 0.0)
        return matrix.clamp(min=0) if positive else matrix

    @cached_property
    def floor(self) -> float:
        """The minimum loss, in nats per pair; ``optimum`` attains it."""
        return self(self.optimum.clamp(min=-1e3))

    def __call__(self, scores: Float[Tensor, "word context"]) -> float:
        """Mean loss of ``scores``, in nats per pair."""
        return self.mean(scores.double()).item()

    def mean(self, scores: Float[Tensor, "word context"]) -> Float[Tensor, ""]:
        """Mean loss as a differentiable tensor, in the precision of ``scores``."""
        joint, negative = (matrix.to(scores.dtype) for matrix in (self.joint, self.negative))
        return (joint * F.softplus(-scores)).sum() + (negative * F.softplus(scores)).sum()

    def above(self, scores: Float[Tensor, "word context"]) -> float:
        """Relative excess loss of ``scores`` over the lowest possible loss (0.05 means 5 %)."""
        return self(scores) / self.floor - 1

    def distance(self, scores: Float[Tensor, "word context"]) -> float:
        """Root mean squared distance to ``optimum`` in nats, over the pairs with non-zero probability, weighted by the
        probability."""
        error = torch.where(self.occurs, scores.double() - self.optimum, 0.0)
        return (self.joint * error ** 2).sum().sqrt().item()


@cache
def pair_loss(name: str, negatives: int = NEGATIVES) -> PairLoss:
    """Return the loss for the "small" or the "full" world (cached)."""
    return PairLoss.of({"small": world.small, "full": world.full}[name](), negatives=negatives)


def minimise_exact(loss: PairLoss, size: int, *, steps: int, lr: float, seed: int) -> Factors:
    """Minimise the exact loss over vectors of dimension ``size``, which corresponds to skip-gram on infinite text,
    without sampling.

    Uses Adam with a learning rate that decays linearly to a thousandth of ``lr``.
    """
    rng = torch.Generator().manual_seed(seed)
    factors = [(torch.rand(len(loss.words), size, generator=rng) - 0.5) / size,
               torch.randn(len(loss.words), size, generator=rng) * 0.01]
    words, contexts = (factor.requires_grad_() for factor in factors)
    single = PairLoss(loss.words, loss.joint.float(), loss.negative.float())
    optimizer = torch.optim.Adam([words, contexts], lr=lr, fused=True)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 1e-3, steps)
    for _ in range(steps):
        optimizer.zero_grad()
        single.mean(words @ contexts.T).backward()
        optimizer.step()
        schedule.step()
    return words.detach(), contexts.detach()


def minimise_with_negatives(loss: PairLoss, share: float, size: int, *, steps: int, lr: float, seed: int,
                            ) -> dict[str, float]:
    """Minimise the exact loss with a fraction ``share`` of its negative pairs.

    Returns the ``loss``; the mean ``cosine`` between different words; and ``accepted``, the fraction of the pairs with
    probability 0 that nevertheless have a score above 0.
    """
    changed = PairLoss(loss.words, loss.joint, loss.negative * share)
    factors = minimise_exact(changed, size, steps=steps, lr=lr, seed=seed)
    unit, pair_scores = F.normalize(factors[0], dim=-1), scores(factors)
    cosine = (unit @ unit.T)[~torch.eye(len(unit), dtype=torch.bool)].mean().item()
    accepted = (pair_scores[~loss.occurs] > 0).double().mean().item()
    return {"loss": changed(pair_scores), "cosine": cosine, "accepted": accepted}


def filled_svd_above(loss: PairLoss, fill: float, sizes: Sequence[int]) -> dict[int, float]:
    """Dimension → relative excess loss of the truncated SVD of the shifted PMI matrix with ``fill`` instead of −∞."""
    left, values, right = torch.linalg.svd(torch.where(loss.occurs, loss.optimum, fill), full_matrices=False)
    return {size: loss.above((left[:, :size] * values[:size]) @ right[:size]) for size in sizes}


def truncated_svd(loss: PairLoss, size: int, *, positive: bool = True) -> Factors:
    """Factors from the truncated SVD of the shifted positive PMI, with singular values split evenly between words and
    contexts (Levy and Goldberg 2014, §4.2).

    With ``positive=False``, the matrix is the shifted PMI, with 0 for pairs that never co-occur.
    """
    left, values, right = torch.linalg.svd(loss.table(positive=positive), full_matrices=False)
    root = values[:size].sqrt()
    return left[:, :size] * root, right[:size].T * root


def scores(factors: Factors) -> Float[Tensor, "word context"]:
    """Scores w·c of all word–context pairs."""
    words, contexts = factors
    return words @ contexts.T


def factors_of(loss: PairLoss, words: WordVectors, contexts: WordVectors) -> Factors:
    """Factors from trained vectors, in the word order of ``loss``; zeros for words without a vector."""
    def table(vectors: WordVectors) -> Tensor:
        rows = torch.zeros(len(loss.words), vectors.matrix.shape[1])
        for i, word in enumerate(loss.words):
            if word in vectors.row:
                rows[i] = vectors[word]
        return rows

    return table(words), table(contexts)
