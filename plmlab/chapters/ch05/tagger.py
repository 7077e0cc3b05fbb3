"""A task-specific BiLSTM tagger whose input is [x; ELMo], word vectors and ELMo vectors (Peters et al. 2018, §3.3).

The pretrained layers are frozen, and their vectors are computed once; the layer weights, γ, and all layers above are
trained on the task.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Self

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from plmlab.checkpoints import load
from plmlab.example import IGNORE
from plmlab.layers.cells import LSTMCell
from plmlab.layers.recurrent import Recurrent
from plmlab.layers.scalar_mix import ScalarMix, centred
from plmlab.world.datasets.tokenizer import ids, world_tokenizer

WIDTH, DROPOUT, UNKNOWN = 128, 0.3, 0.05
"""BiLSTM width, dropout on its inputs, and the fraction of words replaced by [UNK] in training."""


@dataclass(frozen=True)
class Row:
    """A sentence as word ids, with label ids (IGNORE for unlabelled words) and the vectors of the pretrained layers."""

    words: Int[Tensor, "time"]
    labels: Int[Tensor, "time"]
    layers: tuple[Float[Tensor, "time width"], ...] = ()


@dataclass(frozen=True)
class TaggedBatch:
    """A batch of rows, padded on the right."""

    words: Int[Tensor, "batch time"]
    targets: Int[Tensor, "batch time"]
    layers: tuple[Float[Tensor, "batch time width"], ...]
    lengths: Int[Tensor, "batch"]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Self:
        """Collate rows into a batch."""
        return cls(pad_sequence([encode_row.words for encode_row in rows], True),
                   pad_sequence([encode_row.labels for encode_row in rows], True, IGNORE),
                   tuple(pad_sequence(list(layer), True)
                         for layer in zip(*(encode_row.layers for encode_row in rows), strict=True)),
                   torch.tensor([len(encode_row.words) for encode_row in rows]))

    @property
    def real(self) -> Bool[Tensor, "batch time"]:
        """Mask of real (non-padding) tokens."""
        return (torch.arange(self.words.shape[1]) < self.lengths[:, None]).to(self.words.device)

    def to(self, device: Any) -> Self:
        """A copy of the batch on another device."""
        return replace(self, words=self.words.to(device), targets=self.targets.to(device),
                       layers=tuple(layer.to(device) for layer in self.layers))


class FixedMix(nn.Module):
    """γ Σⱼ sⱼ hⱼ with fixed weights s (``shares``); γ is learned."""

    def __init__(self, shares: Sequence[float]) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(()))
        self.fixed = list(shares)

    def forward(self, layers: Sequence[Float[Tensor, "batch time width"]], real: Bool[Tensor, "batch time"],
                ) -> Float[Tensor, "batch time width"]:
        """Weighted sum of the layers, each normalized to mean 0 and variance 1 first, as in `ScalarMix`."""
        return self.gamma * torch.stack([share * centred(layer, real)
                                         for share, layer in zip(self.fixed, layers, strict=True) if share]).sum(0)


class QuickMix(ScalarMix):
    """A `ScalarMix` of normalized layers with s = softmax(10 w); without the 10, short training hardly changes w."""

    pace = 10.0

    def __init__(self, layers: int) -> None:
        super().__init__(layers, normed=True)

    def softmax(self) -> Float[Tensor, "layer"]:
        """The layer weights s, which add up to 1."""
        return (self.pace * self.weights).softmax(0)


class Tagger(nn.Module):
    """Word vectors (optionally with a mix of pretrained layers), a BiLSTM, and a linear label classifier."""

    def __init__(self, labels: int, mix: nn.Module | None = None, width: int = 0) -> None:
        super().__init__()
        self.table = nn.Embedding.from_pretrained(word_vectors().clone(), freeze=False)
        self.mix = mix
        self.dropout = nn.Dropout(DROPOUT)
        self.recurrent = Recurrent(LSTMCell, self.table.embedding_dim + width, WIDTH // 2, bidirectional=True)
        self.output = nn.Linear(WIDTH, labels)

    def forward(self, batch: TaggedBatch) -> Float[Tensor, "batch time label"]:
        """Label logits at each position."""
        words = batch.words
        if self.training:
            dropped = torch.rand(words.shape, device=words.device) < UNKNOWN
            words = words.masked_fill(dropped, world_tokenizer().vocab.need("unk"))
        x = self.table(words)
        if self.mix is not None:
            x = torch.cat([x, self.mix(batch.layers, batch.real)], -1)
        return self.output(self.dropout(self.recurrent(self.dropout(x), batch.lengths)[0]))

    def loss(self, batch: TaggedBatch) -> Float[Tensor, ""]:
        """Mean cross-entropy in nats per labelled word."""
        return F.cross_entropy(self(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE)


@cache
def word_vectors() -> Float[Tensor, "vocab width"]:
    """The word vectors of chapter 02 for the full world's vocabulary, scaled to variance 1; zeros for words without a
    vector (cached)."""
    model, tokenizer = load("skipgram-world")
    matrix = model.token.weight.detach() / model.token.weight.detach().std()
    table = torch.zeros(len(world_tokenizer()), matrix.shape[1])
    row_of = {word: i for i, word in enumerate(tokenizer.tokens(list(range(len(tokenizer)))))}
    for i, word in enumerate(world_tokenizer().tokens(list(range(len(world_tokenizer()))))):
        if word in row_of and not word.startswith("["):
            table[i] = matrix[row_of[word]]
    return table


def encode_row(words: Sequence[str], labels: Sequence[int], layers: Sequence[Float[Tensor, "time width"]] = ()) -> Row:
    """Convert a labelled sentence to the tagger's input; out-of-vocabulary words become [UNK]."""
    return Row(torch.tensor(ids(words)), torch.tensor(labels), tuple(layers))
