"""Soft alignment (软对齐): a decoder state scores every source position and takes the weighted mean of the encoder
outputs.

The earliest form of attention: one head, no value projection, and a score function that each subclass defines.
"""

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.layers.attention import masked_softmax
from plmlab.layers.hooks import HookPoint
from plmlab.visibility import AttentionMask


class Alignment(nn.Module):
    """Base class: attention weights over the source positions, and the context vector. Subclasses define ``score``.

    The hook points have the shapes of single-head attention: ``scores`` and ``weights`` are [batch, 1, query, key],
    ``queries``, ``keys``, ``values`` and ``mixed`` [batch, 1, time, width].

    Attributes:
        scale: the factor by which the inner product of query and key is multiplied to give the score; None if the score
            is not an inner product.
        formula: the score as a formula of the query q and the key k.
    """

    scale: ClassVar[float | None] = None
    formula: ClassVar[str]

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.queries, self.keys, self.values = HookPoint(), HookPoint(), HookPoint()
        self.scores, self.weights, self.mixed = HookPoint(), HookPoint(), HookPoint()

    def prepared(self, memory: Float[Tensor, "batch key width"]) -> Float[Tensor, "batch key width"]:
        """Compute the keys from the encoder outputs. They do not depend on the decoder state, so call this once per
        source."""
        return memory

    def score(self, queries: Float[Tensor, "batch query width"], keys: Float[Tensor, "batch key width"],
              ) -> Float[Tensor, "batch query key"]:
        """Score every decoder state against every source position."""
        raise NotImplementedError

    def forward(self, queries: Float[Tensor, "batch query width"], keys: Float[Tensor, "batch key width"],
                memory: Float[Tensor, "batch key width"], attn_mask: AttentionMask,
                ) -> Float[Tensor, "batch query width"]:
        """Compute the context vectors (上下文向量): the means of ``memory``, weighted by the softmax of the scores."""
        # [batch, 1, query, width], [batch, 1, key, width], [batch, 1, key, width]
        q, k, v = self.queries(queries[:, None]), self.keys(keys[:, None]), self.values(memory[:, None])
        scores = self.scores(self.score(q[:, 0], k[:, 0])[:, None])  # [batch, 1, query, key]
        mask = attn_mask.dense(queries.shape[1], keys.shape[1])
        weights = self.weights(masked_softmax(scores, None if mask is None else mask.to(scores.device)))
        return self.mixed(weights @ v)[:, 0]  # [batch query width]


class DotAlignment(Alignment):
    """Dot-product score sᵀh, without parameters (Luong et al. 2015, eq. 8, "dot")."""

    scale, formula = 1.0, "q·k"

    def score(self, queries: Float[Tensor, "batch query width"], keys: Float[Tensor, "batch key width"],
              ) -> Float[Tensor, "batch query key"]:
        """Inner products of queries and keys, unscaled (the Transformer divides by √d_k)."""
        return queries @ keys.transpose(1, 2)


class GeneralAlignment(DotAlignment):
    """Bilinear score sᵀWh with a learned matrix W (Luong et al. 2015, eq. 8, "general")."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.source = nn.Linear(width, width, bias=False)

    def prepared(self, memory: Float[Tensor, "batch key width"]) -> Float[Tensor, "batch key width"]:
        """Project the encoder outputs to keys: W h."""
        return self.source(memory)


class AdditiveAlignment(Alignment):
    """Additive score vᵀ tanh(W s + U h), a one-layer network (Bahdanau et al. 2015, §A.1.2; Luong et al.: "concat").
    ``bias`` adds a bias to W s."""

    formula = "vᵀ tanh(W q + k), a small feed-forward network"

    def __init__(self, width: int, bias: bool = False) -> None:
        super().__init__(width)
        self.source, self.state = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=bias)
        self.vote = nn.Linear(width, 1, bias=False)

    def prepared(self, memory: Float[Tensor, "batch key width"]) -> Float[Tensor, "batch key width"]:
        """Project the encoder outputs to keys: U h."""
        return self.source(memory)

    def score(self, queries: Float[Tensor, "batch query width"], keys: Float[Tensor, "batch key width"],
              ) -> Float[Tensor, "batch query key"]:
        """Score every pair of query and key with the network."""
        pairs = self.state(queries)[:, :, None] + keys[:, None]  # [batch query key width]
        return self.vote(torch.tanh(pairs))[..., 0]


class WordAlignment(AdditiveAlignment):
    """Additive score vᵀ ReLU(W s + X y + U h), which also depends on the previous target token y ("w̃" of the
    Autoregressive Transformer, `plmlab.models.autoregressive_transformer`). The queries are W s + X y, with one
    bias."""

    formula = "vᵀ ReLU(q + k), a small feed-forward network"

    def __init__(self, width: int) -> None:
        super().__init__(width, bias=True)
        self.word = nn.Linear(width, width, bias=False)

    def query(self, states: Float[Tensor, "batch query width"], words: Float[Tensor, "batch query width"],
              ) -> Float[Tensor, "batch query width"]:
        """Project decoder states and token embeddings to queries: W s + X y."""
        return self.state(states) + self.word(words)

    def score(self, queries: Float[Tensor, "batch query width"], keys: Float[Tensor, "batch key width"],
              ) -> Float[Tensor, "batch query key"]:
        """Score every pair of query and key with the network."""
        return self.vote((queries[:, :, None] + keys[:, None]).relu())[..., 0]
