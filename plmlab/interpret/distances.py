"""How far apart two vectors are, or two distributions."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def kl_divergence(p: Float[Tensor, "*positions vocab"], q: Float[Tensor, "*positions vocab"]) -> Float[Tensor,
                                                                                                       "*positions"]:
    """KL(p ‖ q) = Σ p log(p / q) of two distributions, in nats; infinite where q rules out what p holds possible."""
    return (torch.xlogy(p, p) - torch.xlogy(p, q)).sum(-1)


def distance(before: Float[Tensor, "*positions model"],
             after: Float[Tensor, "*positions model"]) -> Float[Tensor, "*positions"]:
    """1 − cosine of two vectors: 0 where they point the same way, 1 where they have nothing in common."""
    return 1 - F.cosine_similarity(before.double(), after.double(), dim=-1)


def divergence(before: Float[Tensor, "*positions vocab"],
               after: Float[Tensor, "*positions vocab"]) -> Float[Tensor, "*positions"]:
    """KL(before ‖ after) of two next-token distributions given as logits, in nats."""
    return kl_divergence(before.double().softmax(-1), after.double().softmax(-1))
