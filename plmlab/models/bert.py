"""BERT (Devlin et al. 2019): a bidirectional Transformer encoder, pretrained by masked language modelling and
next-sentence prediction.

Differences from the paper: weights are initialized from a normal distribution that is not truncated at two standard
deviations; masking is dynamic, with new positions selected each time a text is used (the authors prepared ten versions
of each text); a batch may contain texts without a second segment, which have no next-sentence target. As in the
authors' code but not in the paper: a LayerNorm on the embeddings, a transform before the masked-LM output layer, and a
pooler.
"""

from dataclasses import dataclass
from typing import Any, Self

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.layers.initialise import initialise
from plmlab.layers.positions import LearnedPositions
from plmlab.layers.shape import LayerShape
from plmlab.layers.stack import Stack, TokenEmbeddings
from plmlab.layers.transformer import ACTIVATIONS
from plmlab.models.architectures import ENCODER
from plmlab.models.registry import Pretraining, model
from plmlab.objectives import masked, next_sentence
from plmlab.text.tokenizers import Tokenizer


@dataclass(frozen=True)
class BERTConfig:
    """Configuration of a BERT; ``time`` is the number of learned positions, ``segments`` the number of segment
    embeddings."""

    vocab: int
    time: int = 128
    layers: int = 4
    model: int = 128
    heads: int = 4
    inner: int = 512
    segments: int = 2
    dropout: float = 0.1
    attention_dropout: float = 0.1
    activation: str = "gelu"
    eps: float = 1e-12

    @classmethod
    def tiny(cls, vocab: int, time: int = 128) -> Self:
        """A model that trains in seconds on two CPU cores. It has no dropout, because it cannot overfit in that
        time."""
        return cls(vocab, time, dropout=0.0, attention_dropout=0.0)

    @classmethod
    def base(cls) -> Self:
        """BERT-base: 109.5 million parameters (110 million in the paper, §3)."""
        return cls(vocab=30_522, time=512, layers=12, model=768, heads=12, inner=3072)

    @classmethod
    def large(cls) -> Self:
        """BERT-large: 335.1 million parameters. The paper (§3) states 340 million; no combination of the pooler (1.0
        million, included here) and the pretraining heads (1.1 million, without the tied matrix) gives that number."""
        return cls(vocab=30_522, time=512, layers=24, model=1024, heads=16, inner=4096)

    @property
    def shape(self) -> LayerShape:
        """The shape of every layer."""
        return LayerShape(self.model, self.heads, self.inner, self.activation, self.dropout,
                          self.attention_dropout, self.eps)


class Embeddings(TokenEmbeddings):
    """Sum of token, position and segment embeddings, followed by LayerNorm and dropout (§3, fig. 2)."""

    def __init__(self, config: BERTConfig) -> None:
        super().__init__(config)
        self.position = LearnedPositions(config.time, config.model)
        self.segment = nn.Embedding(config.segments, config.model)
        self.norm = nn.LayerNorm(config.model, eps=config.eps)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Input embedding of every position."""
        x = self.token(batch.tokens) + self.position(batch.position_ids[:, 0]) + self.segment(batch.segments)
        return self.dropout(self.norm(x))


@model("bert", BERTConfig, ENCODER)
class BERT(Stack):
    """BERT encoder: one hidden state per position, and one pooled vector per text, from [CLS]. Variants may replace its
    parts, as in any `Stack`."""

    config: BERTConfig
    embeddings_class: type[TokenEmbeddings] = Embeddings

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.pooler = nn.Linear(config.model, config.model)
        self.apply(initialise)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Final hidden states, one per position."""
        return self.hidden_states(batch)

    def pool(self, hidden: Float[Tensor, "batch time model"]) -> Float[Tensor, "batch model"]:
        """Pooled output of the text: tanh(W h_[CLS])."""
        return self.pooler(hidden[:, 0]).tanh()

    def pooled_output(self, batch: Batch) -> Float[Tensor, "batch model"]:
        """Pooled output: one vector per text, for text-level tasks."""
        return self.pool(self(batch))


def at_last_position(hidden: Float[Tensor, "batch time model"], batch: Batch) -> Float[Tensor, "batch model"]:
    """Hidden state of the last real token of each text; padding may be on either side."""
    index = torch.arange(batch.size[1], device=hidden.device)
    last = torch.where(batch.padding_mask, index, 0).amax(1)  # [batch]
    return hidden[torch.arange(len(last), device=last.device), last]


class MaskedLM(nn.Module):
    """Encoder with BERT's masked-LM head, the only pretraining head of several variants (§3.1, task 1).

    A subclass names its encoder, and extends `build_heads` and `loss` if it has further heads.
    """

    encoder_class: type[BERT] = BERT

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.encoder = self.encoder_class(config)
        self.build_heads()
        for head in self.children():
            if head is not self.encoder:
                initialise(head)

    def build_heads(self) -> None:
        """Create the layers of the masked-LM head, which is as wide as the token embeddings."""
        width = self.encoder.embeddings.token.embedding_dim
        self.transform = nn.Linear(self.config.model, width)
        self.norm = nn.LayerNorm(width, eps=self.config.eps)
        self.bias = nn.Parameter(torch.zeros(self.config.vocab))

    def forward(self, batch: Batch) -> Float[Tensor, "batch time vocab"]:
        """Masked-LM logits at every position."""
        return self.token_logits(self.encoder(batch))

    def token_logits(self, hidden: Float[Tensor, "*batch model"]) -> Float[Tensor, "*batch vocab"]:
        """Masked-LM head: linear layer, activation and LayerNorm, then the tied embedding matrix with a bias."""
        transformed = self.norm(ACTIVATIONS[self.config.activation](self.transform(hidden)))
        return F.linear(transformed, self.encoder.embeddings.token.weight, self.bias)

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Masked-LM loss in nats."""
        return self.masked_lm_loss(self.encoder(batch), batch)

    def masked_lm_loss(self, hidden: Float[Tensor, "batch time model"], batch: Batch) -> Float[Tensor, ""]:
        """Mean of −log p(token) over the target positions, in nats.

        Logits are computed only at the target positions, which saves 85 % of the output softmax.
        """
        is_target = batch.targets != IGNORE
        return F.cross_entropy(self.token_logits(hidden[is_target]), batch.targets[is_target])  # [target vocab]


def classification_loss(logits: Float[Tensor, "row class"], labels: Int[Tensor, "row"]) -> Float[Tensor, ""]:
    """Mean of −log p(label) over the rows with a label (not IGNORE), in nats; 0 if there is none."""
    total = F.cross_entropy(logits, labels, ignore_index=IGNORE, reduction="sum")
    return total / (labels != IGNORE).sum().clamp(min=1)


@model("bert-pretraining", BERTConfig, ENCODER,
       Pretraining("bert", masked, Tokenizer.wordpiece, added=2, pairs=next_sentence))
class BERTPretraining(MaskedLM):
    """BERT with its two pretraining heads: masked language modelling and next-sentence prediction (§3.1)."""

    def build_heads(self) -> None:
        """Create the masked-LM head and the next-sentence classifier."""
        super().build_heads()
        self.next_sentence = nn.Linear(self.config.model, 2)

    def next_sentence_logits(self, hidden: Float[Tensor, "batch time model"]) -> Float[Tensor, "batch 2"]:
        """Next-sentence logits: B follows A (0), B is a random sentence (1)."""
        return self.next_sentence(self.encoder.pool(hidden))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Masked-LM loss plus next-sentence loss, in nats. Texts without a label ``next_sentence`` (0: B follows A, 1:
        B is a random sentence) have no next-sentence loss."""
        hidden = self.encoder(batch)
        loss = self.masked_lm_loss(hidden, batch)
        if "next_sentence" in batch.labels:
            loss = loss + classification_loss(self.next_sentence_logits(hidden), batch.labels["next_sentence"])
        return loss
