"""NEZHA (Wei et al. 2019): BERT with functional relative position encodings instead of learned absolute positions, and
whole-word masking.

The encodings are in `plmlab.layers.relative.FunctionalRelativeAttention`. As there are no learned positions, no text is
too long for the model. As in the authors' code but not in the paper, distances are clipped: those beyond the clipping
distance share one encoding.

Differences from the paper: the variant with span prediction (table 5) is not included; mixed-precision training (§2.4)
and the LAMB optimizer (§2.5) belong to training, not to the model; the paper segments Chinese words with Jieba (§2.3),
here the source of the text does. BERT's own differences from its paper, listed in `plmlab.models.bert`, apply as well.
"""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.layers.relative import FunctionalRelativeAttention
from plmlab.layers.stack import TokenEmbeddings
from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERT, BERTConfig, BERTPretraining
from plmlab.models.registry import Pretraining, model
from plmlab.objectives import whole_words
from plmlab.objectives.next_sentence import with_nsp
from plmlab.text.tokenizers import Tokenizer


@dataclass(frozen=True)
class NEZHAConfig(BERTConfig):
    """Configuration of a NEZHA: that of BERT. ``time`` is not used, because no positions are learned."""


class NEZHAEmbeddings(TokenEmbeddings):
    """Sum of token and segment embeddings, followed by LayerNorm and dropout, without positions."""

    def __init__(self, config: NEZHAConfig) -> None:
        super().__init__(config)
        self.segment = nn.Embedding(config.segments, config.model)
        self.norm = nn.LayerNorm(config.model, eps=config.eps)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Input embedding of every position."""
        return self.dropout(self.norm(self.token(batch.tokens) + self.segment(batch.segments)))


@model("nezha", NEZHAConfig, ENCODER)
class NEZHA(BERT):
    """NEZHA encoder: positions enter only through the distances between them, in every attention layer."""

    embeddings_class = NEZHAEmbeddings
    attention_class = FunctionalRelativeAttention


@model("nezha-pretraining", NEZHAConfig, ENCODER,
       Pretraining("nezha", whole_words, Tokenizer.wordpiece, added=2, pairs=with_nsp(whole_words)))
class NEZHAPretraining(BERTPretraining):
    """NEZHA with BERT's two pretraining heads, pretrained with whole-word masking."""

    encoder_class = NEZHA
