"""Transformer-XL (Dai et al. 2019): a GPT with segment-level recurrence, which attends to a memory of previous
segments.

Differences from the paper: the softmax is over the whole vocabulary, not adaptive, so the released WikiText-103 weights
cannot be loaded; each training update uses a text of several segments with an initially empty memory, whereas the
authors carry the memory from update to update; there is no dropout inside the feed-forward network or on the output of
the last layer. For the attention see `plmlab.layers.relative`.
"""

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.layers.attention import Bias
from plmlab.layers.memory import Memory
from plmlab.layers.relative import TransformerXLAttention
from plmlab.layers.shape import LayerShape
from plmlab.layers.stack import TokenEmbeddings
from plmlab.layers.transformer import TransformerLayer
from plmlab.models.architectures import DECODER
from plmlab.models.gpt import GPT
from plmlab.models.registry import Pretraining, model
from plmlab.objectives import causal
from plmlab.text.tokenizers import Tokenizer
from plmlab.visibility import AttentionMask, Visibility


@dataclass(frozen=True)
class TransformerXLConfig:
    """Configuration of a Transformer-XL.

    Attributes:
        segment: length of a segment in tokens.
        memory: length of each layer's memory in tokens.
        inner: width of the feed-forward network.
        same_length: whether each position attends to exactly the last ``memory`` positions, including itself, instead
            of to the whole memory and the segment up to itself.
        clamp: maximum relative distance; larger ones are clamped to it. None for no limit.
        spread: standard deviation of the initial weights; None for 1/√model. With the authors' 0.02, meant for widths
            of 410 and more, a small model initially learns almost nothing.

    Raises:
        ValueError: if a length would leave a position with nothing to attend to.
    """

    vocab: int
    segment: int = 32
    memory: int = 32
    layers: int = 4
    model: int = 128
    heads: int = 4
    inner: int = 512
    dropout: float = 0.1
    eps: float = 1e-5
    same_length: bool = False
    clamp: int | None = None
    spread: float | None = None

    def __post_init__(self) -> None:
        for name, least in (("segment", 1), ("memory", int(self.same_length)), ("clamp", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name} is {value}; give a whole number of at least {least}"
                                 + (", or None for no limit" if name == "clamp" else ""))

    @classmethod
    def tiny(cls, vocab: int, time: int = 128) -> Self:
        """A model that trains in seconds on two CPU cores. A text of ``time`` tokens is split into four segments; the
        memory holds two. It has no dropout, because it cannot overfit in that time."""
        segment = -(-time // 4)
        return cls(vocab, segment, memory=2 * segment, dropout=0.0)

    @classmethod
    def base(cls) -> Self:
        """The standard model for WikiText-103: 16 layers, segment and memory length 150."""
        return cls(vocab=267_735, segment=150, memory=150, layers=16, model=410, heads=10, inner=2100,
                   spread=0.02)

    @property
    def shape(self) -> LayerShape:
        """The shape of every layer: ReLU; dropout on sublayers, not on attention weights."""
        return LayerShape(self.model, self.heads, self.inner, "relu", self.dropout, attention_dropout=0.0, eps=self.eps)


class TransformerXLEmbeddings(TokenEmbeddings):
    """Token embeddings multiplied by √d, without positional encoding."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Input embedding of every position."""
        return self.dropout(self.token(batch.tokens) * self.token.embedding_dim**0.5)


class RecurrentLayer(TransformerLayer):
    """Transformer layer whose queries come from the segment and whose keys and values come from memory and segment."""

    def forward(  # type: ignore[override]
        self, x: Float[Tensor, "batch time model"], attn_mask: AttentionMask, cache: Memory | None = None,
        bias: Bias | None = None,
    ) -> Float[Tensor, "batch time model"]:
        """Layer output at each position of the segment; the layer's input ``x`` is appended to the memory ``cache``."""
        extended = nn.Identity() if cache is None else cache.extend
        x = self.attention_residual(x, lambda h: self.attention(h, attn_mask, extended(h), bias=bias))
        return self.hidden(self.feed_forward_residual(x, self.feed_forward))


@dataclass
class TransformerXLState:
    """Decoding state: the memory of each layer."""

    memories: list[Memory]

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep only the given rows of the batch, in the given order."""
        for memory in self.memories:
            memory.select(rows)


@model("transformer-xl", TransformerXLConfig, DECODER,
       Pretraining("transformer-xl", causal, Tokenizer.bpe, stream=True))
class TransformerXL(GPT):
    """Transformer-XL: processes a text of any length in segments of ``config.segment`` tokens, each with a memory of
    the previous ones."""

    embeddings_class: type[TokenEmbeddings] = TransformerXLEmbeddings
    layer_class = RecurrentLayer
    attention_class = TransformerXLAttention
    config: TransformerXLConfig  # type: ignore[assignment]
    loops_over_text = True
    """Whether the model loops over segments in Python, and is therefore not compiled (`plmlab.train.compiling`)."""

    def __init__(self, config: TransformerXLConfig) -> None:
        super().__init__(config)
        for weight in self.parameters():
            if weight.dim() == 2:
                nn.init.normal_(weight, std=config.spread or config.model**-0.5)
        self._clamp()

    def hidden_states(self, batch: Batch, memories: list[Memory] | None = None,  # type: ignore[override]
                      ) -> Float[Tensor, "batch time model"]:
        """Final hidden states, one per position.

        ``memories`` are the memories of the previous tokens, one per layer; None starts with empty ones. They are
        updated in place. A batch with its own attention mask (`visibility`) is processed in one pass, without memories.
        Raises ValueError if that mask allows attention to later positions, or if ``memories`` are given with it.
        """
        if not batch.visible.only_causal:
            if memories is not None:
                raise ValueError("a batch with its own attention mask is processed in one pass, without memories; omit "
                                 "the mask or the memories")
            allowed = batch.visible.dense(batch.size[1], batch.size[1])
            if allowed is None or bool(allowed.triu(1).any()):
                raise ValueError("a Transformer-XL is a left-to-right model, but this batch's mask allows attention to "
                                 "later positions; make the batch with the objective causal")
            return super().hidden_states(batch)
        memories, read = memories or self.start().memories, super().hidden_states
        return torch.cat([read(self.following(tokens, memories[0].time), memories)
                          for tokens in batch.tokens.split(self.config.segment, dim=1)], dim=1)

    def following(self, tokens: Int[Tensor, "batch time"], before: int) -> Batch:
        """Build the batch of a segment that follows ``before`` tokens in memory, with its attention mask."""
        segment = Batch.continuing(tokens, before)
        if not self.config.same_length:
            return segment
        last = Visibility.last(before + tokens.shape[1], self.config.memory).dense()[before:]  # [time before+time]
        return replace(segment, visible=AttentionMask(pairs=last[None]))

    def visibility(self, time: int) -> Visibility:
        """The attention mask over a text of ``time`` tokens that is equivalent to segments and memory. One pass with it
        gives the same hidden states, but not the same gradients, which then also flow into earlier segments."""
        if self.config.same_length:
            return Visibility.last(time, self.config.memory)
        return Visibility.segmented(time, self.config.segment, self.config.memory)

    def start(self) -> TransformerXLState:  # type: ignore[override]
        """An empty decoding state."""
        return TransformerXLState([Memory(self.config.memory) for _ in self.layers])

    def step(self, tokens: Int[Tensor, "batch time"], state: TransformerXLState,  # type: ignore[override]
             ) -> Float[Tensor, "batch vocab"]:
        """Append ``tokens`` to ``state`` and return the logits of the next token."""
        return self.token_logits(self.hidden_states(Batch.continuing(tokens, 0), state.memories)[:, -1])

    def remembering(self, **changes: Any) -> Self:
        """A copy that shares this model's weights but has another ``segment``, ``memory``, ``same_length`` or
        ``clamp``."""
        other = deepcopy(self, {id(weight): weight for weight in self.parameters()})
        other.config = replace(self.config, **changes)
        other._clamp()
        return other

    def _clamp(self) -> None:
        for module in self.modules():
            if isinstance(module, TransformerXLAttention):
                module.clamp = self.config.clamp
