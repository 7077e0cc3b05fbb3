"""The task heads: ours, and the ``…For…`` models of ``transformers``."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from plmlab.hf.bert import BERTS
from plmlab.hf.families import Family
from plmlab.hf.links import Link, affine, filled, loaded, require, to_ours, to_theirs, within
from plmlab.hf.mpnet import MPNETS
from plmlab.hf.xlnet import XLNETS
from plmlab.models.bert_heads import SentenceClassifier, SpanClassifier, TaskHead, TokenClassifier
from plmlab.models.registry import varied
from plmlab.models.two_stream_heads import (
    MPNetSentenceClassifier,
    MPNetSpanClassifier,
    MPNetTokenClassifier,
    XLNetSentenceClassifier,
    XLNetSpanClassifier,
    XLNetTokenClassifier,
)
from plmlab.weights import weights

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class Counterpart:
    """One of our task heads, and theirs.

    Attributes:
        family: that of the encoder.
        theirs: their class.
        output: what they call the output layer.
        pooler: what they call the pooler; None where they keep none.
        rate: their setting for the dropout before the output layer; None where that is the encoder's.
        settings: others that this head depends on, as they must be.
    """

    family: Family
    ours: type[TaskHead]
    theirs: str
    output: str
    pooler: str | None = None
    rate: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)

    def links(self, size: Any) -> list[Link]:
        """The links of all weights that both classes have, by our configuration."""
        pooler = affine("pooler", self.pooler) if self.pooler else []
        return [*within("bert", [*self.family.links(size), *pooler]), *affine("output", self.output)]


COUNTERPARTS = (
    Counterpart(BERTS, SentenceClassifier, "BertForSequenceClassification", "classifier", "bert.pooler.dense",
                "classifier_dropout"),
    Counterpart(BERTS, TokenClassifier, "BertForTokenClassification", "classifier", rate="classifier_dropout"),
    Counterpart(BERTS, SpanClassifier, "BertForQuestionAnswering", "qa_outputs"),
    Counterpart(XLNETS, XLNetSentenceClassifier, "XLNetForSequenceClassification", "logits_proj",
                "sequence_summary.summary", "summary_last_dropout",
                {"summary_type": "last", "summary_use_proj": True, "summary_activation": "tanh"}),
    Counterpart(XLNETS, XLNetTokenClassifier, "XLNetForTokenClassification", "classifier"),
    Counterpart(XLNETS, XLNetSpanClassifier, "XLNetForQuestionAnsweringSimple", "qa_outputs"),
    Counterpart(MPNETS, MPNetSentenceClassifier, "MPNetForSequenceClassification", "classifier.out_proj",
                "classifier.dense"),
    Counterpart(MPNETS, MPNetTokenClassifier, "MPNetForTokenClassification", "classifier"),
    Counterpart(MPNETS, MPNetSpanClassifier, "MPNetForQuestionAnswering", "qa_outputs"),
)


def read_task_head(kind: Counterpart, config: Any, theirs: Mapping[str, Tensor]) -> TaskHead:
    """Our task head with their weights. A pooler that they do not keep, since nothing reads it, is zero. ValueError
    where weights are missing, or the configuration asks for what ours does not do."""
    require(config, **kind.settings)
    encoder = kind.family.size(config)
    rate = getattr(config, kind.rate) if kind.rate else None
    if rate not in (None, encoder.dropout):
        raise ValueError(f"this model drops out {rate} before its output layer and {encoder.dropout} elsewhere; ours "
                         "has one rate for both")
    model = kind.ours(varied(kind.ours).config(**asdict(encoder), labels=config.num_labels))
    found = to_ours(kind.links(encoder), theirs)
    blank = {name: torch.zeros_like(tensor) for name, tensor in weights(model).items()
             if "bert.pooler." in name and name not in found}
    return filled(model, found | blank)


def write_task_head(model: TaskHead) -> "PreTrainedModel":
    """The model of ``transformers`` with the size and the weights of our task head."""
    import transformers

    kind = next(kind for kind in COUNTERPARTS if kind.ours is type(model))
    theirs: Any = getattr(transformers, kind.theirs)(
        kind.family.config(model.config, num_labels=model.config.labels))
    return loaded(theirs, to_theirs(kind.links(model.config), weights(model)))
