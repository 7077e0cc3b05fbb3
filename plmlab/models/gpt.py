"""GPT (Radford et al. 2018) and GPT-2 (2019): a Transformer's layers under a causal mask, saying what comes next."""

from dataclasses import dataclass
from typing import Any, Self

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.layers.attention import Cache
from plmlab.layers.initialise import initialise, initialise_residuals
from plmlab.layers.positions import LearnedPositions
from plmlab.layers.shape import LayerShape
from plmlab.layers.stack import Stack, TokenEmbeddings
from plmlab.layers.transformer import PreNorm
from plmlab.models.architectures import DECODER
from plmlab.models.registry import Pretraining, model
from plmlab.objectives import causal
from plmlab.text.tokenizers import Tokenizer


@dataclass(frozen=True)
class GPTConfig:
    """The size of a GPT. ``time`` is the number of positions that it learns."""

    vocab: int
    time: int = 64
    layers: int = 4
    model: int = 128
    heads: int = 4
    dropout: float = 0.1
    eps: float = 1e-5

    @classmethod
    def tiny(cls, vocab: int, time: int = 64) -> Self:
        """Trains in seconds on two cores. Too small to overfit in that time, so it needs no dropout."""
        return cls(vocab, time, dropout=0.0)

    @classmethod
    def base(cls) -> Self:
        """GPT-2 small: 124 million parameters (GPT-1 is of the same size, with 512 positions and 40,478 pieces)."""
        return cls(vocab=50_257, time=1024, layers=12, model=768, heads=12)

    @property
    def shape(self) -> LayerShape:
        """Of each layer: four times as wide inside, GELU in its tanh form."""
        return LayerShape(self.model, self.heads, 4 * self.model, "gelu_tanh", self.dropout, self.dropout, self.eps)


@dataclass
class GPTState:
    """Texts half read, one a row: their tokens, and the keys and values that each layer made of them."""

    caches: list[Cache]
    tokens: Int[Tensor, "batch time"] | None = None

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep these rows of the batch, in this order."""
        if self.tokens is not None:
            self.tokens = self.tokens[rows]
        for cache in self.caches:
            cache.select(rows)


class Embeddings(TokenEmbeddings):
    """A token's vector plus its position's (2018, eq. 2)."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__(config)
        self.position = LearnedPositions(config.time, config.model)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """The vector that each position starts with."""
        return self.dropout(self.token(batch.tokens) + self.position(batch.position_ids[:, 0]))


@model("gpt", GPTConfig, DECODER, Pretraining("gpt", causal, Tokenizer.bpe, stream=True))
class GPT(Stack):
    """GPT-1: the norm after each sublayer, none at the end; the output shares the embedding's weights. A variant names
    other parts, as a `Stack` may."""

    config: GPTConfig
    embeddings_class: type[TokenEmbeddings] = Embeddings

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.apply(initialise)

    def forward(self, batch: Batch, caches: list[Cache] | None = None) -> Float[Tensor, "batch time vocab"]:
        """The logits of each position's prediction; with ``caches``, the batch continues what they remember."""
        return self.token_logits(self.hidden_states(batch, caches))

    def hidden_states(self, batch: Batch, caches: list[Cache] | None = None) -> Float[Tensor, "batch time model"]:
        """What the last layer makes of each position, normed where the model has a final norm."""
        return self.continued(batch, caches)

    def token_logits(self, hidden: Float[Tensor, "*positions model"]) -> Float[Tensor, "*positions vocab"]:
        """The logits of the token that follows a position with this hidden state: hW_eᵀ (2018, eq. 2)."""
        return F.linear(hidden, self.embeddings.token.weight)

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean cross-entropy in nats a target (2018, eq. 1)."""
        return F.cross_entropy(self(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE)

    def start(self) -> GPTState:
        """The state of having read nothing."""
        return GPTState([Cache() for _ in self.layers])

    def step(self, tokens: Int[Tensor, "batch time"], state: GPTState) -> Float[Tensor, "batch vocab"]:
        """Read on after what ``state`` remembers, and give the logits of the token that comes next.

        Where the text outgrows the positions, all but its last half window is forgotten, and that is read anew
        from position 0. What is read at once must fit: Learned raises a ValueError where it does not.
        """
        state.tokens = tokens if state.tokens is None else torch.cat([state.tokens, tokens], dim=1)
        if state.tokens.shape[1] > self.config.time > tokens.shape[1]:
            half = max(self.config.time // 2, tokens.shape[1])
            state.tokens = tokens = state.tokens[:, -half:]
            state.caches = [Cache() for _ in self.layers]
        batch = Batch.continuing(tokens, state.caches[0].time)
        return self.token_logits(self.hidden_states(batch, state.caches)[:, -1])


@model("gpt2", GPTConfig, DECODER, Pretraining("gpt2", causal, Tokenizer.bpe, stream=True))
class GPT2(GPT):
    """GPT-2 (Radford et al. 2019): a norm before each sublayer and at the end; residual projections start smaller."""

    residual_class = PreNorm

    def __init__(self, config: GPTConfig) -> None:
        super().__init__(config)
        initialise_residuals(self, config.layers)
