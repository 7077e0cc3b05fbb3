"""The four ways of fine-tuning BERT (Devlin et al. 2019, §4, fig. 4): a pretrained encoder and one new output layer.

Each head stands on any encoder: on BERT, on XLNet, MPNet or UniLM (of which fine-tuning reads the content stream alone,
and no mask), on GLM, and on any variant.

Where they differ from the authors' code: no answer begins or ends in padding, which here takes no part in the softmax.
XLNet's end of an answer is told where the answer begins, and a beam finds both; here neither end knows the other.
"""

from dataclasses import dataclass
from typing import Any, Self

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.layers.initialise import initialise
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.registry import ModelSpec, model, registered_base
from plmlab.objectives.fine_tuning import label_of
from plmlab.weights import with_pretrained


@dataclass(frozen=True)
class TaskHeadConfig:
    """The encoder, its class and its size, and how many labels the output layer tells apart."""

    encoder: ModelSpec
    labels: int = 2

    @classmethod
    def tiny(cls, vocab: int, time: int = 128) -> Self:
        """On a tiny BERT."""
        return cls(ModelSpec(BERT, BERTConfig.tiny(vocab, time)))


class TaskHead(nn.Module):
    """What the heads have in common: the encoder, and the one layer that is new to it. It reads a text
    laid out as its encoder reads one (`plmlab.models.registry.architecture_of`)."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.encoder = config.encoder.build()
        self.dropout = nn.Dropout(config.encoder.config.dropout)
        self.output = nn.Linear(config.encoder.config.model, config.labels)
        initialise(self.output)

    @classmethod
    def from_pretrained(cls, encoder: nn.Module, labels: int = 2) -> Self:
        """A new output layer on a copy of a pretrained encoder, such as ``pretrained.encoder``, which itself stays as
        it is, whatever is learned here. A ValueError for a model that is no encoder."""
        if not hasattr(encoder, "summary"):
            raise ValueError(f"a {type(encoder).__name__} is no encoder that a {cls.__name__} can stand on; give one "
                             "that has a vector for each token and one for the text, such as ``pretrained.encoder``")
        return with_pretrained(encoder, cls(registered_base(cls).config(ModelSpec.of(encoder), labels)), "encoder")


@model("sentence-classifier", TaskHeadConfig)
class SentenceClassifier(TaskHead):
    """One sentence, or a pair: what kind it is of, said from its summary, the vector of [CLS] (fig. 4 a, b)."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch label"]:
        """The logits of each text's class."""
        return self.output(self.dropout(self.encoder.pooled_output(batch)))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean over texts of −log p(class); label ``class``, one number a text."""
        return F.cross_entropy(self(batch), label_of(batch, "class"), ignore_index=IGNORE)


@model("token-classifier", TaskHeadConfig)
class TokenClassifier(TaskHead):
    """Classifier of tokens, such as names: each token's tag, said from its own vector (fig. 4 d)."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch time label"]:
        """The logits of each position's tag."""
        return self.output(self.dropout(self.encoder(batch)))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean over tagged positions of −log p(tag); label ``tags``, one number a position, IGNORE where there is no
        tag."""
        return F.cross_entropy(self(batch).flatten(0, 1), label_of(batch, "tags").flatten(), ignore_index=IGNORE)


@model("span-classifier", TaskHeadConfig)
class SpanClassifier(TaskHead):
    """Classifier of spans, for question answering: where in the text the answer begins and where it ends (fig. 4 c)."""

    def __init__(self, config: Any) -> None:
        if config.labels != 2:
            raise ValueError(f"labels={config.labels}: a span has two ends, so labels must be 2")
        super().__init__(config)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time 2"]:
        """The logits S·T_t of the answer beginning at a position and E·T_t of it ending there; −inf at padding."""
        return self.output(self.encoder(batch)).masked_fill(~batch.padding_mask[..., None], float("-inf"))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean over texts of −log p(start) and −log p(end), halved; labels ``start`` and ``end``, a position a text
        (the last position of the answer, not the one behind it), IGNORE where there is no answer."""
        start, end = self(batch).unbind(-1)
        return (F.cross_entropy(start, label_of(batch, "start"), ignore_index=IGNORE)
                + F.cross_entropy(end, label_of(batch, "end"), ignore_index=IGNORE)) / 2

    def best(self, batch: Batch, longest: int = 30) -> Int[Tensor, "batch 2"]:
        """Start and end of the likeliest span, of at most ``longest`` positions: max S·T_i + E·T_j over j ≥ i (§4.2).

        Only positions of the text can be chosen, not of the question: of segment 1, or of 0 where that is all there is.
        """
        return best_span(self(batch), batch.segments == (batch.segments == 1).any(1, keepdim=True), longest)


def best_span(logits: Float[Tensor, "batch time 2"], text: Bool[Tensor, "batch time"], longest: int,
              ) -> Int[Tensor, "batch 2"]:
    """First and last position of the span with the highest sum of start and end logit, of at most ``longest``
    positions, all in the ``text``."""
    logits = logits.masked_fill(~text[..., None], -torch.inf)
    scores = logits[:, :, None, 0] + logits[:, None, :, 1]
    spans = torch.ones_like(scores, dtype=torch.bool).triu().tril(longest - 1)
    best = scores.masked_fill(~spans, -torch.inf).flatten(1).argmax(1)
    return torch.stack([best // scores.shape[2], best % scores.shape[2]], 1)
