"""Recurrent sequence-to-sequence models (序列到序列): encoder and decoder, with and without attention.

Without attention, the decoder receives only the encoder's final state (Sutskever et al. 2014); with attention, it
attends to every position of the source (Bahdanau et al. 2015; Luong et al. 2015). Differences from Sutskever et al.:
source and target share one vocabulary and its embeddings, and weights have PyTorch's default initialization instead of
a uniform one from −0.08 to 0.08. Reversing the source, as they do, is left to the data.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import torch
from einops import rearrange
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch, PairBatch
from plmlab.layers.alignment import AdditiveAlignment, Alignment, DotAlignment, GeneralAlignment
from plmlab.layers.cells import LSTMCell
from plmlab.layers.hooks import HookPoint
from plmlab.layers.recurrent import LayerStates, Recurrent
from plmlab.models.architectures import ENCODER_DECODER, RECURRENT_SEQ2SEQ
from plmlab.models.registry import model
from plmlab.visibility import AttentionMask


@dataclass(frozen=True)
class Seq2SeqConfig:
    """Configuration of an encoder–decoder; ``model`` is the width of an embedding and of a hidden state."""

    vocab: int
    layers: int = 1
    model: int = 128
    dropout: float = 0.0

    @classmethod
    def tiny(cls, vocab: int, time: int = 128) -> Self:
        """A model that trains in seconds on two CPU cores, without a maximum length."""
        return cls(vocab)

    @classmethod
    def base(cls) -> Self:
        """The model of Sutskever et al. (§3.4), with one vocabulary of 80,000 words instead of their 160,000 English
        and 80,000 French words."""
        return cls(vocab=80_000, layers=4, model=1000)


@dataclass
class Seq2SeqState:
    """Decoding state of partially generated targets, one per row: the states of all decoder layers."""

    carried: LayerStates

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep only the given rows of the batch, in the given order."""
        self.carried = tuple(vectors[:, rows] for vectors in self.carried)


@model("seq2seq", Seq2SeqConfig, RECURRENT_SEQ2SEQ)
class Seq2Seq(nn.Module):
    """LSTM encoder–decoder (Sutskever et al. 2014): the encoder's final state is the decoder's initial state.

    A ``bidirectional`` variant has a forward and a backward encoder LSTM of half the width, whose outputs are
    concatenated. Raises ValueError if its width is odd.
    """

    bidirectional: ClassVar[bool] = False

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        if self.bidirectional and config.model % 2:
            raise ValueError(f"model={config.model}: the width of a bidirectional encoder is split between two "
                             "directions; give an even number")
        self.config = config
        self.token = nn.Embedding(config.vocab, config.model)
        nn.init.normal_(self.token.weight, std=0.1)
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = self.stack(config.model, self.bidirectional)
        self.bridge = HookPoint()
        self.decoder = self.stack(self.decoder_inputs)
        self.output = nn.Linear(config.model, config.vocab)

    def stack(self, inputs: int, bidirectional: bool = False) -> Recurrent:
        """Build the LSTM layers of an encoder or a decoder with ``inputs`` input dimensions."""
        return Recurrent(LSTMCell, inputs, self.config.model // (1 + bidirectional), self.config.layers,
                         bidirectional=bidirectional, dropout=self.config.dropout)

    @property
    def decoder_inputs(self) -> int:
        """The decoder's input width at each time step."""
        return self.config.model

    def forward(self, batch: PairBatch) -> Float[Tensor, "batch time vocab"]:
        """Next-token logits at every position of the target."""
        return self.output(self.decode(batch.target.tokens, self.start(batch.source)))

    def loss(self, batch: PairBatch) -> Float[Tensor, ""]:
        """Mean cross-entropy per target token, in nats."""
        return F.cross_entropy(self(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE)

    def embed(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time model"]:
        """Embed tokens, with dropout."""
        return self.dropout(self.token(tokens))

    def read(self, source: Batch) -> tuple[Float[Tensor, "batch key model"], LayerStates]:
        """Encode the source: the encoder outputs at every position, zeros at padding, and the encoder's final state."""
        real = source.padding_mask
        outputs, last = self.encoder(self.embed(source.tokens), None if real.all() else real.sum(-1))
        return outputs, tuple(self.bridge(rearrange(vectors, "(layer way) batch width -> layer batch (way width)",
                                                    way=1 + self.bidirectional)) for vectors in last)

    def start(self, source: Batch) -> Seq2SeqState:
        """Encode the source and return the initial decoding state."""
        return Seq2SeqState(self.read(source)[1])

    def decode(self, tokens: Int[Tensor, "batch time"], state: Seq2SeqState) -> Float[Tensor, "batch time model"]:
        """Decoder outputs at the next target positions; updates ``state`` in place."""
        outputs, state.carried = self.decoder(self.embed(tokens), None, state.carried)
        return self.dropout(outputs)

    def step(self, tokens: Int[Tensor, "batch time"], state: Seq2SeqState) -> Float[Tensor, "batch vocab"]:
        """Append ``tokens`` to ``state`` and return the logits of the next token."""
        return self.output(self.decode(tokens, state)[:, -1])


@dataclass
class AttentionState(Seq2SeqState):
    """Decoding state with the encoder outputs of each source (``memory``) and the ``keys`` that the decoder attends
    to."""

    memory: Float[Tensor, "batch key model"]
    keys: Float[Tensor, "batch key model"]
    memory_mask: AttentionMask

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep only the given rows of the batch, in the given order."""
        super().select(rows)
        self.memory, self.keys = self.memory[rows], self.keys[rows]
        self.memory_mask = self.memory_mask.select(rows)


class AttentionSeq2Seq(Seq2Seq):
    """Encoder–decoder with attention after the recurrent step: the prediction is made from tanh(W [context; state])
    (Luong et al. 2015, §3.1, eq. 5). Their input feeding (§3.3) is omitted."""

    alignment_class: type[Alignment]

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__(config)
        self.cross_attention = self.alignment_class(config.model)
        self.combine = nn.Linear(self.combined_inputs, config.model, bias=False)

    @property
    def combined_inputs(self) -> int:
        """The input width of `combined`: context vector and decoder state, concatenated."""
        return 2 * self.config.model

    def start(self, source: Batch) -> AttentionState:
        """Encode the source and return the initial decoding state."""
        memory, carried = self.read(source)
        keys = self.cross_attention.prepared(memory)
        return AttentionState(carried, memory, keys, AttentionMask(keys=source.padding_mask))

    def forward(self, batch: PairBatch) -> Float[Tensor, "batch time vocab"]:
        """Next-token logits at every position of the target. ``batch.cross.pairs`` is an optional cross-attention mask
        per example."""
        state = self.start(batch.source)
        state.memory_mask = replace(state.memory_mask, pairs=batch.cross.pairs)
        return self.output(self.decode(batch.target.tokens, state))

    def decode(self, tokens: Int[Tensor, "batch time"], state: Seq2SeqState) -> Float[Tensor, "batch time model"]:
        """Attentional hidden states at the next target positions; updates ``state`` in place."""
        outputs = super().decode(tokens, state)
        return self.combined(self.attend(outputs, state), outputs)  # [batch time model]

    def attend(self, queries: Float[Tensor, "batch time model"], state: Seq2SeqState, position: int | None = None,
             ) -> Float[Tensor, "batch time model"]:
        """Context vectors: cross-attention from decoder states to the source. If ``position`` is given, the queries are
        for that target position only."""
        assert isinstance(state, AttentionState)
        mask = state.memory_mask if position is None else state.memory_mask.at(position)
        return self.cross_attention(queries, state.keys, state.memory, mask)

    def combined(self, context: Float[Tensor, "batch time model"], outputs: Float[Tensor, "batch time model"],
                 ) -> Float[Tensor, "batch time model"]:
        """Attentional hidden state tanh(W [context; state])."""
        return self.dropout(self.combine(torch.cat([context, outputs], -1)).tanh())


@model("dot-seq2seq", Seq2SeqConfig, ENCODER_DECODER)
class DotSeq2Seq(AttentionSeq2Seq):
    """LSTM encoder–decoder with dot-product attention (Luong et al. 2015)."""

    alignment_class = DotAlignment


@model("general-seq2seq", Seq2SeqConfig, ENCODER_DECODER)
class GeneralSeq2Seq(AttentionSeq2Seq):
    """LSTM encoder–decoder with general attention (Luong et al. 2015): a bilinear score of decoder and encoder
    state."""

    alignment_class = GeneralAlignment


@model("two-way-seq2seq", Seq2SeqConfig, ENCODER_DECODER)
class BidirectionalSeq2Seq(GeneralSeq2Seq):
    """LSTM encoder–decoder with a bidirectional encoder (Bahdanau et al. 2015, §3.2) and general attention: the encoder
    output of a source token depends on both its left and its right context."""

    bidirectional = True


@model("additive-seq2seq", Seq2SeqConfig, ENCODER_DECODER)
class AdditiveSeq2Seq(AttentionSeq2Seq):
    """LSTM encoder–decoder with additive attention (Bahdanau et al. 2015) and a bidirectional encoder.

    Attention is computed before the recurrent step, and the context vector is an input of that step, so the decoder
    runs one time step at a time even in training. Differences from the paper: LSTM cells instead of GRUs; the decoder's
    initial state is computed from both final encoder states instead of only that of the backward encoder; and Luong's
    output layer instead of a maxout layer.
    """

    alignment_class = AdditiveAlignment
    bidirectional = True

    @property
    def decoder_inputs(self) -> int:
        """The decoder's input width: token embedding and context vector, concatenated."""
        return 2 * self.config.model

    def decode(self, tokens: Int[Tensor, "batch time"], state: Seq2SeqState) -> Float[Tensor, "batch time model"]:
        """Attentional hidden states at the next target positions; the queries are the previous decoder states. Updates
        ``state`` in place."""
        outputs = []
        for position, word in enumerate(self.embed(tokens).split(1, 1)):
            context = self.attend(state.carried[0][-1][:, None], state, position)  # [batch 1 model]
            hidden, state.carried = self.decoder(torch.cat([word, context], -1), None, state.carried)
            outputs.append(self.combined(context, self.dropout(hidden)))
        return torch.cat(outputs, 1)
