"""The task heads of XLNet and MPNet: BERT's, on their encoders. In fine-tuning there is the content stream alone.

Where they differ from the authors' code: XLNet's end of an answer is told where the answer begins, and a beam finds
both; here, as in BERT, neither end knows the other.
"""

from dataclasses import dataclass

from plmlab.models.architectures import CLS_LAST, ENCODER
from plmlab.models.bert_heads import SentenceClassifier, SpanClassifier, TokenClassifier
from plmlab.models.mpnet import MPNet, MPNetConfig
from plmlab.models.registry import model
from plmlab.models.xlnet import XLNet, XLNetConfig


@dataclass(frozen=True)
class XLNetHeadConfig(XLNetConfig):
    """The size of an XLNet, and how many labels its output layer tells apart."""

    labels: int = 2


@model("xlnet-sentence", XLNetHeadConfig, CLS_LAST)
class XLNetSentenceClassifier(SentenceClassifier):
    """One sentence, or a pair: what kind it is of, said from the vector of the [CLS] behind it."""

    encoder_class = XLNet


@model("xlnet-token", XLNetHeadConfig, CLS_LAST)
class XLNetTokenClassifier(TokenClassifier):
    """Each token's tag, said from its own vector."""

    encoder_class = XLNet


@model("xlnet-span", XLNetHeadConfig, CLS_LAST)
class XLNetSpanClassifier(SpanClassifier):
    """Where in a text the answer begins and where it ends."""

    encoder_class = XLNet


@dataclass(frozen=True)
class MPNetHeadConfig(MPNetConfig):
    """The size of an MPNet, and how many labels its output layer tells apart."""

    labels: int = 2


@model("mpnet-sentence", MPNetHeadConfig, ENCODER)
class MPNetSentenceClassifier(SentenceClassifier):
    """One sentence, or a pair: what kind it is of, said from the vector of [CLS]."""

    encoder_class = MPNet


@model("mpnet-token", MPNetHeadConfig, ENCODER)
class MPNetTokenClassifier(TokenClassifier):
    """Each token's tag, said from its own vector."""

    encoder_class = MPNet


@model("mpnet-span", MPNetHeadConfig, ENCODER)
class MPNetSpanClassifier(SpanClassifier):
    """Where in a text the answer begins and where it ends."""

    encoder_class = MPNet
