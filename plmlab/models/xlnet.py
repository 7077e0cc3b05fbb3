"""XLNet (Yang et al. 2019): a Transformer-XL of both sides that says the words of a text in any order, by two streams.

Where it differs from the paper: a text is read whole, not in the two halves of 512 positions, so that no memory is
carried from one to the next in pretraining; sentences are not read from the right too ("bidirectional data"). Of the
objective see `plmlab.objectives.permuted`, of the attention `plmlab.layers.relative`. A query that sees nothing, as the
first of an order without a memory, gets zeros; in ``transformers`` it attends to every position alike, its own answer
among them, so that the two models differ there (and in all that builds on it). As in the authors' code: the norm's ε,
GELU, u and v in each layer of its own.
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
    """The size of an XLNet. ``inner`` is the feed-forward's width, ``memory`` how many positions a memory holds, None:
    all that it was told. No text is too long."""

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
        """Trains in seconds on two cores; its memory holds ``time`` positions. Too small to overfit in that time, so it
        needs no dropout."""
        return cls(vocab, dropout=0.0, memory=time)

    @classmethod
    def base(cls) -> Self:
        """XLNet-Base: of BERT-base's size, with 32,000 pieces."""
        return cls(vocab=32_000, layers=12, model=768, heads=12, inner=3072)

    @property
    def shape(self) -> LayerShape:
        """Of each layer."""
        return LayerShape(self.model, self.heads, self.inner, "gelu", self.dropout, self.dropout, self.eps)


@model("xlnet", XLNetConfig, XLNET_ENCODER)
class XLNet(TwoStreamEncoder):
    """The encoder. Its query stream begins with one trained vector, w, at every position: it knows where it stands by
    its attention alone."""

    embeddings_class = TokenEmbeddings
    attention_class = XLNetAttention
    config: XLNetConfig  # type: ignore[assignment]

    def __init__(self, config: XLNetConfig) -> None:
        super().__init__(config)
        self.query = nn.Parameter(0.02 * torch.randn(config.model))

    def queries(self, x: Float[Tensor, "batch time model"], asked: Int[Tensor, "batch query"],
                ) -> Float[Tensor, "batch query model"]:
        """g⁽⁰⁾ = w (eq. in §2.3)."""
        return self.embeddings.dropout(self.query.expand(*asked.shape, -1))

    def relative(self, batch: Batch, positions: Int[Tensor, "batch query"], remembered: int) -> RelativePositions:
        """Where each query stands, and which keys are of its segment; what is remembered is of segment 0."""
        keys = F.pad(batch.segments, (remembered, 0))
        in_a_row = positions.shape[1] == batch.size[1]
        return RelativePositions(batch.segments.gather(1, positions)[..., None] == keys[:, None],
                                 None if in_a_row else positions + remembered)

    def forward(self, batch: Batch, memories: Sequence[Memory] | None = None) -> Float[Tensor, "batch time model"]:
        """What the last layer makes of each position, behind what ``memories`` hold; they then hold this batch too.

        A memory takes up the content stream: give a batch whose order ends within it.
        """
        return self.read(batch, memories or [None] * len(self.layers))

    def start(self) -> list[Memory]:
        """A memory for each layer that holds nothing yet."""
        return [Memory(self.config.memory) for _ in self.layers]

    def pool(  # type: ignore[override]
        self, hidden: Float[Tensor, "batch time model"], batch: Batch,
    ) -> Float[Tensor, "batch model"]:
        """tanh(W h_[CLS]): one vector for the text. [CLS] is its last position; padding may stand on either side."""
        return self.pooler(at_last_position(hidden, batch)).tanh()

    def pooled_output(self, batch: Batch) -> Float[Tensor, "batch model"]:
        """One vector for each text of a batch, for what is said of the text as a whole."""
        return self.pool(self(batch), batch)


@model("xlnet-pretraining", XLNetConfig, XLNET_ENCODER,
       Pretraining("xlnet", permuted_targets, Tokenizer.wordpiece, added=2, pairs=without_nsp(permuted_targets)))
class XLNetPretraining(TwoStreamPretraining):
    """XLNet with its output layer: which word stands at a position, said from the query stream."""

    encoder_class = XLNet
