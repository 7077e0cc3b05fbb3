"""Base classes of XLNet and MPNet: an encoder with a content stream and a query stream, and its pretraining model."""

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
    """BERT encoder with an optional query stream: if the batch has a ``query_stream_mask``, each target position also
    has a query.

    Both streams pass through the same layers. Without ``query_stream_mask``, as in fine-tuning, there is only the
    content stream. A subclass defines the initial query vectors, and either a bias that is added to the attention
    scores or the relative positions of queries and keys.
    """

    layer_class = TwoStreamLayer

    def queries(self, x: Float[Tensor, "batch time model"], targets_at: Int[Tensor, "batch query"],
                ) -> Float[Tensor, "batch query model"]:
        """Initial query vectors g⁽⁰⁾ at the target positions ``targets_at``; ``x`` holds the initial content vectors
        h⁽⁰⁾."""
        raise NotImplementedError

    def added(self, batch: Batch, positions: Int[Tensor, "batch query"]) -> Bias | None:
        """Bias added to the attention scores of the queries at ``positions`` for all keys; None for no bias."""
        return None

    def relative(self, batch: Batch, positions: Int[Tensor, "batch query"],
                 remembered: int) -> RelativePositions | None:
        """Relative positions of the queries at ``positions`` and all keys, the ``remembered`` keys first; None if
        unused."""
        return None

    def forward(self, batch: Batch) -> Float[Tensor, "batch time model"]:
        """Final hidden states: of the query stream at target positions, of the content stream elsewhere."""
        return self.read(batch, [None] * len(self.layers))

    def read(self, batch: Batch, memories: Sequence[Memory | None]) -> Float[Tensor, "batch time model"]:
        """Like `forward`, but with ``memories``, one per layer, to which every position can attend."""
        time, x = batch.size[1], self.embedded(self.embeddings(batch))
        targets_at = target_positions(batch)
        remembered = 0 if memories[0] is None else memories[0].time
        index = torch.arange(time, device=x.device).expand(len(x), -1)
        x = torch.cat([x, self.queries(x, targets_at)], 1)  # [batch time+query model]
        positions = torch.cat([index, targets_at], 1)  # [batch time+query]: where in the text each row of x is
        bias, relative = self.added(batch, positions), self.relative(batch, positions, remembered)
        attn_mask = both_streams(batch, targets_at, remembered)
        for layer, memory in zip(self.layers, memories, strict=True):
            x = layer(x, attn_mask, time, bias, relative, memory)
        if not targets_at.shape[1]:
            return x
        content, query = x[:, :time], x[:, time:]
        rows = targets_at[..., None].expand_as(query)
        is_target = (batch.targets.gather(1, targets_at) != IGNORE)[..., None]  # False for padding of `targets_at`
        # each query state replaces the content state at its target; non-targets get their own content state back
        return content.scatter(1, rows, torch.where(is_target, query, content.gather(1, rows)))  # [batch time model]


def target_positions(batch: Batch) -> Int[Tensor, "batch query"]:
    """Target positions of each row, in ascending order. Rows with fewer targets than the longest are padded with
    non-target positions. Without a query stream, the result has no columns."""
    is_target = batch.targets != IGNORE
    count = 0 if batch.query_stream_mask is None else int(is_target.sum(1).max())
    return (~is_target).long().argsort(dim=1, stable=True)[:, :count]  # stable sort: targets first, in order


def both_streams(batch: Batch, targets_at: Int[Tensor, "batch query"], remembered: int) -> AttentionMask:
    """Attention mask of both streams: one row per content position, then one per query in ``targets_at``. The columns
    are the ``remembered`` keys, visible to all, and then the content positions."""
    size, time = batch.size
    rows = batch.visible.dense(time, time)
    if rows is None:
        rows = torch.ones(1, 1, time, time, dtype=torch.bool, device=targets_at.device)
    rows = rows[:, 0].expand(size, -1, -1)  # [batch time time]
    if batch.query_stream_mask is not None:
        query_mask = batch.query_stream_mask.dense(time, time)
        assert query_mask is not None, "a query stream without a mask would see its own target"
        rows = torch.cat([rows, query_mask[:, 0].gather(1, targets_at[..., None].expand(-1, -1, time))], 1)
    return AttentionMask(pairs=F.pad(rows, (remembered, 0), value=True))  # [batch time+query remembered+time]


class TwoStreamPretraining(nn.Module):
    """A two-stream encoder with its output layer: the tied embedding matrix, with a bias."""

    encoder_class: type[TwoStreamEncoder]

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.encoder = self.encoder_class(config)
        self.bias = nn.Parameter(torch.zeros(config.vocab))

    def forward(self, batch: Batch) -> Float[Tensor, "batch time vocab"]:
        """Token logits at every position: from the query stream at targets, from the content stream elsewhere."""
        return self.token_logits(self.encoder(batch))

    def token_logits(self, hidden: Float[Tensor, "*batch model"]) -> Float[Tensor, "*batch vocab"]:
        """Token logits from the hidden states of either stream: hW_eᵀ + b."""
        return F.linear(hidden, self.encoder.embeddings.token.weight, self.bias)

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean of −log p(token) over the target positions, in nats."""
        is_target = batch.targets != IGNORE
        return F.cross_entropy(self.token_logits(self.encoder(batch)[is_target]), batch.targets[is_target])
