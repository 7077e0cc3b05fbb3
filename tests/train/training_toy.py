"""A tiny model with dropout, and batches of its own, for the tests of training."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from plmlab.example import IGNORE

VOCAB = 23


@dataclass(frozen=True)
class ToyConfig:
    width: int = 12
    dropout: float = 0.2
    vocab: int = VOCAB


@dataclass(frozen=True)
class ToyBatch:
    tokens: Tensor
    targets: Tensor

    def to(self, device):
        return ToyBatch(self.tokens.to(device), self.targets.to(device))


class Toy(nn.Module):
    """Tied embeddings, a buffer, dropout, a norm, and a parameter that is never used."""

    def __init__(self, config: ToyConfig | None = None):
        super().__init__()
        self.config = config or ToyConfig()
        width = self.config.width
        self.token = nn.Embedding(self.config.vocab, width)
        self.inner = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(self.config.dropout)
        self.head = nn.Linear(width, self.config.vocab)
        self.head.weight = self.token.weight
        self.idle = nn.Parameter(torch.ones(width, width))
        self.register_buffer("scale", torch.tensor(1.5))

    def forward(self, batch):
        x = self.token(batch.tokens)
        return self.head(self.norm(x + self.dropout(torch.tanh(self.inner(x)))) * self.scale)

    def loss(self, batch):
        return nn.functional.cross_entropy(self(batch).flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORE)


def toy(seed=0, **choices):
    torch.manual_seed(seed)
    return Toy(ToyConfig(**choices))


def batch(i, rows=3, time=7):
    """Batch i: noisy counting, with some targets left out, more in some batches than in others."""
    draw = torch.Generator().manual_seed(1000 + i)
    tokens = (torch.randint(VOCAB, (rows, 1), generator=draw) + torch.arange(time + 1)) % VOCAB
    noise = torch.rand(tokens.shape, generator=draw) < 0.1
    tokens = torch.where(noise, torch.randint(VOCAB, tokens.shape, generator=draw), tokens)
    hidden = torch.rand(rows, time, generator=draw) < 0.2 + 0.15 * (i % 4)
    return ToyBatch(tokens[:, :-1], tokens[:, 1:].masked_fill(hidden, IGNORE))


def joined(i, parts=2):
    """Batches i · parts, … as one."""
    several = [batch(i * parts + part) for part in range(parts)]
    return ToyBatch(torch.cat([b.tokens for b in several]), torch.cat([b.targets for b in several]))
