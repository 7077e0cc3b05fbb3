"""RoBERTa (Liu et al. 2019): BERT without next-sentence prediction and without segments.

The other changes of the paper are to training, not to the model: dynamic masking (§4.1), inputs of full sentences
(§4.2), larger batches (§4.3), byte-level BPE (§4.4), more data and more updates (§5). Masking is dynamic in all models
of this library, BERT included, because ``examples`` calls the objective anew each time a text is used.

Differences from the paper: `plmlab pretrain` does not pack sentences of several documents into one input. A text pair
is [CLS] A [SEP] B [SEP]; the authors put two separators between A and B. As in ``transformers``, one segment embedding
is added at every position, whatever the segment ids; the authors' code has none.
"""

from dataclasses import dataclass, replace
from typing import Self

import torch
from jaxtyping import Float
from torch import Tensor

from plmlab.example import Batch
from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERT, BERTConfig, Embeddings, MaskedLM
from plmlab.models.registry import Pretraining, model
from plmlab.objectives import masked
from plmlab.objectives.next_sentence import without_nsp
from plmlab.text.tokenizers import Tokenizer


@dataclass(frozen=True)
class RoBERTaConfig(BERTConfig):
    """Configuration of a RoBERTa: that of BERT, with one segment embedding. ``pad`` is the id of the padding token,
    which ``transformers`` needs to count positions (1 in the released models)."""

    segments: int = 1
    eps: float = 1e-5
    pad: int = 0

    @classmethod
    def base(cls) -> Self:
        """RoBERTa-base: 124.6 million parameters, 15 million more than BERT-base because of the larger vocabulary
        (§4.4)."""
        return cls(vocab=50_265, time=512, layers=12, model=768, heads=12, inner=3072, pad=1)

    @classmethod
    def large(cls) -> Self:
        """RoBERTa-large: 355.4 million parameters (355 million in the paper, §5)."""
        return cls(vocab=50_265, time=512, layers=24, model=1024, heads=16, inner=4096, pad=1)


class RoBERTaEmbeddings(Embeddings):
    """Sum of token and position embeddings and of the only segment embedding, with LayerNorm and dropout."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Input embedding of every position, with all segment ids set to 0."""
        return super().forward(replace(batch, segments=torch.zeros_like(batch.segments)))


@model("roberta", RoBERTaConfig, ENCODER)
class RoBERTa(BERT):
    """RoBERTa encoder: BERT with one segment embedding."""

    embeddings_class = RoBERTaEmbeddings


@model("roberta-pretraining", RoBERTaConfig, ENCODER,
       Pretraining("roberta", masked, Tokenizer.bpe, added=2, pairs=without_nsp(masked)))
class RoBERTaPretraining(MaskedLM):
    """RoBERTa with its pretraining head: masked language modelling."""

    encoder_class = RoBERTa
