"""The Transformer (Vaswani et al. 2017): an encoder, and a decoder that attends to the encoder's outputs.

Difference from the paper: the attention projections have biases, which are not in its equations (§3.2.2) but in the
authors' later code and in ``nn.MultiheadAttention``. Masks, label smoothing (0.1), shared embeddings and the factor √d
are those of the paper.
"""

from dataclasses import dataclass, field
from typing import Any, Self

from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch, PairBatch
from plmlab.layers.attention import Cache
from plmlab.layers.positions import Sinusoidal
from plmlab.layers.shape import LayerShape
from plmlab.layers.stack import Stack, TokenEmbeddings
from plmlab.layers.transformer import DecoderLayer
from plmlab.models.architectures import ENCODER_DECODER
from plmlab.models.registry import model
from plmlab.visibility import AttentionMask


@dataclass(frozen=True)
class TransformerConfig:
    """Configuration of an encoder–decoder Transformer; source and target share one vocabulary."""

    vocab: int
    layers: int = 2
    model: int = 64
    heads: int = 4
    inner: int = 256
    dropout: float = 0.1
    smoothing: float = 0.1

    @classmethod
    def tiny(cls, vocab: int, time: int = 128) -> Self:
        """A model that trains in seconds on two CPU cores, without a maximum length. It has no dropout, because it
        cannot overfit in that time."""
        return cls(vocab, dropout=0.0, smoothing=0.0)

    @classmethod
    def base(cls) -> Self:
        """The paper's base model: 63.1 million parameters with "about 37,000" tokens (§5.1). Table 3 gives 65 million,
        which corresponds to a vocabulary of 40,700."""
        return cls(vocab=37_000, layers=6, model=512, heads=8, inner=2048)

    @property
    def shape(self) -> LayerShape:
        """The shape of every layer: ReLU; as in the paper, dropout on sublayers and embeddings, not on attention
        weights."""
        return LayerShape(self.model, self.heads, self.inner, "relu", self.dropout, attention_dropout=0.0)


class Embeddings(TokenEmbeddings):
    """Token embeddings times √d, plus sinusoidal positional encoding (§3.4, §3.5)."""

    position_class: type[Sinusoidal] = Sinusoidal

    def __init__(self, config: Any, token: nn.Embedding | None = None) -> None:
        super().__init__(config, token)
        self.position = self.position_class(config.model)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Input embedding of every position."""
        x = self.token(batch.tokens) * self.token.embedding_dim**0.5
        return self.dropout(x + self.position(batch.position_ids[:, 0]))


class Encoder(Stack):
    """The encoder: a stack of N layers with self-attention and a feed-forward network."""

    embeddings_class: type[TokenEmbeddings] = Embeddings

    def forward(self, source: Batch) -> Float[Tensor, "batch key model"]:
        """Encoder output at each source position, the decoder's ``memory``."""
        return self.hidden_states(source)


class Decoder(Stack):
    """The decoder: a stack of N layers with causal self-attention, cross-attention and a feed-forward network."""

    embeddings_class: type[TokenEmbeddings] = Embeddings
    layer_class = DecoderLayer

    def forward(
        self, target: Batch, memory: Float[Tensor, "batch key model"], memory_mask: AttentionMask,
        caches: list[tuple[Cache, Cache]] | None = None,
    ) -> Float[Tensor, "batch time model"]:
        """Decoder output at each target position."""
        return self.hidden_states(target, caches, memory, memory_mask)


@dataclass
class TransformerState:
    """What the decoder conditions on: the encoder output (``memory``) and its mask; in generation also the key–value
    caches, (self-attention, cross-attention) per layer, and the position id of the ``first`` target token."""

    memory: Float[Tensor, "batch key model"]
    memory_mask: AttentionMask
    caches: list[tuple[Cache, Cache]] = field(default_factory=list)
    first: int | Int[Tensor, "batch"] = 0

    @property
    def time(self) -> int:
        """Number of target tokens so far."""
        return self.caches[0][0].time

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep only the given rows of the batch, in the given order."""
        self.memory = self.memory[rows]
        self.memory_mask = self.memory_mask.select(rows)
        if not isinstance(self.first, int):
            self.first = self.first[rows]
        for own, cross in self.caches:
            own.select(rows)
            cross.select(rows)


@model("transformer", TransformerConfig, ENCODER_DECODER)
class Transformer(nn.Module):
    """Encoder–decoder Transformer: one embedding matrix is shared by source, target and output layer (§3.4).

    Training and generation share `encode`, the decoder and `predict`. Variants may use other encoder and decoder
    classes, and override `token_logits`, or `predict` if a prediction also depends on the source.
    """

    encoder_class: type[Encoder] = Encoder
    decoder_class: type[Decoder] = Decoder

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.token = nn.Embedding(config.vocab, config.model)
        self.encoder = self.encoder_class(config, self.token)
        self.decoder = self.decoder_class(config, self.token)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.token.weight, std=config.model**-0.5)

    def forward(self, batch: PairBatch) -> Float[Tensor, "batch time vocab"]:
        """Next-token logits at every position of the target."""
        return self.logits(batch.target, self.encode(batch.source, batch.cross))

    def logits(self, target: Batch, state: TransformerState) -> Float[Tensor, "batch time vocab"]:
        """Next-token logits at every position of a target, from an encoded source."""
        return self.predict(self.decoder(target, state.memory, state.memory_mask), state)

    def encode(self, source: Batch, cross: AttentionMask) -> TransformerState:
        """Encode the source; ``cross`` is the cross-attention mask."""
        return TransformerState(self.encoder(source), cross)

    def predict(self, hidden: Float[Tensor, "batch time model"], state: TransformerState,
                ) -> Float[Tensor, "batch time vocab"]:
        """Next-token logits from decoder outputs."""
        return self.token_logits(hidden)

    def token_logits(self, hidden: Float[Tensor, "*batch model"]) -> Float[Tensor, "*batch vocab"]:
        """Next-token logits from a decoder output: hW_eᵀ."""
        return F.linear(hidden, self.token.weight)

    def loss(self, batch: PairBatch) -> Float[Tensor, ""]:
        """Mean cross-entropy per target token with label smoothing (§5.4), in nats."""
        return self.cross_entropy(self(batch), batch.targets)

    def cross_entropy(self, logits: Float[Tensor, "batch time vocab"], targets: Int[Tensor, "batch time"],
                      ) -> Float[Tensor, ""]:
        """Mean cross-entropy per target with label smoothing, in nats."""
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORE,
                               label_smoothing=self.config.smoothing)

    def start(self, source: Batch, cross: AttentionMask | None = None, first: int | Int[Tensor, "batch"] = 0,
              ) -> TransformerState:
        """Encode the source and return the initial decoding state. ``cross`` is the cross-attention mask (default: the
        whole source), ``first`` the position id of the first target token."""
        state = self.encode(source, AttentionMask(keys=source.visible.keys) if cross is None else cross)
        state.caches, state.first = [(Cache(), Cache()) for _ in self.decoder.layers], first
        return state

    def decode(self, tokens: Int[Tensor, "batch time"], state: TransformerState) -> Float[Tensor, "batch time model"]:
        """Append ``tokens`` to ``state`` and return the decoder outputs."""
        target = Batch.continuing(tokens, state.first + state.time)
        mask = state.memory_mask.at(state.time, tokens.shape[1])
        return self.decoder(target, state.memory, mask, state.caches)

    def step(self, tokens: Int[Tensor, "batch time"], state: TransformerState) -> Float[Tensor, "batch vocab"]:
        """Append ``tokens`` to ``state`` and return the logits of the next token."""
        return self.predict(self.decode(tokens, state)[:, -1:], state)[:, 0]
