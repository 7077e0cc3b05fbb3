"""A reader that has all of its text before it at once: one BERT over question and paragraphs, one span as the answer,
and the sentences that support it. It is what HotpotQA's own baseline (Yang et al. 2018, §5) asks of its network, which
was a recurrent one; CogQA's rival.

A question of yes or no is answered by a span too: the text begins with these two words.
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
    """Its BERT and its size; its labels are the three `LOGITS`."""

    labels: int = len(LOGITS)


@model("one-pass-reader", SinglePassConfig)
class SinglePassReader(TaskHead):
    """Says of each position how likely the answer begins and ends there, and, at the first position of each sentence,
    how likely that sentence supports it."""

    def __init__(self, config: Any) -> None:
        if config.labels != len(LOGITS):
            raise ValueError(f"labels={config.labels}: this reader says {', '.join(LOGITS)}, so labels must be "
                             f"{len(LOGITS)}")
        super().__init__(config)

    @classmethod
    def from_pretrained(cls, encoder: nn.Module, labels: int = len(LOGITS)) -> Self:
        """A new output layer on a copy of a pretrained encoder."""
        return super().from_pretrained(encoder, labels)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time 3"]:
        """The three `LOGITS` of each position; −inf at padding."""
        return self.output(self.encoder(batch)).masked_fill(~batch.padding_mask[..., None], float("-inf"))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """That of a span classifier, where the text answers, and mean over sentences of −log p(supporting or not);
        labels of
        `plmlab.objectives.single_pass_qa.with_support`."""
        start, end, supporting = self(batch).unbind(-1)
        told = label_of(batch, "supporting")
        loss = F.binary_cross_entropy_with_logits(supporting[told != IGNORE], told[told != IGNORE].to(supporting.dtype))
        for logits, label in ((start, label_of(batch, "start")), (end, label_of(batch, "end"))):
            each = F.cross_entropy(logits, label, ignore_index=IGNORE, reduction="sum")
            loss = loss + each / (2 * (label != IGNORE).sum().clamp(min=1))
        return loss

    @torch.no_grad()
    def told(self, batch: Batch, longest: int = 10) -> list[tuple[tuple[int, int], list[float]]]:
        """Of each text the positions of its answer, (first, behind the last), and each position's chance of beginning a
        sentence that supports it."""
        logits = self(batch)
        spans = best_span(logits[..., :2], (batch.segments == 1) & batch.padding_mask, longest)
        return [((first, last + 1), chances) for (first, last), chances in zip(
            spans.tolist(), logits[..., 2].sigmoid().tolist(), strict=True)]
