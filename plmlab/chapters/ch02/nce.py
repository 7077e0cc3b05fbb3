"""The gradient of noise-contrastive estimation beside that of maximum likelihood, both exact (Mnih and Teh 2012)."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.chapters.ch02.factorisation import PairLoss

Factor = Literal["each word's", "one for all"]


def directions(scores: Float[Tensor, "word context"], given: Float[Tensor, "word context"],
               noise: Float[Tensor, "word"], k: int, factor: Factor = "each word's",
               ) -> tuple[Float[Tensor, "word context"], Float[Tensor, "word context"]]:
    """The gradients of both with respect to the scores, NCE's times k + 1.

    ``scores`` are log u, of each context word for each word; ``given`` are P(c | w), ``noise`` is q. That of maximum
    likelihood is P − u/Z; that of NCE k q / (k q + u) · (P − u), where the first factor belongs to each context word.
    ``"one for all"`` puts its mean over the noise before the sum.
    """
    u = scores.exp()
    likelihood = given - scores.softmax(-1)
    share = k * noise / (k * noise + u)
    if factor == "one for all":
        share = (share * noise).sum(-1, keepdim=True).expand_as(share)
    return likelihood, share * (given - u)


def angle(loss: PairLoss, size: int, k: int, *, mass: float = 1.0, factor: Factor = "each word's", seed: int = 0,
          ) -> float:
    """The angle in degrees between both gradients with respect to random vectors of ``size`` numbers, over all words.

    Scores are shifted, for each word, so that Z, the sum of all u, is ``mass``.
    """
    drawn = torch.Generator().manual_seed(seed)
    words, contexts = (torch.randn(len(loss.words), size, generator=drawn, dtype=torch.float64) * 0.5 for _ in "wc")
    raw = words @ contexts.T
    chance = loss.joint.sum(1, keepdim=True)
    noise = loss.refused[0] / loss.refused[0].sum()
    found = directions(raw - raw.logsumexp(-1, keepdim=True) + torch.tensor(mass).log(), loss.joint / chance, noise, k,
                       factor)
    one, other = (torch.cat([((chance * by) @ contexts).flatten(), ((chance * by).T @ words).flatten()])
                  for by in found)
    return torch.rad2deg(torch.arccos((one @ other / (one.norm() * other.norm())).clamp(-1, 1))).item()
