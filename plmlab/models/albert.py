"""ALBERT (Lan et al. 2020): BERT with factorized embeddings, one layer shared by all depths, and sentence-order
prediction.

Difference from the paper: single tokens are masked, not n-grams of up to three words (§4.1). Difference from the
authors' code: the normal distribution of the initial weights is not truncated. As in that code but not in the paper:
GELU is computed with its tanh approximation, the masked-LM head is as wide as the embeddings, and embeddings that are
as wide as the model are not projected.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

from jaxtyping import Float
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERT, BERTConfig, Embeddings, MaskedLM, classification_loss
from plmlab.models.registry import Pretraining, model
from plmlab.objectives import masked
from plmlab.objectives.sentence_order import sentence_order
from plmlab.text.tokenizers import Tokenizer


@dataclass(frozen=True)
class ALBERTConfig(BERTConfig):
    """Configuration of an ALBERT; ``embedding`` is the width of the embeddings, E."""

    embedding: int = 32
    activation: str = "gelu_tanh"

    @classmethod
    def base(cls) -> Self:
        """ALBERT-base: 11.7 million parameters (12 million in the paper, table 1)."""
        return cls(vocab=30_000, time=512, layers=12, model=768, heads=12, inner=3072, embedding=128)

    @classmethod
    def large(cls) -> Self:
        """ALBERT-large: 17.7 million parameters (18 million in the paper, table 1)."""
        return cls(vocab=30_000, time=512, layers=24, model=1024, heads=16, inner=4096, embedding=128)

    @classmethod
    def xxlarge(cls) -> Self:
        """ALBERT-xxlarge, trained without dropout (§4.8): 222.6 million parameters. The paper (table 1) states 235
        million; neither the pooler (16.8 million, included here) nor the pretraining heads (0.6 million) account for
        the difference."""
        return cls(vocab=30_000, time=512, layers=12, model=4096, heads=64, inner=16_384, dropout=0.0,
                   attention_dropout=0.0, embedding=128)


class FactorizedEmbeddings(Embeddings):
    """BERT's embeddings of width E, projected to the width H of the model: V×E + E×H weights instead of V×H (§3.1).
    There is no projection if E = H."""

    def __init__(self, config: Any) -> None:
        width = config.embedding or config.model
        super().__init__(replace(config, model=width))
        self.project = nn.Identity() if width == config.model else nn.Linear(width, config.model)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Input embedding of every position."""
        return self.project(super().forward(batch))


class UnsharedALBERT(BERT):
    """ALBERT with a layer for each depth ("not-shared" in table 4): only its embeddings differ from BERT's."""

    embeddings_class = FactorizedEmbeddings


@model("albert", ALBERTConfig, ENCODER)
class ALBERT(UnsharedALBERT):
    """ALBERT encoder: one layer, applied at every depth."""

    def stack(self) -> nn.ModuleList:
        """The same layer, repeated."""
        return nn.ModuleList([self.build_layer()] * self.config.layers)


class SharedAttentionALBERT(UnsharedALBERT):
    """ALBERT that shares only the attention sublayers ("shared-attention" in table 4), with their LayerNorms."""

    def stack(self) -> nn.ModuleList:
        """Layers with one attention sublayer in common."""
        return tied(super().stack(), "attention", "attention_residual")


class SharedFeedForwardALBERT(UnsharedALBERT):
    """ALBERT that shares only the feed-forward sublayers ("shared-FFN" in table 4), with their LayerNorms."""

    def stack(self) -> nn.ModuleList:
        """Layers with one feed-forward sublayer in common."""
        return tied(super().stack(), "feed_forward", "feed_forward_residual")


def tied(layers: nn.ModuleList, *parts: str) -> nn.ModuleList:
    """Make all layers use these parts of the first layer."""
    for layer in layers:
        for part in parts:
            setattr(layer, part, getattr(layers[0], part))
    return layers


@model("albert-pretraining", ALBERTConfig, ENCODER,
       Pretraining("albert", masked, Tokenizer.wordpiece, added=2, pairs=sentence_order))
class ALBERTPretraining(MaskedLM):
    """ALBERT with its two pretraining heads: masked language modelling and sentence-order prediction (§3.1)."""

    encoder_class: type[BERT] = ALBERT

    def build_heads(self) -> None:
        """Create the masked-LM head and the sentence-order classifier."""
        super().build_heads()
        self.sentence_order = nn.Linear(self.config.model, 2)

    def sentence_order_logits(self, hidden: Float[Tensor, "batch time model"]) -> Float[Tensor, "batch 2"]:
        """Sentence-order logits: the two segments in their original order (0), or swapped (1)."""
        return self.sentence_order(self.encoder.pool(hidden))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Masked-LM loss plus sentence-order loss, in nats. Texts without a label ``sentence_order`` (0: original
        order, 1: swapped) have no sentence-order loss."""
        hidden = self.encoder(batch)
        loss = self.masked_lm_loss(hidden, batch)
        if "sentence_order" in batch.labels:
            loss = loss + classification_loss(self.sentence_order_logits(hidden), batch.labels["sentence_order"])
        return loss
