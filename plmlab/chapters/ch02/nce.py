"""Exact gradients of noise-contrastive estimation (NCE) and of maximum likelihood (Mnih and Teh 2012)."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.chapters.ch02.factorisation import PairLoss

Factor = Literal["per word", "mean over words"]


def loss_gradients(scores: Float[Tensor, "word context"], given: Float[Tensor, "word context"],
                   noise: Float[Tensor, "word"], k: int, factor: Factor = "per word",
               ) -> tuple[Float[Tensor, "word context"], Float[Tensor, "word context"]]:
    """Gradients of the log-likelihood and of the NCE objective (times k + 1) with respect to the scores.

    ``scores`` are log u, the unnormalized log-probability of each context word given each word; ``given`` is P(c | w),
    and ``noise`` is q. The gradient of maximum likelihood is P − u/Z. The gradient of NCE is k q / (k q + u) · (P − u),
    where the fraction weights each context word; ``factor="mean over words"`` replaces these weights by their mean
    under the noise distribution.
    """
    u = scores.exp()
    likelihood = given - scores.softmax(-1)
    weight = k * noise / (k * noise + u)
    if factor == "mean over words":
        weight = (weight * noise).sum(-1, keepdim=True).expand_as(weight)
    return likelihood, weight * (given - u)


def softmax_summary(loss: PairLoss, scores: Float[Tensor, "word context"]) -> tuple[float, float]:
    """The median over words of Z, the sum of all u; and the loss of the scores read as a softmax, in nats."""
    z, log_probability = scores.double().exp().sum(1).median(), scores.double().log_softmax(-1)
    return z.item(), -(loss.joint * log_probability).sum().item()


def angle(loss: PairLoss, size: int, k: int, *, mass: float = 1.0, factor: Factor = "per word", seed: int = 0,
          ) -> float:
    """Angle in degrees between the two gradients, taken with respect to random word and context vectors of dimension
    ``size``.

    The scores for each word are shifted so that Z, the sum of all u, equals ``mass``.
    """
    rng = torch.Generator().manual_seed(seed)
    words, contexts = (torch.randn(len(loss.words), size, generator=rng, dtype=torch.float64) * 0.5 for _ in "wc")
    raw = words @ contexts.T
    p_word = loss.joint.sum(1, keepdim=True)
    noise = loss.negative[0] / loss.negative[0].sum()
    gradients = loss_gradients(raw - raw.logsumexp(-1, keepdim=True) + torch.tensor(mass).log(), loss.joint / p_word,
                               noise,
                               k, factor)
    one, other = (torch.cat([((p_word * gradient) @ contexts).flatten(),
                             ((p_word * gradient).T @ words).flatten()]) for gradient in gradients)
    return torch.rad2deg(torch.arccos((one @ other / (one.norm() * other.norm())).clamp(-1, 1))).item()
