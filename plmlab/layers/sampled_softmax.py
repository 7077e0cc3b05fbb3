"""What a word is told apart from: from all others (softmax), or from some that were drawn (negative sampling, NCE)."""

from math import log

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

SHARED_NEGATIVES = 16
"""So many words are drawn a text, and weighed as if each pair had drawn its own."""


def noise_distribution(counts: Float[Tensor, "vocab"], power: float = 0.75) -> Float[Tensor, "vocab"]:
    """What negatives are drawn from: the counts to the power ¾, as shares (Mikolov et al. 2013b, §2.2).

    A ValueError for counts below 0 or that are all 0.
    """
    if bool((counts < 0).any()) or not bool((counts > 0).any()):
        raise ValueError("noise is drawn by the words' counts: none may be below 0, and one must be above")
    raised = torch.where(counts > 0, counts.double() ** power, 0.0)
    return (raised / raised.sum()).to(counts.dtype)


class WordLoss(nn.Module):
    """The mean loss of pairs, each a vector and the word that it must say.

    Asked with the ``scores`` of the pairs, vector · word, with the ``targets``, the ids of their words; and with the
    vectors that said them: ``hidden``, of which each stands in so many ``pairs``. ``output`` has each word's vector.
    It is made for so many words in all, and so many ``negatives`` a pair; a loss that draws none needs neither.
    """

    def __init__(self, vocab: int, negatives: int) -> None:
        super().__init__()

    def set_noise(self, counts: Float[Tensor, "vocab"]) -> None:
        """How often each word stands in the text, for a loss that draws words by it."""

    def forward(self, scores: Float[Tensor, "pair"], targets: Int[Tensor, "pair"],
                hidden: Float[Tensor, "text position model"], pairs: Float[Tensor, "text position"],
                output: Float[Tensor, "vocab model"]) -> Float[Tensor, ""]:
        """The mean over the pairs, in nats; 0 where there is none."""
        raise NotImplementedError


class FullSoftmax(WordLoss):
    """−log p(word), over the whole vocabulary (Mikolov et al. 2013b, eq. 2)."""

    def forward(self, scores: Float[Tensor, "pair"], targets: Int[Tensor, "pair"],
                hidden: Float[Tensor, "text position model"], pairs: Float[Tensor, "text position"],
                output: Float[Tensor, "vocab model"]) -> Float[Tensor, ""]:
        """Mean −log softmax(scores), in nats."""
        return (((hidden @ output.T).logsumexp(-1) * pairs).sum() - scores.sum()) / max(len(scores), 1)


class NegativeSampling(WordLoss):
    """−log σ(score), and −log σ(−score) of ``negatives`` words drawn from the noise (Mikolov et al. 2013b, eq. 4).

    The pairs of a text share `SHARED_NEGATIVES` words (Ji et al. 2016), each weighed ``negatives``/`SHARED_NEGATIVES`;
    in the paper each pair draws its own, and the mean is the same. The noise is even until it is set (``set_noise``).
    """

    noise: Tensor

    def __init__(self, vocab: int, negatives: int) -> None:
        super().__init__(vocab, negatives)
        self.negatives = negatives
        self.register_buffer("noise", torch.full((vocab,), 1 / vocab))

    def set_noise(self, counts: Float[Tensor, "vocab"]) -> None:
        """From now on negatives are drawn by these counts."""
        self.noise.copy_(noise_distribution(counts))

    def shift(self, words: Int[Tensor, "*words"]) -> Float[Tensor, "*words"] | float:
        """What is taken from a score before it is judged: nothing."""
        return 0.0

    def forward(self, scores: Float[Tensor, "pair"], targets: Int[Tensor, "pair"],
                hidden: Float[Tensor, "text position model"], pairs: Float[Tensor, "text position"],
                output: Float[Tensor, "vocab model"]) -> Float[Tensor, ""]:
        """Mean over the pairs of the sum over their 1 + ``negatives`` decisions, in nats."""
        drawn = torch.multinomial(self.noise, len(hidden) * SHARED_NEGATIVES,
                                  replacement=True).unflatten(0, (-1, SHARED_NEGATIVES))
        against = hidden @ F.embedding(drawn, output).transpose(1, 2) - self.shift(drawn[:, None])
        refused = (F.softplus(against).mean(-1) * pairs).sum()
        return (F.softplus(self.shift(targets) - scores).sum() + self.negatives * refused) / max(len(scores), 1)


class NCE(NegativeSampling):
    """Noise-contrastive estimation: a score is log p of the word, and judged against the noise's own chance to draw it,
    log k q (Gutmann and Hyvärinen 2010; Mnih and Teh 2012)."""

    def shift(self, words: Int[Tensor, "*words"]) -> Float[Tensor, "*words"] | float:
        """log k q(word)."""
        return self.noise[words].log() + log(self.negatives)
