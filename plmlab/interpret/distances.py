"""Distances between vectors and between distributions."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def kl_divergence(p: Float[Tensor, "*batch vocab"], q: Float[Tensor, "*batch vocab"]) -> Float[Tensor, "*batch"]:
    """KL(p ‖ q) = Σ p log(p / q) of two distributions, in nats; infinite where q is 0 and p is not."""
    return (torch.xlogy(p, p) - torch.xlogy(p, q)).sum(-1)


def distance(before: Float[Tensor, "*batch model"], after: Float[Tensor, "*batch model"]) -> Float[Tensor, "*batch"]:
    """Cosine distance, 1 − cosine similarity: 0 for vectors of the same direction, 1 for orthogonal vectors."""
    return 1 - F.cosine_similarity(before.double(), after.double(), dim=-1)


def divergence(before: Float[Tensor, "*batch vocab"], after: Float[Tensor, "*batch vocab"]) -> Float[Tensor, "*batch"]:
    """KL(before ‖ after) of two next-token distributions given as logits, in nats."""
    return kl_divergence(before.double().softmax(-1), after.double().softmax(-1))
