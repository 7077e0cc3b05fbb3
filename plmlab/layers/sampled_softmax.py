"""Losses for word vectors: full softmax, negative sampling, and noise-contrastive estimation (NCE)."""

from math import log

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

SHARED_NEGATIVES = 16
"""Number of negative samples shared by all pairs of a text."""


def noise_distribution(counts: Float[Tensor, "vocab"], power: float = 0.75) -> Float[Tensor, "vocab"]:
    """Noise distribution for negative sampling: normalized counts to the power ¾ (Mikolov et al. 2013b, §2.2).

    Raises ValueError if a count is negative or all counts are 0.
    """
    if bool((counts < 0).any()) or not bool((counts > 0).any()):
        raise ValueError("the noise distribution needs word counts of at least 0, one of them above 0")
    raised = torch.where(counts > 0, counts.double() ** power, 0.0)
    return (raised / raised.sum()).to(counts.dtype)


class WordLoss(nn.Module):
    """Base class of the word losses: the mean loss over (context vector, target word) pairs.

    ``forward`` takes ``scores``, the inner products of the pairs; ``targets``, the ids of the target words; ``hidden``,
    the context vectors; ``pairs``, the number of pairs of each context vector; and ``output``, the output embeddings.
    ``vocab`` and ``negatives`` (the number of negative samples per pair) affect only losses that sample.
    """

    def __init__(self, vocab: int, negatives: int) -> None:
        super().__init__()

    def set_noise(self, counts: Float[Tensor, "vocab"]) -> None:
        """Set the noise distribution from word counts; ignored by losses that do not sample."""

    def forward(self, scores: Float[Tensor, "pair"], targets: Int[Tensor, "pair"],
                hidden: Float[Tensor, "text time model"], pairs: Float[Tensor, "text time"],
                output: Float[Tensor, "vocab model"]) -> Float[Tensor, ""]:
        """Compute the mean loss over the pairs, in nats; 0 if there is no pair."""
        raise NotImplementedError


class FullSoftmax(WordLoss):
    """Full softmax: −log p(word), normalized over the whole vocabulary (Mikolov et al. 2013b, eq. 2)."""

    def forward(self, scores: Float[Tensor, "pair"], targets: Int[Tensor, "pair"],
                hidden: Float[Tensor, "text time model"], pairs: Float[Tensor, "text time"],
                output: Float[Tensor, "vocab model"]) -> Float[Tensor, ""]:
        """Compute the mean of −log softmax(scores), in nats."""
        return (((hidden @ output.T).logsumexp(-1) * pairs).sum() - scores.sum()) / max(len(scores), 1)


class NegativeSampling(WordLoss):
    """Negative sampling: −log σ(score) of the target plus −log σ(−score) of ``negatives`` noise words (Mikolov et al.
    2013b, eq. 4).

    All pairs of a text share `SHARED_NEGATIVES` negative samples (Ji et al. 2016), each weighted by
    ``negatives``/`SHARED_NEGATIVES`; in the paper each pair has its own samples. The expected loss is the same. The
    noise distribution is uniform until ``set_noise`` is called.
    """

    noise: Tensor

    def __init__(self, vocab: int, negatives: int) -> None:
        super().__init__(vocab, negatives)
        self.negatives = negatives
        self.register_buffer("noise", torch.full((vocab,), 1 / vocab))

    def set_noise(self, counts: Float[Tensor, "vocab"]) -> None:
        """Set the noise distribution from these word counts."""
        self.noise.copy_(noise_distribution(counts))

    def shift(self, words: Int[Tensor, "*words"]) -> Float[Tensor, "*words"] | float:
        """The amount subtracted from a score before the sigmoid: 0."""
        return 0.0

    def forward(self, scores: Float[Tensor, "pair"], targets: Int[Tensor, "pair"],
                hidden: Float[Tensor, "text time model"], pairs: Float[Tensor, "text time"],
                output: Float[Tensor, "vocab model"]) -> Float[Tensor, ""]:
        """Compute the mean loss per pair, in nats; a pair's loss sums its 1 + ``negatives`` binary decisions."""
        # [text drawn], then [text time drawn]
        sampled = torch.multinomial(self.noise, len(hidden) * SHARED_NEGATIVES,
                                    replacement=True).unflatten(0, (-1, SHARED_NEGATIVES))
        noise_scores = hidden @ F.embedding(sampled, output).transpose(1, 2) - self.shift(sampled[:, None])
        noise_loss = (F.softplus(noise_scores).mean(-1) * pairs).sum()
        return (F.softplus(self.shift(targets) - scores).sum() + self.negatives * noise_loss) / max(len(scores), 1)


class NCE(NegativeSampling):
    """Noise-contrastive estimation (Gutmann and Hyvärinen 2010; Mnih and Teh 2012): negative sampling where log k
    q(word), the log expected count under the noise distribution q, is subtracted from each score. The scores then
    estimate log p."""

    def shift(self, words: Int[Tensor, "*words"]) -> Float[Tensor, "*words"] | float:
        """The amount subtracted from a score before the sigmoid: log k q(word)."""
        return self.noise[words].log() + log(self.negatives)
