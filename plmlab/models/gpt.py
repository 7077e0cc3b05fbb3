"""GPT (Radford et al. 2018) and GPT-2 (2019): Transformer layers with a causal mask that predict the next token."""

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
    """Configuration of a GPT; ``time`` is the number of learned positions."""

    vocab: int
    time: int = 64
    layers: int = 4
    model: int = 128
    heads: int = 4
    dropout: float = 0.1
    eps: float = 1e-5

    @classmethod
    def tiny(cls, vocab: int, time: int = 64) -> Self:
        """A model that trains in seconds on two CPU cores. It has no dropout, because it cannot overfit in that
        time."""
        return cls(vocab, time, dropout=0.0)

    @classmethod
    def base(cls) -> Self:
        """GPT-2 small: 124 million parameters (GPT-1 has the same layer sizes, 512 positions and 40,478 subwords)."""
        return cls(vocab=50_257, time=1024, layers=12, model=768, heads=12)

    @property
    def shape(self) -> LayerShape:
        """The shape of every layer: feed-forward width 4 · ``model``, tanh approximation of GELU."""
        return LayerShape(self.model, self.heads, 4 * self.model, "gelu_tanh", self.dropout, self.dropout, self.eps)


@dataclass
class GPTState:
    """Decoding state, one row per text: the tokens so far, and the key–value cache of each layer."""

    caches: list[Cache]
    tokens: Int[Tensor, "batch time"] | None = None

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep only the given rows of the batch, in the given order."""
        if self.tokens is not None:
            self.tokens = self.tokens[rows]
        for cache in self.caches:
            cache.select(rows)


class Embeddings(TokenEmbeddings):
    """Sum of token and position embeddings (2018, eq. 2)."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__(config)
        self.position = LearnedPositions(config.time, config.model)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Input embedding of every position."""
        return self.dropout(self.token(batch.tokens) + self.position(batch.position_ids[:, 0]))


@model("gpt", GPTConfig, DECODER, Pretraining("gpt", causal, Tokenizer.bpe, stream=True))
class GPT(Stack):
    """GPT-1: post-norm layers without a final LayerNorm; the output layer is tied to the embedding matrix. Variants may
    replace its parts, as in any `Stack`."""

    config: GPTConfig
    embeddings_class: type[TokenEmbeddings] = Embeddings

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.apply(initialise)

    def forward(self, batch: Batch, caches: list[Cache] | None = None) -> Float[Tensor, "batch time vocab"]:
        """Next-token logits at every position; with ``caches``, the batch continues the cached tokens."""
        return self.token_logits(self.hidden_states(batch, caches))

    def token_logits(self, hidden: Float[Tensor, "*batch model"]) -> Float[Tensor, "*batch vocab"]:
        """Next-token logits from a hidden state: hW_eᵀ (2018, eq. 2)."""
        return F.linear(hidden, self.embeddings.token.weight)

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean cross-entropy per target, in nats (Radford et al. 2018, eq. 1)."""
        return F.cross_entropy(self(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE)

    def start(self) -> GPTState:
        """An empty decoding state."""
        return GPTState([Cache() for _ in self.layers])

    def step(self, tokens: Int[Tensor, "batch time"], state: GPTState) -> Float[Tensor, "batch vocab"]:
        """Append ``tokens`` to ``state`` and return the logits of the next token.

        When the text exceeds the model's number of positions, only its last tokens, half the number of positions, are
        kept and processed again from position 0. Raises ValueError (from `LearnedPositions`) if ``tokens`` alone exceed
        it.
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
    """GPT-2 (Radford et al. 2019): pre-norm layers with a final LayerNorm, and residual projections with a smaller
    initialization."""

    residual_class = PreNorm

    def __init__(self, config: GPTConfig) -> None:
        super().__init__(config)
        initialise_residuals(self, config.layers)
