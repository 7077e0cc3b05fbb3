"""CogQA (Ding et al. 2019). System 1, a BERT, reads the paragraph of one node at a time and predicts next hops and
candidate answers; System 2, a graph neural network, selects among the candidates. `plmlab.models.cogqa_search` expands
the graph.

Differences from the paper: a node's representation for System 2 is taken three quarters of the way up the layers, as in
the authors' code (layer 9 of 12). As in that code, a span ends in the sentence in which it begins. As in the paper but
not in the code, each of the k next hops of a paragraph has a target of 1/k, a paragraph without next hops has the same
weight as any other, and padding is excluded from the softmax.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import Batch
from plmlab.models.cognitive_gnn import CognitiveGNN, SelfLoopGNN
from plmlab.models.registry import ModelSpec, model
from plmlab.models.task_heads import TaskHead, TaskHeadConfig
from plmlab.objectives.cognitive_graphs import CognitiveBatch
from plmlab.objectives.cogqa_spans import SPAN_LABELS
from plmlab.objectives.fine_tuning import label_of
from plmlab.weights import with_pretrained


@dataclass(frozen=True)
class CogQAConfig(TaskHeadConfig):
    """Configuration of CogQA: that of the encoder, with the four `SPAN_LABELS` as labels, and ``alpha``, the weight of
    System 2's loss relative to System 1's (0.2 in the authors' code)."""

    labels: int = len(SPAN_LABELS)
    alpha: float = 0.2

    @property
    def semantic_layer(self) -> int:
        """The layer, counted from 1, whose [CLS] state represents the node in System 2."""
        return max(1, round(0.75 * self.encoder.config.layers))


class FoundSpan(NamedTuple):
    """A span predicted by System 1: positions ``start`` to ``end`` (exclusive), in the paragraph's sentence number
    ``sentence``. ``margin`` is the start logit minus that of [CLS], ``probability`` the probability of the start."""

    start: int
    end: int
    sentence: int
    margin: float
    probability: float


class Losses(NamedTuple):
    """The three losses that are minimized jointly, in nats: next hops, answer spans, and the choice of the final
    answer."""

    hop: Float[Tensor, ""]
    answer: Float[Tensor, ""]
    final: Float[Tensor, ""]


@model("cogqa", CogQAConfig)
class CogQA(TaskHead):
    """CogQA: System 1 (`forward`) and System 2 (``reasoner``)."""

    config: CogQAConfig
    reasoner_class: type[CognitiveGNN] = CognitiveGNN

    def __init__(self, config: Any) -> None:
        if config.labels != len(SPAN_LABELS):
            raise ValueError(f"labels={config.labels}: CogQA predicts {', '.join(SPAN_LABELS)}, so labels must be "
                             f"{len(SPAN_LABELS)}")
        super().__init__(config)
        self.reasoner = self.reasoner_class(config.encoder.config.model, config.encoder.config.dropout)

    @classmethod
    def from_pretrained(  # type: ignore[override]
        cls, encoder: nn.Module, labels: int = len(SPAN_LABELS), alpha: float = CogQAConfig.alpha,
    ) -> Self:
        """Build a CogQA from a copy of a pretrained encoder, with a new System 2 and new span heads."""
        return with_pretrained(encoder, cls(CogQAConfig(ModelSpec.of(encoder), labels, alpha)), "encoder")

    def forward(self, batch: Batch) -> Float[Tensor, "batch time 4"]:
        """System 1's span logits at every position, one per column of `SPAN_LABELS`; −inf at padding."""
        return self.read(batch)[0]

    def read(self, batch: Batch) -> tuple[Float[Tensor, "batch time 4"], Float[Tensor, "batch model"]]:
        """Return the span logits and sem[x, Q, clues], the node representations for System 2."""
        hidden = [*self.encoder.all_hidden_states(batch)]
        logits = self.output(hidden[-1]).masked_fill(~batch.padding_mask[..., None], float("-inf"))
        return logits, hidden[self.config.semantic_layer][:, 0]

    def losses(self, batch: CognitiveBatch) -> Losses:
        """The losses of both systems on the same batch of questions."""
        logits, semantics = self.read(batch.reading)
        pointers = label_of(batch.reading, "pointers", "objectives.cogqa_spans.hops_and_answers")
        hop_starts, hop_ends, answer_starts, answer_ends = span_losses(logits, pointers)
        return Losses((hop_starts + hop_ends) / 2, (answer_starts + answer_ends) / 2, self.choice(semantics, batch))

    def choice(self, semantics: Float[Tensor, "node model"], batch: CognitiveBatch) -> Float[Tensor, ""]:
        """System 2's loss: the mean over questions of −log p(answer) among all nodes of the question's graph, or of
        −log p(outcome) for a comparison question."""
        scores = self.reasoner(semantics, batch.edges)
        questions = int(batch.question[-1]) + 1
        own = batch.question == torch.arange(questions, device=scores.device)[:, None]  # [question node]
        logp = torch.where(own, scores, -torch.inf).log_softmax(1)  # over the nodes of each question's own graph
        total = -logp[batch.question[batch.answers], batch.answers].sum()
        for predictor, rows in ((self.reasoner.either_or, batch.either_or), (self.reasoner.yes_no, batch.yes_no)):
            difference = semantics[rows[:, 0]] - semantics[rows[:, 1]]
            total = total + F.binary_cross_entropy_with_logits(predictor(difference), rows[:, 2].to(difference.dtype),
                                                               reduction="sum")
        return total / questions

    def loss(self, batch: CognitiveBatch) -> Float[Tensor, ""]:
        """The joint loss hop + answer + α · final; gradients flow through both systems."""
        hop, answer, final = self.losses(batch)
        return hop + answer + self.config.alpha * final


@model("cogqa-self-loops", CogQAConfig)
class SelfLoopCogQA(CogQA):
    """CogQA with self-loops: uses the adjacency matrix of the authors' code."""

    reasoner_class = SelfLoopGNN


def span_losses(logits: Float[Tensor, "node time 4"], pointers: Int[Tensor, "node time 4"]) -> Float[Tensor, "4"]:
    """Loss of each of the four span outputs: the mean of −log p over the nodes that have a target for that output. The
    k targets of a node have equal weights: Σ gt[i] · −log p[i] with gt = 1/k (§3.4.1)."""
    targets = pointers == 1
    count = targets.sum(1)  # [node 4]
    loss = -logits.log_softmax(1).masked_fill(~targets, 0).sum(1) / count.clamp(min=1)  # [node 4]
    return loss.sum(0) / (count > 0).sum(0).clamp(min=1)


def best_spans(starts: Float[Tensor, "time"], ends: Float[Tensor, "time"], sentences: Sequence[tuple[int, int]],
               most: int, *, longest: int = 10, allow: float = 0.0) -> list[FoundSpan]:
    """The spans that System 1 predicts in a paragraph, most likely start first (§3.2.1).

    ``starts`` and ``ends`` are the logits of all positions; ``sentences`` holds the positions of each sentence, start
    inclusive and end exclusive. Of the ``most`` most likely starts, those whose logit is higher than that of [CLS]
    (position 0) minus ``allow`` are kept. A span's end is the most likely one in the same sentence that gives a span of
    at most ``longest`` tokens.
    """
    if not sentences:
        return []
    first, last = sentences[0][0], sentences[-1][1]
    logits, probabilities = starts.tolist(), starts.softmax(0).tolist()
    spans = []
    for start in sorted(range(first, last), key=lambda i: -logits[i])[:most]:
        if logits[start] <= logits[0] - allow:
            break
        sentence = next(i for i, (_, end) in enumerate(sentences) if start < end)
        possible_ends = ends[start:min(start + longest, sentences[sentence][1])]
        spans.append(FoundSpan(start, start + int(possible_ends.argmax()) + 1, sentence, logits[start] - logits[0],
                               probabilities[start]))
    return spans
