"""The Transformer (Vaswani et al. 2017): an encoder that reads, a decoder that writes what it reads across.

Where it differs from the paper: the projections of attention have biases, which its equations (§3.2.2) do not show, and
the authors' later code and ``nn.MultiheadAttention`` have. A subclass may name another residual, such as `PreNorm`.
Masks, label smoothing (0.1), shared embeddings and the factor √d are the paper's.
"""

from dataclasses import dataclass, field
from typing import Self

from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch, PairBatch
from plmlab.layers.attention import Cache
from plmlab.layers.hooks import HookPoint
from plmlab.layers.positions import Sinusoidal
from plmlab.layers.transformer import DecoderLayer, LayerShape, PostNorm, Residual, TransformerLayer
from plmlab.models.architectures import ENCODER_DECODER
from plmlab.models.registry import model
from plmlab.visibility import AttentionMask


@dataclass(frozen=True)
class TransformerConfig:
    """The size of an encoder-decoder; source and target share one vocabulary."""

    vocab: int
    layers: int = 2
    model: int = 64
    heads: int = 4
    inner: int = 256
    dropout: float = 0.1
    smoothing: float = 0.1

    @classmethod
    def tiny(cls, vocab: int) -> Self:
        """Trains in seconds on two cores. Too small to overfit in that time, so it needs no dropout."""
        return cls(vocab, dropout=0.0, smoothing=0.0)

    @classmethod
    def base(cls) -> Self:
        """The paper's base model: 63.1 million parameters with "about 37,000" tokens (§5.1); table 3 says 65, which a
        vocabulary of 40,700 would give."""
        return cls(vocab=37_000, layers=6, model=512, heads=8, inner=2048)

    @property
    def shape(self) -> LayerShape:
        """Of each layer: ReLU inside; the paper drops out sublayers and embeddings, not attention weights."""
        return LayerShape(self.model, self.heads, self.inner, "relu", self.dropout, attention_dropout=0.0)


class Embedded(nn.Module):
    """Token vectors times √d, plus sinusoids (§3.4, §3.5)."""

    def __init__(self, token: nn.Embedding, dropout: float) -> None:
        super().__init__()
        self.token = token
        self.position = Sinusoidal(token.embedding_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """The vector that each slot starts with."""
        x = self.token(batch.tokens) * self.token.embedding_dim**0.5
        return self.dropout(x + self.position(batch.positions[:, 0]))


class Encoder(nn.Module):
    """N layers of looking and thinking."""

    def __init__(self, config: TransformerConfig, token: nn.Embedding, residual: type[Residual]) -> None:
        super().__init__()
        self.embed, self.embedded = Embedded(token, config.dropout), HookPoint()
        self.layers = nn.ModuleList(TransformerLayer(config.shape, residual) for _ in range(config.layers))
        self.final_norm = residual.final_norm(config.shape)

    def forward(self, source: Batch) -> Float[Tensor, "batch key model"]:
        """What the encoder makes of each slot of the source: the decoder's memory."""
        x = self.embedded(self.embed(source))
        for layer in self.layers:
            x = layer(x, source.visible)
        return self.final_norm(x)


class Decoder(nn.Module):
    """N layers that look back at what was written, across at what was read, and think."""

    def __init__(self, config: TransformerConfig, token: nn.Embedding, residual: type[Residual]) -> None:
        super().__init__()
        self.embed, self.embedded = Embedded(token, config.dropout), HookPoint()
        self.layers = nn.ModuleList(DecoderLayer(config.shape, residual) for _ in range(config.layers))
        self.final_norm = residual.final_norm(config.shape)

    def forward(
        self, target: Batch, memory: Float[Tensor, "batch key model"], memory_mask: AttentionMask,
        caches: list[tuple[Cache, Cache]] | None = None,
    ) -> Float[Tensor, "batch time model"]:
        """What the decoder makes of each slot of the target."""
        x = self.embedded(self.embed(target))
        for i, layer in enumerate(self.layers):
            own, cross = (None, None) if caches is None else caches[i]
            x = layer(x, target.visible, memory, memory_mask, own, cross)
        return self.final_norm(x)


@dataclass
class TransformerState:
    """A target half written: the source as read, and what the decoder remembers of its own words."""

    memory: Float[Tensor, "batch key model"]
    memory_mask: AttentionMask
    caches: list[tuple[Cache, Cache]] = field(default_factory=list)

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep these rows of the batch, in this order."""
        self.memory = self.memory[rows]
        self.memory_mask = self.memory_mask.select(rows)
        for own, cross in self.caches:
            own.select(rows)
            cross.select(rows)


@model("transformer", TransformerConfig, ENCODER_DECODER)
class Transformer(nn.Module):
    """The encoder-decoder: one matrix embeds the source, embeds the target and names the output (§3.4)."""

    residual_class: type[Residual] = PostNorm

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.token = nn.Embedding(config.vocab, config.model)
        self.encoder = Encoder(config, self.token, self.residual_class)
        self.decoder = Decoder(config, self.token, self.residual_class)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
        nn.init.normal_(self.token.weight, std=config.model**-0.5)

    def forward(self, batch: PairBatch) -> Float[Tensor, "batch time vocab"]:
        """The logits of each target slot's prediction."""
        hidden = self.decoder(batch.target, self.encoder(batch.source), batch.cross)
        return F.linear(hidden, self.token.weight)

    def loss(self, batch: PairBatch) -> Float[Tensor, ""]:
        """Mean cross-entropy in nats a target, against smoothed labels (§5.4)."""
        return F.cross_entropy(self(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE,
                               label_smoothing=self.config.smoothing)

    def start(self, source: Batch) -> TransformerState:
        """Read the source, and be ready to write."""
        empty = [(Cache(), Cache()) for _ in self.decoder.layers]
        return TransformerState(self.encoder(source), AttentionMask(keys=source.visible.keys), empty)

    def step(self, tokens: Int[Tensor, "batch time"], state: TransformerState) -> Float[Tensor, "batch vocab"]:
        """Write on after what ``state`` remembers, and give the logits of the token that comes next."""
        target = Batch.continuing(tokens, state.caches[0][0].time)
        hidden = self.decoder(target, state.memory, state.memory_mask, state.caches)
        return F.linear(hidden[:, -1], self.token.weight)
