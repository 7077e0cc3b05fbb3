"""The four interfaces of BERT (Devlin et al. 2019, §4, fig. 4): the pretrained encoder, and one new output layer.

Those of other encoders, in `plmlab.models.two_stream_heads`, name theirs; nothing else differs.

Where they differ from the authors' code: no answer begins or ends in padding, which here takes no part in the softmax.
"""

from dataclasses import asdict, dataclass, fields
from typing import Any, Self, TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.layers.initialise import initialise
from plmlab.models.architectures import ENCODER
from plmlab.models.bert import BERT, BERTConfig
from plmlab.models.registry import everything, model, varied
from plmlab.objectives.fine_tuning import asked
from plmlab.weights import on_copy_of


@dataclass(frozen=True)
class TaskHeadConfig(BERTConfig):
    """The size of a BERT, and how many labels its output layer tells apart."""

    labels: int = 2


class TaskHead(nn.Module):
    """What the four have in common: an encoder, called ``bert`` of whatever class it is, and the one layer that is new
    to it. Its config is that of the encoder, and ``labels``, how many the output layer tells apart."""

    encoder_class: type[BERT] = BERT

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        size = varied(self.encoder_class).config
        self.bert = self.encoder_class(size(**{field.name: getattr(config, field.name) for field in fields(size)}))
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(config.model, config.labels)
        initialise(self.output)

    @classmethod
    def on(cls, bert: BERT, labels: int = 2) -> Self:
        """A new output layer on a copy of a pretrained encoder, such as ``pretrained.bert``; ``bert`` itself stays
        as it is, whatever is learned here."""
        if type(bert) is not cls.encoder_class:
            raise ValueError(f"a {type(bert).__name__} was given, and a {cls.__name__} stands on a "
                             f"{cls.encoder_class.__name__}; name another encoder_class in a subclass")
        return on_copy_of(bert, cls(varied(cls).config(**asdict(bert.config), labels=labels)), "bert")


Head = TypeVar("Head", bound=TaskHead)


def head_for(encoder: type[BERT], kind: type[Head]) -> type[Head]:
    """The task head of a kind, such as ``SentenceClassifier``, for a class of encoder: the one that is registered for
    it; where none is, that of the class that it varies, on this encoder."""
    heads = {head.encoder_class: head for head in (told.model for told in everything().values())
             if issubclass(head, kind)}
    nearest = next(heads[cls] for cls in encoder.__mro__ if cls in heads)
    if nearest.encoder_class is encoder:
        return nearest
    return type(nearest.__name__, (nearest,), {"encoder_class": encoder})


@model("bert-sentence", TaskHeadConfig, ENCODER)
class SentenceClassifier(TaskHead):
    """One sentence, or a pair: what kind it is of, said from its summary, the vector of [CLS] (fig. 4 a, b)."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch label"]:
        """The logits of each text's class."""
        return self.output(self.dropout(self.bert.summary(batch)))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean over texts of −log p(class); label ``class``, one number a text."""
        return F.cross_entropy(self(batch), asked(batch, "class"), ignore_index=IGNORE)


@model("bert-token", TaskHeadConfig, ENCODER)
class TokenClassifier(TaskHead):
    """Classifier of tokens, such as names: each token's tag, said from its own vector (fig. 4 d)."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch time label"]:
        """The logits of each slot's tag."""
        return self.output(self.dropout(self.bert(batch)))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean over tagged slots of −log p(tag); label ``tags``, one number a slot, IGNORE where there is no tag."""
        return F.cross_entropy(self(batch).flatten(0, 1), asked(batch, "tags").flatten(), ignore_index=IGNORE)


@model("bert-span", TaskHeadConfig, ENCODER)
class SpanClassifier(TaskHead):
    """Classifier of spans, for question answering: where in the text the answer begins and where it ends (fig. 4 c)."""

    def __init__(self, config: Any) -> None:
        if config.labels != 2:
            raise ValueError(f"labels={config.labels}: a span has two ends, so labels must be 2")
        super().__init__(config)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time 2"]:
        """The logits S·T_t of the answer beginning at a slot and E·T_t of it ending there; −inf at padding."""
        return self.output(self.bert(batch)).masked_fill(~batch.looked_at[..., None], float("-inf"))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean over texts of −log p(start) and −log p(end), halved; labels ``start`` and ``end``, a slot a text (the
        last slot of the answer, not the one behind it), IGNORE where there is no answer."""
        start, end = self(batch).unbind(-1)
        return (F.cross_entropy(start, asked(batch, "start"), ignore_index=IGNORE)
                + F.cross_entropy(end, asked(batch, "end"), ignore_index=IGNORE)) / 2

    def best(self, batch: Batch, longest: int = 30) -> Int[Tensor, "batch 2"]:
        """Start and end of the likeliest span, of at most ``longest`` slots: max S·T_i + E·T_j over j ≥ i (§4.2).

        Only slots of the text can be chosen, not of the question: of segment 1, or of 0 where that is all there is.
        """
        return best_span(self(batch), batch.segments == (batch.segments == 1).any(1, keepdim=True), longest)


def best_span(logits: Float[Tensor, "batch time 2"], text: Bool[Tensor, "batch time"], longest: int,
              ) -> Int[Tensor, "batch 2"]:
    """First and last slot of the span with the highest sum of start and end logit, of at most ``longest`` slots, all in
    the ``text``."""
    logits = logits.masked_fill(~text[..., None], -torch.inf)
    scores = logits[:, :, None, 0] + logits[:, None, :, 1]
    spans = torch.ones_like(scores, dtype=torch.bool).triu().tril(longest - 1)
    best = scores.masked_fill(~spans, -torch.inf).flatten(1).argmax(1)
    return torch.stack([best // scores.shape[2], best % scores.shape[2]], 1)
