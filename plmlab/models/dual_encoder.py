"""Dual encoder for dense retrieval (Guu et al. 2020, §3.1): the relevance of a document to a query is the inner product
of their vectors. It is pretrained with the inverse cloze task (Lee et al. 2019).

Differences from the paper, as in the authors' code: queries and documents share one embedder (the paper has a separate
projection for each); the projection is applied to BERT's pooled [CLS] output and followed by a LayerNorm.
"""

from dataclasses import asdict, dataclass, fields
from typing import Any, Self

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import Batch
from plmlab.layers.initialise import initialise
from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.registry import model
from plmlab.objectives.inverse_cloze import MatchingBatch
from plmlab.weights import with_pretrained


@dataclass(frozen=True)
class DualEncoderConfig(BERTConfig):
    """Configuration of a BERT, with the ``width`` of the embedding vectors."""

    width: int = 128

    @property
    def encoder(self) -> BERTConfig:
        """The configuration of the BERT encoder."""
        return BERTConfig(**{field.name: getattr(self, field.name) for field in fields(BERTConfig)})


@model("embedder", DualEncoderConfig, ENCODER)
class DualEncoder(nn.Module):
    """Dual encoder: LayerNorm(W BERT_[CLS]) of a query, [CLS] x [SEP], or of a document, [CLS] title [SEP] body
    [SEP]."""

    config: DualEncoderConfig

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.encoder = BERT(config.encoder)
        self.projection = nn.Linear(config.model, config.width)
        self.norm = nn.LayerNorm(config.width, eps=config.eps)
        self.dropout = nn.Dropout(config.dropout)
        initialise(self.projection)

    @classmethod
    def from_pretrained(cls, bert: BERT, width: int = DualEncoderConfig.width) -> Self:
        """Build a dual encoder from a copy of a pretrained encoder, with a new projection."""
        return with_pretrained(bert, cls(DualEncoderConfig(**asdict(bert.config), width=width)), "encoder")

    def forward(self, batch: Batch) -> Float[Tensor, "batch width"]:
        """The embedding of each text."""
        return self.dropout(self.norm(self.projection(self.encoder.pooled_output(batch))))

    def loss(self, batch: MatchingBatch) -> Float[Tensor, ""]:
        """Contrastive loss with in-batch negatives, in nats (Lee et al. 2019, eq. in §4)."""
        return in_batch_loss(self(batch.queries), self(batch.documents))


def in_batch_loss(queries: Float[Tensor, "query width"], documents: Float[Tensor, "document width"],
                  ) -> Float[Tensor, ""]:
    """Contrastive loss with in-batch negatives: the mean over queries of −log p(matching document), in nats, with a
    softmax over all documents of the batch. Document i matches query i; any further documents are hard negatives."""
    scores = queries @ documents.T  # [query document]
    return F.cross_entropy(scores, torch.arange(len(scores), device=scores.device))
