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
