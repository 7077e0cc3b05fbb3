"""CogQA (Ding et al. 2019): System 1, a BERT, reads one node's paragraph at a time, and says where to go on and what
may be the answer; System 2, a graph network, chooses among what was found. `plmlab.models.cogqa_search` lets the
graph grow.

What differs from the paper: what a node is to System 2 comes from three quarters up the layers, as in the authors' code
(9 of 12). As there, a span ends in the sentence in which it begins. And as in the paper, but not there, the k next hops
of a paragraph have a k-th of the target each, one without any weighs as much as all others, and padding takes no part.
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
    """Its BERT and its size. Its labels are the four pointers; ``alpha`` is how much System 2's loss
    weighs beside those of System 1 (0.2 in the authors' code)."""

    labels: int = len(SPAN_LABELS)
    alpha: float = 0.2

    @property
    def semantic_layer(self) -> int:
        """The layer, from 1, whose [CLS] is what a node is to System 2."""
        return max(1, round(0.75 * self.encoder.config.layers))


class FoundSpan(NamedTuple):
    """A span that System 1 points at: positions ``start`` to ``end``, without the last; in which ``sentence`` of the
    paragraph; by how much the logit of its start is above that of [CLS], and the chance of its start."""

    start: int
    end: int
    sentence: int
    margin: float
    chance: float


class Losses(NamedTuple):
    """What is learned at once: the next hops, the answers, and the choice among nodes, in nats."""

    hop: Float[Tensor, ""]
    answer: Float[Tensor, ""]
    final: Float[Tensor, ""]


@model("cogqa", CogQAConfig)
class CogQA(TaskHead):
    """Both systems; `forward` is System 1's."""

    config: CogQAConfig
    reasoner_class: type[CognitiveGNN] = CognitiveGNN

    def __init__(self, config: Any) -> None:
        if config.labels != len(SPAN_LABELS):
            raise ValueError(f"labels={config.labels}: CogQA points at {', '.join(SPAN_LABELS)}, so labels must be "
                             f"{len(SPAN_LABELS)}")
        super().__init__(config)
        self.reasoner = self.reasoner_class(config.encoder.config.model, config.encoder.config.dropout)

    @classmethod
    def from_pretrained(  # type: ignore[override]
        cls, encoder: nn.Module, labels: int = len(SPAN_LABELS), alpha: float = CogQAConfig.alpha,
    ) -> Self:
        """A new System 2, and new pointers on a copy of a pretrained encoder."""
        return with_pretrained(encoder, cls(CogQAConfig(ModelSpec.of(encoder), labels, alpha)), "encoder")

    def forward(self, batch: Batch) -> Float[Tensor, "batch time 4"]:
        """The logits of each position for each of the four `SPAN_LABELS`; −inf at padding."""
        return self.read(batch)[0]

    def read(self, batch: Batch) -> tuple[Float[Tensor, "batch time 4"], Float[Tensor, "batch model"]]:
        """The logits, and sem[x, Q, clues]: what each node is to System 2."""
        hidden = [*self.encoder.all_hidden_states(batch)]
        logits = self.output(hidden[-1]).masked_fill(~batch.padding_mask[..., None], float("-inf"))
        return logits, hidden[self.config.semantic_layer][:, 0]

    def losses(self, batch: CognitiveBatch) -> Losses:
        """Both systems' losses on the same questions."""
        logits, semantics = self.read(batch.reading)
        hop_starts, hop_ends, answer_starts, answer_ends = pointing(logits, label_of(batch.reading, "pointers"))
        return Losses((hop_starts + hop_ends) / 2, (answer_starts + answer_ends) / 2, self.choice(semantics, batch))

    def choice(self, semantics: Float[Tensor, "node model"], batch: CognitiveBatch) -> Float[Tensor, ""]:
        """Mean over questions of −log p(the answer among all nodes of its graph), or of −log p(outcome)."""
        scores = self.reasoner(semantics, batch.edges)
        questions = int(batch.question[-1]) + 1
        own = batch.question == torch.arange(questions, device=scores.device)[:, None]
        logp = torch.where(own, scores, -torch.inf).log_softmax(1)
        total = -logp[batch.question[batch.answers], batch.answers].sum()
        for predictor, rows in ((self.reasoner.either_or, batch.either_or), (self.reasoner.yes_no, batch.yes_no)):
            difference = semantics[rows[:, 0]] - semantics[rows[:, 1]]
            total = total + F.binary_cross_entropy_with_logits(predictor(difference), rows[:, 2].to(difference.dtype),
                                                               reduction="sum")
        return total / questions

    def loss(self, batch: CognitiveBatch) -> Float[Tensor, ""]:
        """hop + answer + α · final, all weights learning from all three."""
        hop, answer, final = self.losses(batch)
        return hop + answer + self.config.alpha * final


@model("cogqa-self-loops", CogQAConfig)
class SelfLoopCogQA(CogQA):
    """CogQA by the adjacency of the authors' code."""

    reasoner_class = SelfLoopGNN


def pointing(logits: Float[Tensor, "node time 4"], pointers: Int[Tensor, "node time 4"]) -> Float[Tensor, "4"]:
    """For each pointer the mean of −log p over the nodes that are asked for it; of several targets of one node each has
    an equal part, Σ gt[i] · −log p[i] with gt = 1/k (§3.4.1)."""
    targets = pointers == 1
    count = targets.sum(1)
    each = -logits.log_softmax(1).masked_fill(~targets, 0).sum(1) / count.clamp(min=1)
    return each.sum(0) / (count > 0).sum(0).clamp(min=1)


def best_spans(starts: Float[Tensor, "time"], ends: Float[Tensor, "time"], sentences: Sequence[tuple[int, int]],
               most: int, *, longest: int = 10, allow: float = 0.0) -> list[FoundSpan]:
    """The spans of a paragraph that System 1 points at, by their starts, the likeliest first (§3.2.1).

    ``starts`` and ``ends`` are logits of all positions; ``sentences`` the positions (first, behind the last) of each
    sentence. Of the ``most`` likeliest starts those count that are likelier than [CLS], position 0, less ``allow``.
    Each span ends at the likeliest end of the ``longest`` positions from its start on, in the same sentence.
    """
    if not sentences:
        return []
    first, last = sentences[0][0], sentences[-1][1]
    logits, chances = starts.tolist(), starts.softmax(0).tolist()
    found = []
    for start in sorted(range(first, last), key=lambda position: -logits[position])[:most]:
        if logits[start] <= logits[0] - allow:
            break
        sentence = next(i for i, (_, behind) in enumerate(sentences) if start < behind)
        reach = ends[start:min(start + longest, sentences[sentence][1])]
        found.append(FoundSpan(start, start + int(reach.argmax()) + 1, sentence, logits[start] - logits[0],
                               chances[start]))
    return found
