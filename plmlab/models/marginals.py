"""Marginalization over retrieved documents: log p(y|x) = log Σ_z p(z|x) p(y|z,x), in nats, per sequence or per token.
The two are equal if y is a single token."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

DocumentLogProbs = Float[Tensor, "batch doc"]
TokenLogProbs = Float[Tensor, "batch doc token"]


def sequence_marginal(documents: DocumentLogProbs, tokens: TokenLogProbs, target_mask: Bool[Tensor, "batch token"],
                      ) -> Float[Tensor, "batch"]:
    """log Σ_z p(z|x) Π_j p(y_j|z,x): all tokens are predicted from one document (REALM, eq. 1 and §3.2; RAG-Sequence).

    ``documents`` is log p(z|x), −inf for a missing document; ``tokens`` is log p(y_j|z,x); ``target_mask`` is the mask
    of real target tokens, False at padding.
    """
    sequence = tokens.masked_fill(~target_mask[:, None], 0).sum(2)  # log p(y|z,x), [batch doc]
    return torch.logsumexp(documents + sequence, 1)


def token_marginal(documents: DocumentLogProbs, tokens: TokenLogProbs, target_mask: Bool[Tensor, "batch token"],
                   ) -> Float[Tensor, "batch token"]:
    """log Σ_z p(z|x) p(y_j|z,x) of each token: each token may be predicted from a different document (REALM's authors'
    code; RAG-Token). 0 where the mask ``target_mask`` is False."""
    return torch.logsumexp(documents[..., None] + tokens, 1).masked_fill(~target_mask, 0)


def sequence_posterior(documents: DocumentLogProbs, tokens: TokenLogProbs, target_mask: Bool[Tensor, "batch token"],
                       ) -> TokenLogProbs:
    """log p(z|x,y_<i) ∝ log p(z|x) + Σ_{j<i} log p(y_j|z,x), by Bayes' rule: the weight of each document in the
    prediction of token i, if all tokens are predicted from one document.

    log p(y_i|x,y_<i) is the log-sum-exp over the documents of these weights plus ``tokens``, and its sum over the
    tokens is `sequence_marginal`. −inf for a missing document.
    """
    before = tokens.masked_fill(~target_mask[:, None], 0).cumsum(2).roll(1, 2)
    before[..., 0] = 0
    return (documents[..., None] + before).log_softmax(1)


def token_posterior(documents: DocumentLogProbs, tokens: TokenLogProbs) -> TokenLogProbs:
    """log p(z_i|x,y_≤i) ∝ log p(z|x) + log p(y_i|z,x): the share of each document in the prediction of the actual token
    i, if each token may be predicted from a different document (Lewis et al. 2020, fig. 2). −inf for a missing
    document."""
    return (documents[..., None] + tokens).log_softmax(1)
