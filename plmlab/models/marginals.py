"""What a text is worth that may come from any of several documents, in nats: log p(y|x) = log Σ_z p(z|x) p(y|z,x), in
the two readings that there are of it. They agree where y is one token."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

DocumentLogProbs = Float[Tensor, "batch doc"]
TokenLogProbs = Float[Tensor, "batch doc token"]


def sequence_marginal(documents: DocumentLogProbs, tokens: TokenLogProbs, asked: Bool[Tensor, "batch token"],
                      ) -> Float[Tensor, "batch"]:
    """log Σ_z p(z|x) Π_j p(y_j|z,x): all tokens come from one document (REALM, eq. 1 and 3.2; RAG-Sequence).

    ``documents`` is log p(z|x), −inf for a document that is not there; ``tokens`` is log p(y_j|z,x); ``asked`` says
    which tokens of the row there are.
    """
    whole = tokens.masked_fill(~asked[:, None], 0).sum(2)
    return torch.logsumexp(documents + whole, 1)


def token_marginal(documents: DocumentLogProbs, tokens: TokenLogProbs, asked: Bool[Tensor, "batch token"],
                   ) -> Float[Tensor, "batch token"]:
    """log Σ_z p(z|x) p(y_j|z,x) of each token: each may come from another document (the authors' code; RAG-Token).
    0 where no token is."""
    return torch.logsumexp(documents[..., None] + tokens, 1).masked_fill(~asked, 0)
