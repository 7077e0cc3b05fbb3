"""What skip-gram with negative sampling factorises, exactly: the shifted PMI of a world's pairs, and the least loss
(Levy and Goldberg 2014), with word2vec's smoothed noise and shrinking window."""

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
"""The words' vectors w, and their vectors c as context words."""


@dataclass(frozen=True)
class PairLoss:
    """The loss of skip-gram with negative sampling over endless text, as a function of the scores w·c of all pairs.

    ``joint`` is P(w, c), the chance of a pair among all pairs; ``refused`` how often it is drawn as a negative for each
    real pair, k P(w) q(c). Both in double precision.
    """

    words: tuple[str, ...]
    joint: Float[Tensor, "word context"]
    refused: Float[Tensor, "word context"]

    @classmethod
    def of(cls, whole: World, *, window: int = WINDOW, negatives: int = NEGATIVES) -> Self:
        """That of a world's training grammar, no sentence kept apart."""
        automaton = whole.automaton()
        words = tuple(automaton.vocabulary)
        pairs = torch.from_numpy(cooccurrence(automaton, words, shrinking(window)))
        noise = noise_distribution(torch.from_numpy(word_counts(automaton, words)))
        joint = pairs / pairs.sum()
        return cls(words, joint, negatives * joint.sum(1, keepdim=True) * noise)

    @cached_property
    def occurs(self) -> Bool[Tensor, "word context"]:
        """The pairs that some sentence holds."""
        return self.joint > 0

    @cached_property
    def best(self) -> Float[Tensor, "word context"]:
        """The scores of least loss, log P(w, c) / (k P(w) q(c)): the PMI, shifted by log k; −∞ for a pair that never
        occurs."""
        return (self.joint / self.refused).log()

    def table(self, *, positive: bool) -> Float[Tensor, "word context"]:
        """``best`` with 0 where a pair never occurs; ``positive``: with 0 in the place of negative scores, too."""
        found = torch.where(self.occurs, self.best, 0.0)
        return found.clamp(min=0) if positive else found

    @cached_property
    def floor(self) -> float:
        """The least loss, that of ``best``, in nats a pair."""
        return self(self.best.clamp(min=-1e3))

    def __call__(self, scores: Float[Tensor, "word context"]) -> float:
        """The mean loss of these scores, in nats a pair."""
        return self.mean(scores.double()).item()

    def mean(self, scores: Float[Tensor, "word context"]) -> Float[Tensor, ""]:
        """The same, in the scores' own precision and with their gradient."""
        joint, refused = (table.to(scores.dtype) for table in (self.joint, self.refused))
        return (joint * F.softplus(-scores)).sum() + (refused * F.softplus(scores)).sum()

    def above(self, scores: Float[Tensor, "word context"]) -> float:
        """How far the loss of these scores lies above the least, as a share of it."""
        return self(scores) / self.floor - 1

    def distance(self, scores: Float[Tensor, "word context"]) -> float:
        """The root of the mean squared distance to ``best``, in nats, each occurring pair weighed by its chance."""
        apart = torch.where(self.occurs, scores.double() - self.best, 0.0)
        return (self.joint * apart ** 2).sum().sqrt().item()


@cache
def pair_loss(name: str, negatives: int = NEGATIVES) -> PairLoss:
    """That of the "small" or the "full" world."""
    return PairLoss.of({"small": world.small, "full": world.full}[name](), negatives=negatives)


def descend(loss: PairLoss, size: int, *, steps: int, lr: float, seed: int) -> Factors:
    """Vectors of ``size`` numbers by gradient descent (Adam, the rate falling to 0) on the exact loss: skip-gram on
    endless text, without a draw."""
    drawn = torch.Generator().manual_seed(seed)
    factors = [(torch.rand(len(loss.words), size, generator=drawn) - 0.5) / size,
               torch.randn(len(loss.words), size, generator=drawn) * 0.01]
    words, contexts = (factor.requires_grad_() for factor in factors)
    rounded = PairLoss(loss.words, loss.joint.float(), loss.refused.float())
    optimizer = torch.optim.Adam([words, contexts], lr=lr, fused=True)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 1e-3, steps)
    for _ in range(steps):
        optimizer.zero_grad()
        rounded.mean(words @ contexts.T).backward()
        optimizer.step()
        falling.step()
    return words.detach(), contexts.detach()


def truncated_svd(loss: PairLoss, size: int, *, positive: bool = True) -> Factors:
    """The best ``size`` singular directions of the shifted positive PMI, shared out evenly between words and contexts
    (Levy and Goldberg 2014, §4.2); with ``positive=False`` of the shifted PMI with 0 where a pair never occurs."""
    left, values, right = torch.linalg.svd(loss.table(positive=positive), full_matrices=False)
    root = values[:size].sqrt()
    return left[:, :size] * root, right[:size].T * root


def scores(factors: Factors) -> Float[Tensor, "word context"]:
    """w·c of all pairs."""
    words, contexts = factors
    return words @ contexts.T


def factors_of(loss: PairLoss, words: WordVectors, contexts: WordVectors) -> Factors:
    """The factors that a sampled training has found, in the order of ``loss``; zeros for a word that it never read."""
    def table(vectors: WordVectors) -> Tensor:
        rows = torch.zeros(len(loss.words), vectors.matrix.shape[1])
        for i, word in enumerate(loss.words):
            if word in vectors.row:
                rows[i] = vectors[word]
        return rows

    return table(words), table(contexts)
