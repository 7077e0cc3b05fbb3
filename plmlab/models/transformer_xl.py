"""Transformer-XL (Dai et al. 2019): a GPT that reads a text segment by segment and remembers what it read.

Where it differs from the paper: the softmax is over the whole vocabulary, not adaptive, so that the released weights of
WikiText-103 can't be loaded; a training batch is a text of several segments, whose memory is empty at its beginning,
and makes one update, where the authors' memory goes on from update to update; there is no dropout inside the
feed-forward, none on the last layer's output. Of its attention, see `plmlab.layers.relative`.
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
    """The size of a Transformer-XL.

    Attributes:
        segment: how many positions are read at once.
        memory: how many positions before the segment each layer remembers.
        inner: the feed-forward's width.
        same_length: each position looks at the last ``memory`` positions, itself among them; else at its whole memory
            and at its segment up to itself.
        clamp: distances beyond it count as it; None: all distances are told apart.
        spread: the standard deviation of the weights at the beginning; None: 1/√model. The authors' 0.02, at widths of
            410 and more, leaves a small model standing still for long.

    Raises:
        ValueError: lengths that leave a position nothing to look at.
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
                raise ValueError(f"{name} is {value}; give a whole number, {least} or more"
                                 + (", or None for no limit" if name == "clamp" else ""))

    @classmethod
    def tiny(cls, vocab: int, time: int = 128) -> Self:
        """Reads texts of ``time`` positions in four segments, with a memory of two. Trains in seconds on two cores. Too
        small to overfit in that time, so it needs no dropout."""
        segment = -(-time // 4)
        return cls(vocab, segment, memory=2 * segment, dropout=0.0)

    @classmethod
    def base(cls) -> Self:
        """The standard model of WikiText-103: 16 layers, segments and memory of 150 words."""
        return cls(vocab=267_735, segment=150, memory=150, layers=16, model=410, heads=10, inner=2100,
                   spread=0.02)

    @property
    def shape(self) -> LayerShape:
        """Of each layer: ReLU inside; sublayers are dropped out, attention weights are not."""
        return LayerShape(self.model, self.heads, self.inner, "relu", self.dropout, attention_dropout=0.0, eps=self.eps)


class TransformerXLEmbeddings(TokenEmbeddings):
    """A token's vector times √d. It is told no position."""

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """The vector that each position starts with."""
        return self.dropout(self.token(batch.tokens) * self.token.embedding_dim**0.5)


class RecurrentLayer(TransformerLayer):
    """A layer whose queries are the segment's, and whose keys and values are the memory's too."""

    def forward(  # type: ignore[override]
        self, x: Float[Tensor, "batch time model"], attn_mask: AttentionMask, cache: Memory | None = None,
        bias: Bias | None = None,
    ) -> Float[Tensor, "batch time model"]:
        """The next layer's vector of each position of the segment, which the memory, ``cache``, then holds."""
        extended = nn.Identity() if cache is None else cache.extend
        x = self.attention_residual(x, lambda h: self.attention(h, attn_mask, extended(h), bias=bias))
        return self.hidden(self.feed_forward_residual(x, self.feed_forward))


@dataclass
class TransformerXLState:
    """Texts half read: what each layer remembers of them."""

    memories: list[Memory]

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep these rows of the batch, in this order."""
        for memory in self.memories:
            memory.select(rows)


@model("transformer-xl", TransformerXLConfig, DECODER,
       Pretraining("transformer-xl", causal, Tokenizer.bpe, stream=True))
class TransformerXL(GPT):
    """A text of any length is read in segments of ``config.segment`` positions, each with the memory of those before
    it."""

    embeddings_class: type[TokenEmbeddings] = TransformerXLEmbeddings
    layer_class = RecurrentLayer
    attention_class = TransformerXLAttention
    config: TransformerXLConfig  # type: ignore[assignment]
    loops_over_text = True
    """Segments are read in a Python loop (`plmlab.train.compiling`)."""

    def __init__(self, config: TransformerXLConfig) -> None:
        super().__init__(config)
        for weight in self.parameters():
            if weight.dim() == 2:
                nn.init.normal_(weight, std=config.spread or config.model**-0.5)
        self._clamp()

    def hidden_states(self, batch: Batch, memories: list[Memory] | None = None,  # type: ignore[override]
                      ) -> Float[Tensor, "batch time model"]:
        """What the last layer makes of each position.

        ``memories``, one a layer, are what was read before, and then hold this batch too; without, nothing was. A batch
        with a mask of its own (`visibility`) is read in one pass, and nothing is remembered. ValueError where that mask
        lets a position look ahead, and for such a batch with ``memories``.
        """
        if not batch.visible.only_causal:
            if memories is not None:
                raise ValueError("a batch with a mask of its own is read in one pass, without memories; give it no "
                                 "mask, or no memories")
            looks = batch.visible.dense(batch.size[1], batch.size[1])
            if looks is None or bool(looks.triu(1).any()):
                raise ValueError("a Transformer-XL reads texts from left to right, and this batch lets a position look "
                                 "ahead; make it with the objective causal")
            return self.continued(batch)
        memories = memories or self.start().memories
        return torch.cat([self.continued(self.following(tokens, memories[0].time), memories)
                          for tokens in batch.tokens.split(self.config.segment, dim=1)], dim=1)

    def following(self, tokens: Int[Tensor, "batch time"], before: int) -> Batch:
        """A segment that follows ``before`` remembered positions, with its mask."""
        segment = Batch.continuing(tokens, before)
        if not self.config.same_length:
            return segment
        last = Visibility.last(before + tokens.shape[1], self.config.memory).dense()[before:]
        return replace(segment, visible=AttentionMask(pairs=last[None]))

    def visibility(self, time: int) -> Visibility:
        """Who may look at whom in a text of so many positions: what segments and memory come to. In one pass under this
        mask all vectors are the same. (Gradients are not: there they flow into what is remembered.)"""
        if self.config.same_length:
            return Visibility.last(time, self.config.memory)
        return Visibility.segmented(time, self.config.segment, self.config.memory)

    def start(self) -> TransformerXLState:  # type: ignore[override]
        """The state of having read nothing."""
        return TransformerXLState([Memory(self.config.memory) for _ in self.layers])

    def step(self, tokens: Int[Tensor, "batch time"], state: TransformerXLState,  # type: ignore[override]
             ) -> Float[Tensor, "batch vocab"]:
        """Read on after what ``state`` remembers, and give the logits of the token that comes next."""
        return self.token_logits(self.hidden_states(Batch.continuing(tokens, 0), state.memories)[:, -1])

    def remembering(self, **changes: Any) -> Self:
        """The same weights, shared, in a model of another ``segment``, ``memory``, ``same_length`` or ``clamp``."""
        other = deepcopy(self, {id(weight): weight for weight in self.parameters()})
        other.config = replace(self.config, **changes)
        other._clamp()
        return other

    def _clamp(self) -> None:
        for module in self.modules():
            if isinstance(module, TransformerXLAttention):
                module.clamp = self.config.clamp
