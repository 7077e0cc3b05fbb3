"""Task heads for the four kinds of fine-tuning in BERT (Devlin et al. 2019, §4, fig. 4): a pretrained encoder and one
new output layer.

Each head works with any encoder: BERT, XLNet and MPNet (fine-tuning uses only their content stream), UniLM (with full
attention), GLM, and any variant.

Difference from BERT's code: an answer cannot begin or end in padding, which is excluded from the softmax. In XLNet's
code the end of an answer is conditioned on its start, and both are found by beam search; here the two are predicted
independently.
"""

from dataclasses import dataclass, field
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
    """Class and configuration of the encoder, the number of output labels, and the dropout rate before the output layer
    (None: the encoder's)."""

    encoder: ModelSpec
    labels: int = 2
    dropout: float | None = field(default=None, kw_only=True)

    @classmethod
    def tiny(cls, vocab: int, time: int = 128) -> Self:
        """Configuration of a head on a tiny BERT."""
        return cls(ModelSpec(BERT, BERTConfig.tiny(vocab, time)))


class TaskHead(nn.Module):
    """Base class of the task heads: an encoder and one new output layer. The input format is the encoder's
    (`plmlab.models.registry.architecture_of`)."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.encoder = config.encoder.build()
        self.dropout = nn.Dropout(config.encoder.config.dropout if config.dropout is None else config.dropout)
        self.output = nn.Linear(config.encoder.config.model, config.labels)
        initialise(self.output)

    @classmethod
    def from_pretrained(cls, encoder: nn.Module, labels: int = 2) -> Self:
        """Build a task head from a copy of a pretrained encoder, such as ``pretrained.encoder``, with a new output
        layer; the original stays unchanged. Raises ValueError if the model is not an encoder."""
        if not hasattr(encoder, "pooled_output"):
            raise ValueError(f"{cls.__name__} needs an encoder with a pooled output, but {type(encoder).__name__} has "
                             "none; give an encoder without its pretraining head, such as ``pretrained.encoder``")
        return with_pretrained(encoder, cls(registered_base(cls).config(ModelSpec.of(encoder), labels)), "encoder")


@model("sentence-classifier", TaskHeadConfig)
class SentenceClassifier(TaskHead):
    """Sequence classification: a class for each text or text pair, from the pooled output (fig. 4 a, b)."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch label"]:
        """Class logits of each text."""
        return self.output(self.dropout(self.encoder.pooled_output(batch)))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean over texts of −log p(class), in nats; label ``class``, one per text."""
        label = label_of(batch, "class", "objectives.sequence_classification")
        return F.cross_entropy(self(batch), label, ignore_index=IGNORE)


@model("token-classifier", TaskHeadConfig)
class TokenClassifier(TaskHead):
    """Token classification, such as named-entity recognition: a tag for each token, from its hidden state (fig. 4
    d)."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch time label"]:
        """Tag logits at every position."""
        return self.output(self.dropout(self.encoder(batch)))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean over tagged positions of −log p(tag), in nats; label ``tags``, one per position, IGNORE for no tag."""
        tags = label_of(batch, "tags", "objectives.token_classification")
        return F.cross_entropy(self(batch).flatten(0, 1), tags.flatten(), ignore_index=IGNORE)


@model("span-classifier", TaskHeadConfig)
class SpanClassifier(TaskHead):
    """Extractive question answering: start and end of the answer span in the text (fig. 4 c)."""

    def __init__(self, config: Any) -> None:
        if config.labels != 2:
            raise ValueError(f"labels={config.labels}: a span has a start and an end, so labels must be 2")
        super().__init__(config)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time 2"]:
        """Start logits S·T_t and end logits E·T_t at every position; −inf at padding."""
        return self.output(self.encoder(batch)).masked_fill(~batch.padding_mask[..., None], float("-inf"))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Average of the mean −log p(start) and the mean −log p(end) over texts, in nats; labels ``start`` and ``end``,
        one position per text (``end`` is the last token of the answer, inclusive), IGNORE if there is no answer."""
        start, end = self(batch).unbind(-1)
        return (F.cross_entropy(start, label_of(batch, "start", "objectives.span_qa"), ignore_index=IGNORE)
                + F.cross_entropy(end, label_of(batch, "end", "objectives.span_qa"), ignore_index=IGNORE)) / 2

    def best(self, batch: Batch, longest: int = 30) -> Int[Tensor, "batch 2"]:
        """First and last position of the best span of at most ``longest`` tokens: max S·T_i + E·T_j over j ≥ i (§4.2).

        The span is in the text, not in the question: in segment 1, or in segment 0 if there is only one segment.
        """
        return best_span(self(batch), batch.segments == (batch.segments == 1).any(1, keepdim=True), longest)


def best_span(logits: Float[Tensor, "batch time 2"], text: Bool[Tensor, "batch time"], longest: int,
              ) -> Int[Tensor, "batch 2"]:
    """First and last position of the span with the highest sum of start and end logits, among the spans of at most
    ``longest`` tokens within the mask ``text``."""
    logits = logits.masked_fill(~text[..., None], -torch.inf)
    scores = logits[:, :, None, 0] + logits[:, None, :, 1]  # [batch start end]
    spans = torch.ones_like(scores, dtype=torch.bool).triu().tril(longest - 1)  # start ≤ end < start + longest
    best = scores.masked_fill(~spans, -torch.inf).flatten(1).argmax(1)
    return torch.stack([best // scores.shape[2], best % scores.shape[2]], 1)
