"""UniLM's task heads: BERT's, on its encoder. A task is read under no mask, with BERT's two segments (Dong et al. 2019,
§2.5)."""

from dataclasses import dataclass

from plmlab.models.bert_heads import SentenceClassifier, SpanClassifier, TokenClassifier
from plmlab.models.registry import model
from plmlab.models.unilm import UNIFIED, UniLM, UniLMConfig


@dataclass(frozen=True)
class UniLMHeadConfig(UniLMConfig):
    """The size of a UniLM, and how many labels its output layer tells apart."""

    labels: int = 2


@model("unilm-sentence", UniLMHeadConfig, UNIFIED)
class UniLMSentenceClassifier(SentenceClassifier):
    """One sentence, or a pair: what kind it is of, said from the vector of [CLS]."""

    encoder_class = UniLM


@model("unilm-token", UniLMHeadConfig, UNIFIED)
class UniLMTokenClassifier(TokenClassifier):
    """Each token's tag, said from its own vector."""

    encoder_class = UniLM


@model("unilm-span", UniLMHeadConfig, UNIFIED)
class UniLMSpanClassifier(SpanClassifier):
    """Where in a text the answer begins and where it ends."""

    encoder_class = UniLM
