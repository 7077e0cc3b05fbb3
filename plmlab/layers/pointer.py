"""A pointer-generator (指针生成网络): a mixture of generating a token from the vocabulary and copying one from the
source."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.layers.alignment import AdditiveAlignment
from plmlab.layers.hooks import HookPoint


def log_add_at(
    logs: Float[Tensor, "batch query vocab"], tokens: Int[Tensor, "batch key"], added: Float[Tensor, "batch query key"],
) -> Float[Tensor, "batch query vocab"]:
    """log(exp(logs) + Σ exp(added)) for each token, with the sum over all positions of that token in ``tokens``.

    Stable where probabilities would be 0: ``added`` may be −∞, ``logs`` must be finite.
    """
    index = tokens[:, None].expand_as(added)
    most = logs.detach().scatter_reduce(-1, index, added.detach(), "amax")  # the largest term of each sum
    terms = (logs - most).exp().scatter_add(-1, index, (added - most.gather(-1, index)).exp())
    return most + terms.log()


class PointerGenerator(nn.Module):
    """Mixture λP^v + (1 − λ)P^c of a distribution over the vocabulary and a copy distribution (Bi et al. 2020, §2.3).

    The copy distribution is an additive attention over the encoder outputs h with the decoder output s as query: the
    scores are w_cᵀ tanh(W_m h + W_s s + b_c), and P^c(y) is the sum of the weights of all source positions with the
    token y. With z, the weighted mean of h, the gate is λ = σ(w_zᵀ z + w_sᵀ s + b_m).
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.alignment = AdditiveAlignment(width, bias=True)  # source: W_m, state: W_s and b_c, vote: w_c
        self.gate = nn.Linear(2 * width, 1)  # w_z, w_s and b_m
        self.mixed = HookPoint()

    def prepared(self, memory: Float[Tensor, "batch key model"]) -> Float[Tensor, "batch key model"]:
        """Project the encoder outputs to keys, W_m h, which are the same for all queries."""
        return self.alignment.prepared(memory)

    def forward(
        self, generated: Float[Tensor, "batch query vocab"], hidden: Float[Tensor, "batch query model"],
        keys: Float[Tensor, "batch key model"], memory: Float[Tensor, "batch key model"],
        tokens: Int[Tensor, "batch key"], real: Bool[Tensor, "batch key"],
    ) -> Float[Tensor, "batch query vocab"]:
        """Log-probabilities of the next token. ``generated`` are the logits of P^v; ``tokens`` are the source tokens,
        ``real`` is False at padding, which is never copied."""
        scores = self.alignment.scores(self.alignment.score(hidden, keys)[:, None])[:, 0]  # [batch query key]
        copied = scores.masked_fill(~real[:, None], float("-inf")).log_softmax(-1)
        context = copied.exp() @ memory  # [batch query model]
        gate = self.mixed(self.gate(torch.cat([context, hidden], -1)))  # the logit of λ, [batch query 1]
        return log_add_at(F.logsigmoid(gate) + generated.log_softmax(-1), tokens, F.logsigmoid(-gate) + copied)
