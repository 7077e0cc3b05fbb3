"""Sequence to sequence by recurrent networks (序列到序列): one reads, another writes; attention as the difference.

Without attention the encoder's last state is the only bridge (Sutskever et al. 2014). With it the decoder looks at
every position of the source (Bahdanau et al. 2015; Luong et al. 2015). What differs from Sutskever et al.: source and
target share one vocabulary and its embedding, and weights begin as PyTorch's do, theirs evenly from −0.08 to 0.08.
Their reversed source is a choice of the data.
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
    """The size of an encoder and a decoder; ``model`` is the width of an embedding and of a state."""

    vocab: int
    layers: int = 1
    model: int = 128
    dropout: float = 0.0

    @classmethod
    def tiny(cls, vocab: int, time: int = 128) -> Self:
        """Trains in seconds on two cores; no text is too long for it."""
        return cls(vocab)

    @classmethod
    def base(cls) -> Self:
        """Sutskever et al.'s (§3.4), with one vocabulary of 80,000 where they have 160,000 words of English and 80,000
        of French."""
        return cls(vocab=80_000, layers=4, model=1000)


@dataclass
class Seq2SeqState:
    """Targets half written, one a row: the states of all layers of the decoder."""

    carried: LayerStates

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep these rows of the batch, in this order."""
        self.carried = tuple(vectors[:, rows] for vectors in self.carried)


@model("seq2seq", Seq2SeqConfig, RECURRENT_SEQ2SEQ)
class Seq2Seq(nn.Module):
    """An LSTM reads the source, and its last state is where the LSTM that writes begins (Sutskever et al. 2014).

    In a ``bidirectional`` variant a second LSTM reads the source from its end, each half as wide, and what they show
    stands side by side. ValueError for a width that is then odd.
    """

    bidirectional: ClassVar[bool] = False

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__()
        if self.bidirectional and config.model % 2:
            raise ValueError(f"a width of {config.model} cannot be shared by two directions of reading")
        self.config = config
        self.token = nn.Embedding(config.vocab, config.model)
        nn.init.normal_(self.token.weight, std=0.1)
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = self.stack(config.model, self.bidirectional)
        self.bridge = HookPoint()
        self.decoder = self.stack(self.decoder_inputs)
        self.output = nn.Linear(config.model, config.vocab)

    def stack(self, inputs: int, bidirectional: bool = False) -> Recurrent:
        """The layers of an encoder or a decoder that reads so many numbers a position."""
        return Recurrent(LSTMCell, inputs, self.config.model // (1 + bidirectional), self.config.layers,
                         bidirectional=bidirectional, dropout=self.config.dropout)

    @property
    def decoder_inputs(self) -> int:
        """How many numbers the decoder reads at each position."""
        return self.config.model

    def forward(self, batch: PairBatch) -> Float[Tensor, "batch time vocab"]:
        """The logits of each target position's prediction."""
        return self.output(self.decode(batch.target.tokens, self.start(batch.source)))

    def loss(self, batch: PairBatch) -> Float[Tensor, ""]:
        """Mean cross-entropy in nats a target."""
        return F.cross_entropy(self(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE)

    def embed(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time model"]:
        """The vectors of some tokens."""
        return self.dropout(self.token(tokens))

    def read(self, source: Batch) -> tuple[Float[Tensor, "batch key model"], LayerStates]:
        """What the encoder shows at each position of the source, zeros at padding; and its states after the last."""
        real = source.padding_mask
        shown, last = self.encoder(self.embed(source.tokens), None if real.all() else real.sum(-1))
        return shown, tuple(self.bridge(rearrange(vectors, "(layer way) batch width -> layer batch (way width)",
                                                  way=1 + self.bidirectional)) for vectors in last)

    def start(self, source: Batch) -> Seq2SeqState:
        """Read the source, and be ready to write."""
        return Seq2SeqState(self.read(source)[1])

    def decode(self, tokens: Int[Tensor, "batch time"], state: Seq2SeqState) -> Float[Tensor, "batch time model"]:
        """What the decoder makes of each of the next positions of the target; ``state`` goes on."""
        shown, state.carried = self.decoder(self.embed(tokens), None, state.carried)
        return self.dropout(shown)

    def step(self, tokens: Int[Tensor, "batch time"], state: Seq2SeqState) -> Float[Tensor, "batch vocab"]:
        """Write on after what ``state`` remembers, and give the logits of the token that comes next."""
        return self.output(self.decode(tokens, state)[:, -1])


@dataclass
class AttentionState(Seq2SeqState):
    """Targets half written, and what the encoder has shown of each source, which the decoder can look at."""

    memory: Float[Tensor, "batch key model"]
    keys: Float[Tensor, "batch key model"]
    memory_mask: AttentionMask

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep these rows of the batch, in this order."""
        super().select(rows)
        self.memory, self.keys = self.memory[rows], self.keys[rows]
        self.memory_mask = self.memory_mask.select(rows)


class AttentionSeq2Seq(Seq2Seq):
    """A decoder that, having read a word, looks at the source, and makes of both what it says (Luong et al. 2015,
    §3.1, eq. 5): tanh(W [context; state]). Their input feeding (§3.3) is left out."""

    alignment_class: type[Alignment]

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__(config)
        self.cross_attention = self.alignment_class(config.model)
        self.combine = nn.Linear(2 * config.model, config.model, bias=False)

    def start(self, source: Batch) -> AttentionState:
        """Read the source, and be ready to write."""
        memory, carried = self.read(source)
        keys = self.cross_attention.prepared(memory)
        return AttentionState(carried, memory, keys, AttentionMask(keys=source.padding_mask))

    def forward(self, batch: PairBatch) -> Float[Tensor, "batch time vocab"]:
        """The logits of each target position's prediction. A mask of its own for each example, ``batch.cross.pairs``,
        says which position may look where."""
        state = self.start(batch.source)
        state.memory_mask = replace(state.memory_mask, pairs=batch.cross.pairs)
        return self.output(self.decode(batch.target.tokens, state))

    def decode(self, tokens: Int[Tensor, "batch time"], state: Seq2SeqState) -> Float[Tensor, "batch time model"]:
        """What the decoder makes of each of the next positions of the target, and of where it looks then."""
        shown = super().decode(tokens, state)
        return self.combined(self.look(shown, state), shown)

    def look(self, queries: Float[Tensor, "batch time model"], state: Seq2SeqState, position: int | None = None,
             ) -> Float[Tensor, "batch time model"]:
        """The context that each state of the decoder picks out of the source; or one state alone, that of a
        ``position`` of the target."""
        assert isinstance(state, AttentionState)
        mask = state.memory_mask if position is None else state.memory_mask.at(position)
        return self.cross_attention(queries, state.keys, state.memory, mask)

    def combined(self, context: Float[Tensor, "batch time model"], shown: Float[Tensor, "batch time model"],
                 ) -> Float[Tensor, "batch time model"]:
        """What is said of the context and the decoder's state together."""
        return self.dropout(self.combine(torch.cat([context, shown], -1)).tanh())


@model("dot-seq2seq", Seq2SeqConfig, ENCODER_DECODER)
class DotSeq2Seq(AttentionSeq2Seq):
    """Attention by inner products (Luong et al. 2015)."""

    alignment_class = DotAlignment


@model("general-seq2seq", Seq2SeqConfig, ENCODER_DECODER)
class GeneralSeq2Seq(AttentionSeq2Seq):
    """Attention by a matrix between the two states (Luong et al. 2015)."""

    alignment_class = GeneralAlignment


@model("two-way-seq2seq", Seq2SeqConfig, ENCODER_DECODER)
class BidirectionalSeq2Seq(GeneralSeq2Seq):
    """The general score over an encoder that reads both ways (Bahdanau et al. 2015, §3.2).

    What stands at a position of the source knows the words on both sides.
    """

    bidirectional = True


@model("additive-seq2seq", Seq2SeqConfig, ENCODER_DECODER)
class AdditiveSeq2Seq(AttentionSeq2Seq):
    """Attention by a small network, looking before the word is read (Bahdanau et al. 2015).

    The encoder reads both ways. The context goes into the next state, so that the positions of a target follow one
    another even in training. What differs from the paper: LSTM cells instead of GRUs, both last states as the decoder's
    first where theirs is made of the one from the end, and Luong's way to say the word instead of a maxout layer.
    """

    alignment_class = AdditiveAlignment
    bidirectional = True

    @property
    def decoder_inputs(self) -> int:
        """The word, and the context beside it."""
        return 2 * self.config.model

    def decode(self, tokens: Int[Tensor, "batch time"], state: Seq2SeqState) -> Float[Tensor, "batch time model"]:
        """What the decoder makes of each of the next positions, looking at each with the state before it."""
        said = []
        for position, word in enumerate(self.embed(tokens).split(1, 1)):
            context = self.look(state.carried[0][-1][:, None], state, position)
            shown, state.carried = self.decoder(torch.cat([word, context], -1), None, state.carried)
            said.append(self.combined(context, self.dropout(shown)))
        return torch.cat(said, 1)
