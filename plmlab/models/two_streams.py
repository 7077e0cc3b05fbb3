"""What XLNet and MPNet share: an encoder that reads with one stream and guesses with another, and its pretraining."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.layers.attention import Bias, RelativePositions
from plmlab.layers.memory import Memory
from plmlab.layers.two_streams import TwoStreamLayer
from plmlab.models.bert import BERT
from plmlab.visibility import AttentionMask


class TwoStreamEncoder(BERT):
    """A BERT whose batches may have a ``query_stream_mask``: then the positions that are asked have a query stream too.

    Both streams pass the same layers. Without ``query_stream_mask``, as in fine-tuning, there is the content stream
    alone. A model tells what its queries begin with, and either what is added to scores or how queries stand to keys.
    """

    layer_class = TwoStreamLayer

    def queries(self, x: Float[Tensor, "batch time model"], asked: Int[Tensor, "batch query"],
                ) -> Float[Tensor, "batch query model"]:
        """What the query stream begins with at the positions ``asked``; x is what the content stream begins with."""
        raise NotImplementedError

    def added(self, batch: Batch, positions: Int[Tensor, "batch query"]) -> Bias | None:
        """What is added to the scores of the queries at ``positions`` for all keys of the batch."""
        return None

    def relative(self, batch: Batch, positions: Int[Tensor, "batch query"],
                 remembered: int) -> RelativePositions | None:
        """How the queries at ``positions`` stand to all keys, ``remembered`` ones first."""
        return None

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """What the last layer makes of each position: the query stream of one that is asked, the content stream of all
        others."""
        return self.read(batch, [None] * len(self.layers))

    def read(self, batch: Batch, memories: Sequence[Memory | None]) -> Float[Tensor, "batch time model"]:
        """The same, behind what ``memories``, one a layer, hold: everybody sees all of that."""
        time, x = batch.size[1], self.embedded(self.embeddings(batch))
        asked = asked_positions(batch)
        remembered = 0 if memories[0] is None else memories[0].time
        place = torch.arange(time, device=x.device).expand(len(x), -1)
        x = torch.cat([x, self.queries(x, asked)], 1)
        positions = torch.cat([place, asked], 1)
        bias, relative = self.added(batch, positions), self.relative(batch, positions, remembered)
        attn_mask = both_streams(batch, asked, remembered)
        for layer, memory in zip(self.layers, memories, strict=True):
            x = layer(x, attn_mask, time, bias, relative, memory)
        if not asked.shape[1]:
            return x
        content, query = x[:, :time], x[:, time:]
        rows = asked[..., None].expand_as(query)
        guessed = (batch.targets.gather(1, asked) != IGNORE)[..., None]
        return content.scatter(1, rows, torch.where(guessed, query, content.gather(1, rows)))


def asked_positions(batch: Batch) -> Int[Tensor, "batch query"]:
    """The positions with a target, in their order, as many in every row; where a row has fewer, others fill it up. None
    where the batch has no query stream."""
    asked = batch.targets != IGNORE
    count = 0 if batch.query_stream_mask is None else int(asked.sum(1).max())
    return (~asked).long().argsort(dim=1, stable=True)[:, :count]


def both_streams(batch: Batch, asked: Int[Tensor, "batch query"], remembered: int) -> AttentionMask:
    """Who may look at whom: a row for each position of the content stream, then for each that is ``asked``."""
    size, time = batch.size
    rows = batch.visible.dense(time, time)
    if rows is None:
        rows = torch.ones(1, 1, time, time, dtype=torch.bool, device=asked.device)
    rows = rows[:, 0].expand(size, -1, -1)
    if batch.query_stream_mask is not None:
        guessing = batch.query_stream_mask.dense(time, time)
        assert guessing is not None, "a query stream without a mask sees its own answer"
        rows = torch.cat([rows, guessing[:, 0].gather(1, asked[..., None].expand(-1, -1, time))], 1)
    return AttentionMask(pairs=F.pad(rows, (remembered, 0), value=True))


class TwoStreamPretraining(nn.Module):
    """An encoder of two streams, and its output layer: the embedding's own weights, with a bias."""

    encoder_class: type[TwoStreamEncoder]

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.encoder = self.encoder_class(config)
        self.bias = nn.Parameter(torch.zeros(config.vocab))

    def forward(self, batch: Batch) -> Float[Tensor, "batch time vocab"]:
        """The logits of the token that belongs into each position; at positions that are not asked, read off their
        content."""
        return self.token_logits(self.encoder(batch))

    def token_logits(self, hidden: Float[Tensor, "*positions model"]) -> Float[Tensor, "*positions vocab"]:
        """The logits of the token that a vector of either stream stands for: hW_eᵀ + b."""
        return F.linear(hidden, self.encoder.embeddings.token.weight, self.bias)

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean over the asked positions of −log p(token), in nats."""
        asked = batch.targets != IGNORE
        return F.cross_entropy(self.token_logits(self.encoder(batch)[asked]), batch.targets[asked])
