"""Single-pass reader (after Yang et al. 2018, §5), the baseline for CogQA: one BERT takes the question and all
paragraphs as input and predicts an answer span and the supporting sentences. HotpotQA's own baseline predicts the same
outputs with a recurrent network.

Yes–no questions are also answered with a span, because the text begins with the words "yes" and "no".
"""

from dataclasses import dataclass
from typing import Any, Self

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.models.registry import model
from plmlab.models.task_heads import TaskHead, TaskHeadConfig, best_span
from plmlab.objectives.fine_tuning import label_of

LOGITS = ("answer start", "answer end", "supporting")


@dataclass(frozen=True)
class SinglePassConfig(TaskHeadConfig):
    """Configuration of a single-pass reader: that of the encoder, with the three `LOGITS` as labels."""

    labels: int = len(LOGITS)


@model("one-pass-reader", SinglePassConfig)
class SinglePassReader(TaskHead):
    """Single-pass reader: predicts the start and the end of the answer at every position, and at the first position of
    each sentence whether that sentence is a supporting fact."""

    def __init__(self, config: Any) -> None:
        if config.labels != len(LOGITS):
            raise ValueError(f"labels={config.labels}: this reader predicts {', '.join(LOGITS)}, so labels must be "
                             f"{len(LOGITS)}")
        super().__init__(config)

    @classmethod
    def from_pretrained(cls, encoder: nn.Module, labels: int = len(LOGITS)) -> Self:
        """Build a reader from a copy of a pretrained encoder, with a new output layer."""
        return super().from_pretrained(encoder, labels)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time 3"]:
        """The three `LOGITS` at every position; −inf at padding."""
        return self.output(self.encoder(batch)).masked_fill(~batch.padding_mask[..., None], float("-inf"))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Span loss over the texts that contain the answer, plus the mean over sentences of −log p(supporting or not),
        in nats. The labels are those of `plmlab.objectives.single_pass_qa.with_support`."""
        start, end, supporting = self(batch).unbind(-1)
        maker = "objectives.single_pass_qa.with_support"
        label = label_of(batch, "supporting", maker)
        real = label != IGNORE  # first positions of sentences
        loss = F.binary_cross_entropy_with_logits(supporting[real], label[real].to(supporting.dtype))
        for logits, label in ((start, label_of(batch, "start", maker)), (end, label_of(batch, "end", maker))):
            total = F.cross_entropy(logits, label, ignore_index=IGNORE, reduction="sum")
            loss = loss + total / (2 * (label != IGNORE).sum().clamp(min=1))
        return loss

    @torch.no_grad()
    def predict(self, batch: Batch, longest: int = 10) -> list[tuple[tuple[int, int], list[float]]]:
        """Predict for each text the answer span as (start, exclusive end), and for each position the probability that a
        supporting sentence starts there."""
        logits = self(batch)
        spans = best_span(logits[..., :2], (batch.segments == 1) & batch.padding_mask, longest)
        return [((first, last + 1), probabilities) for (first, last), probabilities in zip(
            spans.tolist(), logits[..., 2].sigmoid().tolist(), strict=True)]
