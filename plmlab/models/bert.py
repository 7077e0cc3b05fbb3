"""BERT (Devlin et al. 2019): a Transformer encoder that sees both sides, pretrained on what is hidden from it.

What differs from the paper: weights begin from a normal distribution that is not cut off at two deviations; positions
are selected anew each time a text is read (the authors drew ten versions of it); a text without a second segment may
stand in a batch, and is asked for no next sentence. As in the authors' code and not in the paper: the norm of the
embeddings, the layer before the output of the masked words, and the pooler.
"""

from dataclasses import dataclass
from typing import Any, Self

import torch
from jaxtyping import Float
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
    """The size of a BERT. ``time`` is the number of positions that it learns, ``segments`` that of sentences."""

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
        """Trains in seconds on two cores. Too small to overfit in that time, so it needs no dropout."""
        return cls(vocab, time, dropout=0.0, attention_dropout=0.0)

    @classmethod
    def base(cls) -> Self:
        """BERT-base: 110 million parameters."""
        return cls(vocab=30_522, time=512, layers=12, model=768, heads=12, inner=3072)

    @property
    def shape(self) -> LayerShape:
        """Of each layer."""
        return LayerShape(self.model, self.heads, self.inner, self.activation, self.dropout,
                          self.attention_dropout, self.eps)


class Embeddings(TokenEmbeddings):
    """What a token is, plus where it stands, plus which sentence it is of: added, normed, dropped out (§3, fig. 2)."""

    def __init__(self, config: BERTConfig) -> None:
        super().__init__(config)
        self.position = LearnedPositions(config.time, config.model)
        self.segment = nn.Embedding(config.segments, config.model)
        self.norm = nn.LayerNorm(config.model, eps=config.eps)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """The vector that each position starts with."""
        x = self.token(batch.tokens) + self.position(batch.position_ids[:, 0]) + self.segment(batch.segments)
        return self.dropout(self.norm(x))


@model("bert", BERTConfig, ENCODER)
class BERT(Stack):
    """The encoder: a vector for each position, and one for the whole from that of [CLS]. A variant names other parts,
    as a `Stack` may."""

    config: BERTConfig
    embeddings_class: type[TokenEmbeddings] = Embeddings

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.pooler = nn.Linear(config.model, config.model)
        self.apply(initialise)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """What the last layer makes of each position."""
        return self.hidden_states(batch)

    def pool(self, hidden: Float[Tensor, "batch time model"]) -> Float[Tensor, "batch model"]:
        """tanh(W h_[CLS]): one vector for the text."""
        return self.pooler(hidden[:, 0]).tanh()

    def pooled_output(self, batch: Batch) -> Float[Tensor, "batch model"]:
        """One vector for each text of a batch, for what is said of the text as a whole."""
        return self.pool(self(batch))


def at_last_position(hidden: Float[Tensor, "batch time model"], batch: Batch) -> Float[Tensor, "batch model"]:
    """The vector of each text's last position, wherever its padding stands."""
    positions = torch.arange(batch.size[1], device=hidden.device)
    last = torch.where(batch.padding_mask, positions, 0).amax(1)
    return hidden[torch.arange(len(last), device=last.device), last]


@model("bert-pretraining", BERTConfig, ENCODER,
       Pretraining("bert", masked, Tokenizer.wordpiece, added=2, pairs=next_sentence))
class BERTPretraining(nn.Module):
    """BERT with the two heads of its pretraining: the hidden word, and whether B follows A (§3.1)."""

    encoder_class: type[BERT] = BERT

    def __init__(self, config: BERTConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = self.encoder_class(config)
        width = self.encoder.embeddings.token.embedding_dim
        self.transform = nn.Linear(config.model, width)
        self.norm = nn.LayerNorm(width, eps=config.eps)
        self.bias = nn.Parameter(torch.zeros(config.vocab))
        self.next_sentence = nn.Linear(config.model, 2)
        for head in (self.transform, self.next_sentence):
            initialise(head)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time vocab"]:
        """The logits of the token that belongs into each position."""
        return self.token_logits(self.encoder(batch))

    def token_logits(self, hidden: Float[Tensor, "*positions model"]) -> Float[Tensor, "*positions vocab"]:
        """A layer, its activation and norm, then the embedding's own weights as classifier, with a bias."""
        named = self.norm(ACTIVATIONS[self.config.activation](self.transform(hidden)))
        return F.linear(named, self.encoder.embeddings.token.weight, self.bias)

    def next_sentence_logits(self, hidden: Float[Tensor, "batch time model"]) -> Float[Tensor, "batch 2"]:
        """The logits of B following A (0) and of B being a stranger (1)."""
        return self.next_sentence(self.encoder.pool(hidden))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean over the selected positions of −log p(token); plus the mean of −log p of the label ``next_sentence`` (0:
        B follows A, 1: B is a stranger) over the texts that have one.

        Only the selected positions are named: 85 % of the softmax is never computed.
        """
        hidden = self.encoder(batch)
        asked = batch.targets != IGNORE
        loss = F.cross_entropy(self.token_logits(hidden[asked]), batch.targets[asked])
        if "next_sentence" in batch.labels:
            follows = batch.labels["next_sentence"]
            total = F.cross_entropy(self.next_sentence_logits(hidden), follows, ignore_index=IGNORE, reduction="sum")
            loss = loss + total / (follows != IGNORE).sum().clamp(min=1)
        return loss

