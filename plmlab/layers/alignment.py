"""Soft alignment (软对齐): a decoder's state scores every position of the source, and takes their weighted mean.

The attention that came first: one head, no projections of values, a score that a variant names.
"""

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.layers.attention import masked_softmax
from plmlab.layers.hooks import HookPoint
from plmlab.visibility import AttentionMask


class Alignment(nn.Module):
    """Weights over the positions of the source, and what they pick; a variant says in ``score`` how well a state
    matches a position.

    All points are passed as attention with one head does: ``scores`` and ``weights`` are [batch, 1, query, key],
    ``queries``, ``keys``, ``values`` and ``mixed`` [batch, 1, position, width].

    Attributes:
        scale: what the inner product of query and key is multiplied with to give the score; None where the score is no
            inner product.
        formula: the score, of a query q and a key k.
    """

    scale: ClassVar[float | None] = None
    formula: ClassVar[str]

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.queries, self.keys, self.values = HookPoint(), HookPoint(), HookPoint()
        self.scores, self.weights, self.mixed = HookPoint(), HookPoint(), HookPoint()

    def prepared(self, memory: Float[Tensor, "batch key width"]) -> Float[Tensor, "batch key width"]:
        """The keys: what of the source the score reads. No state of the decoder is in it: it is made once a source."""
        return memory

    def score(self, queries: Float[Tensor, "batch query width"], keys: Float[Tensor, "batch key width"],
              ) -> Float[Tensor, "batch query key"]:
        """How well each state of the decoder matches each position of the source."""
        raise NotImplementedError

    def forward(self, queries: Float[Tensor, "batch query width"], keys: Float[Tensor, "batch key width"],
                memory: Float[Tensor, "batch key width"], attn_mask: AttentionMask,
                ) -> Float[Tensor, "batch query width"]:
        """The context (上下文向量) of each state: the mean of the ``memory``, weighed by the softmax of the scores."""
        q, k, v = self.queries(queries[:, None]), self.keys(keys[:, None]), self.values(memory[:, None])
        scores = self.scores(self.score(q[:, 0], k[:, 0])[:, None])
        mask = attn_mask.dense(queries.shape[1], keys.shape[1])
        weights = self.weights(masked_softmax(scores, None if mask is None else mask.to(scores.device)))
        return self.mixed(weights @ v)[:, 0]


class DotAlignment(Alignment):
    """sᵀh (Luong et al. 2015, eq. 8, "dot"): no weights of its own."""

    scale, formula = 1.0, "q·k"

    def score(self, queries: Float[Tensor, "batch query width"], keys: Float[Tensor, "batch key width"],
              ) -> Float[Tensor, "batch query key"]:
        """The inner products, not divided by √width as the Transformer's are."""
        return queries @ keys.transpose(1, 2)


class GeneralAlignment(DotAlignment):
    """sᵀWh (Luong et al. 2015, eq. 8, "general"): a matrix between the two spaces."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.source = nn.Linear(width, width, bias=False)

    def prepared(self, memory: Float[Tensor, "batch key width"]) -> Float[Tensor, "batch key width"]:
        """W h."""
        return self.source(memory)


class AdditiveAlignment(Alignment):
    """vᵀ tanh(W s + U h) (Bahdanau et al. 2015, §A.1.2; Luong et al. call it "concat"): a small network compares the
    two."""

    formula = "vᵀ tanh(W q + k), of a small network that compares the two"

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.source, self.state = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.vote = nn.Linear(width, 1, bias=False)

    def prepared(self, memory: Float[Tensor, "batch key width"]) -> Float[Tensor, "batch key width"]:
        """U h."""
        return self.source(memory)

    def score(self, queries: Float[Tensor, "batch query width"], keys: Float[Tensor, "batch key width"],
              ) -> Float[Tensor, "batch query key"]:
        """The network's output for each pair."""
        return self.vote(torch.tanh(self.state(queries)[:, :, None] + keys[:, None]))[..., 0]
