"""XLNet (Yang et al. 2019): a bidirectional Transformer-XL, pretrained as a permutation language model with two-stream
attention.

Differences from the paper: a text is processed as a whole, not as two halves of 512 tokens, so no memory is carried
between them in pretraining; sentences are not also read right to left ("bidirectional data"). The objective is
`plmlab.objectives.permuted`, the attention `plmlab.layers.relative`. The attention output of a query without any
visible key, such as the first of a factorization order without memory, is zero. In ``transformers`` such a query
attends uniformly to all positions, including its own target, so the two models differ there and in everything computed
from it. As in the authors' code: the ε of LayerNorm, GELU, and separate u and v in each layer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import Batch
from plmlab.layers.attention import RelativePositions
from plmlab.layers.memory import Memory
from plmlab.layers.relative import XLNetAttention
from plmlab.layers.shape import LayerShape
from plmlab.layers.stack import TokenEmbeddings
from plmlab.models.architectures import XLNET_ENCODER
from plmlab.models.bert import at_last_position
from plmlab.models.registry import Pretraining, model
from plmlab.models.two_streams import TwoStreamEncoder, TwoStreamPretraining
from plmlab.objectives import permuted_targets
from plmlab.objectives.next_sentence import without_nsp
from plmlab.text.tokenizers import Tokenizer


@dataclass(frozen=True)
class XLNetConfig:
    """Configuration of an XLNet, which has no maximum length. ``inner`` is the width of the feed-forward network,
    ``memory`` the length of each layer's memory in tokens, or None for no limit."""

    vocab: int
    layers: int = 4
    model: int = 128
    heads: int = 4
    inner: int = 512
    dropout: float = 0.1
    eps: float = 1e-12
    memory: int | None = 0

    @classmethod
    def tiny(cls, vocab: int, time: int = 128) -> Self:
        """A model that trains in seconds on two CPU cores, with a memory of ``time`` tokens. It has no dropout, because
        it cannot overfit in that time."""
        return cls(vocab, dropout=0.0, memory=time)

    @classmethod
    def base(cls) -> Self:
        """XLNet-Base: the size of BERT-base, with 32,000 subwords."""
        return cls(vocab=32_000, layers=12, model=768, heads=12, inner=3072)

    @property
    def shape(self) -> LayerShape:
        """The shape of every layer."""
        return LayerShape(self.model, self.heads, self.inner, "gelu", self.dropout, self.dropout, self.eps)


@model("xlnet", XLNetConfig, XLNET_ENCODER)
class XLNet(TwoStreamEncoder):
    """XLNet encoder: all queries are initialized with the same trained vector w, so a query knows its position only
    through the relative attention."""

    embeddings_class = TokenEmbeddings
    attention_class = XLNetAttention
    config: XLNetConfig  # type: ignore[assignment]

    def __init__(self, config: XLNetConfig) -> None:
        super().__init__(config)
        self.query = nn.Parameter(0.02 * torch.randn(config.model))

    def queries(self, x: Float[Tensor, "batch time model"], targets_at: Int[Tensor, "batch query"],
                ) -> Float[Tensor, "batch query model"]:
        """Initial query vectors, g⁽⁰⁾ = w (eq. in §2.3)."""
        return self.embeddings.dropout(self.query.expand(*targets_at.shape, -1))

    def relative(self, batch: Batch, positions: Int[Tensor, "batch query"], remembered: int) -> RelativePositions:
        """Positions of the queries, and which keys are in the same segment; tokens in memory belong to segment 0."""
        keys = F.pad(batch.segments, (remembered, 0))  # [batch remembered+time]
        in_a_row = positions.shape[1] == batch.size[1]  # content stream only: queries are consecutive
        return RelativePositions(batch.segments.gather(1, positions)[..., None] == keys[:, None],  # [batch query key]
                                 None if in_a_row else positions + remembered)

    def forward(self, batch: Batch, memories: Sequence[Memory] | None = None) -> Float[Tensor, "batch time model"]:
        """Final hidden states. ``memories``, one per layer, are attended to and then updated in place with this batch.

        A memory stores the content stream, so the batch's factorization order must cover only its own tokens.
        """
        return self.read(batch, memories or [None] * len(self.layers))

    def start(self) -> list[Memory]:
        """An empty memory for each layer."""
        return [Memory(self.config.memory) for _ in self.layers]

    def pool(  # type: ignore[override]
        self, hidden: Float[Tensor, "batch time model"], batch: Batch,
    ) -> Float[Tensor, "batch model"]:
        """Pooled output of the text: tanh(W h_[CLS]), where [CLS] is the last real token; padding may be on either
        side."""
        return self.pooler(at_last_position(hidden, batch)).tanh()

    def pooled_output(self, batch: Batch) -> Float[Tensor, "batch model"]:
        """Pooled output: one vector per text, for text-level tasks."""
        return self.pool(self(batch), batch)


@model("xlnet-pretraining", XLNetConfig, XLNET_ENCODER,
       Pretraining("xlnet", permuted_targets, Tokenizer.wordpiece, added=2, pairs=without_nsp(permuted_targets)))
class XLNetPretraining(TwoStreamPretraining):
    """XLNet with its output layer: target tokens are predicted from the query stream."""

    encoder_class = XLNet
