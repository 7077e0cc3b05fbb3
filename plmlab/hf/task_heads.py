"""Weight mapping between our task heads and the task models (``…For…``) of ``transformers``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from plmlab.hf.albert import ALBERTS
from plmlab.hf.bert import BERTS
from plmlab.hf.electra import DISCRIMINATORS
from plmlab.hf.families import Family
from plmlab.hf.links import Link, affine, filled, loaded, require, to_ours, to_theirs, within
from plmlab.hf.mpnet import MPNETS
from plmlab.hf.roberta import ROBERTAS
from plmlab.hf.xlnet import XLNETS
from plmlab.models.registry import ModelSpec
from plmlab.models.task_heads import SentenceClassifier, SpanClassifier, TaskHead, TaskHeadConfig, TokenClassifier
from plmlab.weights import weights

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class Counterpart:
    """One of our task heads and its counterpart in ``transformers``.

    Attributes:
        family: the family of the encoder.
        ours: our class.
        theirs: the name of their class.
        output: their name of the output layer.
        pooler: their name of the pooler; None if their model has none.
        rate: their setting for the dropout before the output layer; None if it is the encoder's.
        settings: other settings with the values that this head requires.
    """

    family: Family
    ours: type[TaskHead]
    theirs: str
    output: str
    pooler: str | None = None
    rate: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)

    def links(self, size: Any) -> list[Link]:
        """Links of all weights that both classes have, for one of our configurations."""
        pooler = affine("pooler", self.pooler) if self.pooler else []
        return [*within("encoder", [*self.family.links(size), *pooler]), *affine("output", self.output)]


COUNTERPARTS = (
    Counterpart(BERTS, SentenceClassifier, "BertForSequenceClassification", "classifier", "bert.pooler.dense",
                "classifier_dropout"),
    Counterpart(BERTS, TokenClassifier, "BertForTokenClassification", "classifier", rate="classifier_dropout"),
    Counterpart(BERTS, SpanClassifier, "BertForQuestionAnswering", "qa_outputs"),
    Counterpart(XLNETS, SentenceClassifier, "XLNetForSequenceClassification", "logits_proj",
                "sequence_summary.summary", "summary_last_dropout",
                {"summary_type": "last", "summary_use_proj": True, "summary_activation": "tanh"}),
    Counterpart(XLNETS, TokenClassifier, "XLNetForTokenClassification", "classifier"),
    Counterpart(XLNETS, SpanClassifier, "XLNetForQuestionAnsweringSimple", "qa_outputs"),
    Counterpart(MPNETS, SentenceClassifier, "MPNetForSequenceClassification", "classifier.out_proj",
                "classifier.dense"),
    Counterpart(MPNETS, TokenClassifier, "MPNetForTokenClassification", "classifier"),
    Counterpart(MPNETS, SpanClassifier, "MPNetForQuestionAnswering", "qa_outputs"),
    Counterpart(ROBERTAS, SentenceClassifier, "RobertaForSequenceClassification", "classifier.out_proj",
                "classifier.dense", "classifier_dropout"),
    Counterpart(ROBERTAS, TokenClassifier, "RobertaForTokenClassification", "classifier", rate="classifier_dropout"),
    Counterpart(ROBERTAS, SpanClassifier, "RobertaForQuestionAnswering", "qa_outputs"),
    Counterpart(ALBERTS, SentenceClassifier, "AlbertForSequenceClassification", "classifier", "albert.pooler",
                "classifier_dropout_prob"),
    Counterpart(ALBERTS, TokenClassifier, "AlbertForTokenClassification", "classifier", rate="classifier_dropout_prob"),
    Counterpart(ALBERTS, SpanClassifier, "AlbertForQuestionAnswering", "qa_outputs"),
    Counterpart(DISCRIMINATORS, SentenceClassifier, "ElectraForSequenceClassification", "classifier.out_proj",
                "classifier.dense", "classifier_dropout"),
    Counterpart(DISCRIMINATORS, TokenClassifier, "ElectraForTokenClassification", "classifier",
                rate="classifier_dropout"),
    Counterpart(DISCRIMINATORS, SpanClassifier, "ElectraForQuestionAnswering", "qa_outputs"),
)


def read_task_head(kind: Counterpart, config: Any, theirs: Mapping[str, Tensor]) -> TaskHead:
    """Convert a task model of ``transformers`` to our task head. If their model has no pooler, because the head does
    not use it, ours is set to zero. Raises ValueError if weights are missing, or for a setting that our model does not
    support."""
    require(config, **kind.settings)
    encoder = kind.family.size(config)
    rate = getattr(config, kind.rate) if kind.rate else None
    model = kind.ours(TaskHeadConfig(ModelSpec(kind.family.encoder, encoder), config.num_labels,
                                     dropout=None if rate == encoder.dropout else rate))
    converted = to_ours(kind.links(encoder), theirs)
    zeros = {name: torch.zeros_like(tensor) for name, tensor in weights(model).items()
             if "encoder.pooler." in name and name not in converted}
    return filled(model, converted | zeros)


def counterpart(model: TaskHead) -> Counterpart:
    """The `Counterpart` of a task head. Raises ValueError if there is none for its encoder."""
    for kind in COUNTERPARTS:
        if type(model) is kind.ours and type(model.encoder) is kind.family.encoder:
            return kind
    raise ValueError(f"{type(model).__name__} with a {type(model.encoder).__name__} has no counterpart in "
                     "transformers; it has one with "
                     + ", ".join(kind.family.encoder.__name__ for kind in COUNTERPARTS if kind.ours is type(model)))


def write_task_head(model: TaskHead) -> "PreTrainedModel":
    """Convert our task head to its counterpart in ``transformers``. Raises ValueError for a dropout rate of the head
    that their model does not support."""
    import transformers

    kind, size = counterpart(model), model.config.encoder.config
    config = kind.family.config(size, num_labels=model.config.labels)
    if kind.rate:
        setattr(config, kind.rate, model.dropout.p)
    elif model.config.dropout is not None:
        raise ValueError(f"dropout={model.config.dropout}: {kind.theirs} has no dropout rate of its own before the "
                         "output layer; build the head with dropout=None")
    theirs: Any = getattr(transformers, kind.theirs)(config)
    return loaded(theirs, to_theirs(kind.links(size), weights(model)))
