"""BERT's task heads: ours, and the ``BertFor…`` models of ``transformers``."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from plmlab.hf.bert import POOLER, encoder_links, our_size, their_size, whole
from plmlab.hf.links import Link, affine, filled, loaded, to_ours, to_theirs
from plmlab.models.bert_heads import SentenceClassifier, SpanClassifier, TaskHead, TaskHeadConfig, TokenClassifier
from plmlab.weights import weights

if TYPE_CHECKING:
    from transformers import BertConfig, PreTrainedModel


@dataclass(frozen=True)
class Counterpart:
    """One of our task heads, their class by name, what they call the output layer, and whether they keep a pooler."""

    ours: type[TaskHead]
    theirs: str
    output: str
    pooled: bool

    def links(self, layers: int) -> list[Link]:
        """The links of all weights that both classes have, with so many encoder layers."""
        encoder = [*encoder_links(layers), *(POOLER if self.pooled else [])]
        return [*whole(encoder), *affine("output", self.output)]


COUNTERPARTS = (
    Counterpart(SentenceClassifier, "BertForSequenceClassification", "classifier", pooled=True),
    Counterpart(TokenClassifier, "BertForTokenClassification", "classifier", pooled=False),
    Counterpart(SpanClassifier, "BertForQuestionAnswering", "qa_outputs", pooled=False),
)


def read_task_head(kind: Counterpart, config: "BertConfig", theirs: Mapping[str, Tensor]) -> TaskHead:
    """Our task head with their weights. A pooler that they do not keep, since nothing reads it, is zero. ValueError
    where weights are missing, or the configuration asks for what ours does not do."""
    if config.classifier_dropout not in (None, config.hidden_dropout_prob):
        raise ValueError(f"this model drops out {config.classifier_dropout} before its output layer and "
                         f"{config.hidden_dropout_prob} elsewhere; ours has one rate for both")
    size = TaskHeadConfig(**asdict(our_size(config)), labels=config.num_labels)
    model = kind.ours(size)
    found = to_ours(kind.links(size.layers), theirs)
    blank = {name: torch.zeros_like(tensor) for name, tensor in weights(model).items() if name not in found}
    return filled(model, found | blank)


def write_task_head(model: TaskHead) -> "PreTrainedModel":
    """The ``BertFor…`` model of ``transformers`` with the size and the weights of our task head."""
    import transformers

    kind = next(kind for kind in COUNTERPARTS if kind.ours is type(model))
    theirs: Any = getattr(transformers, kind.theirs)(their_size(model.config, num_labels=model.config.labels))
    return loaded(theirs, to_theirs(kind.links(model.config.layers), weights(model)))
