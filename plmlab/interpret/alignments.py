"""A decoder's attention to the source at each step, and translation with manually set attention weights."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.decode import ConditionedDecoder
from plmlab.decode.hypothesis import DecodingRequest
from plmlab.example import Batch, PairBatch
from plmlab.interpret.attention_maps import collect_calls
from plmlab.interpret.readable import inference
from plmlab.interpret.watching import ActivationRecord, hooked, intervene, watch
from plmlab.objectives import sequence_to_sequence
from plmlab.text.vocabulary import Vocabulary

ACROSS = "*cross_attention.weights"
"""Hook points of the decoder's cross-attention weights, in every layer."""


@dataclass(frozen=True)
class Translation:
    """A generated translation: its ``tokens`` (including [END] if generated), their log-probabilities in nats, and the
    attention weights of each token over the source positions (None for a model without attention)."""

    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]
    weights: Float[Tensor, "time key"] | None


def translate(model: nn.Module, source: Sequence[int], vocab: Vocabulary, *, length: int,
              fixed_weights: Mapping[int, Sequence[float]] | None = None, masked: Collection[int] = ()) -> Translation:
    """Translate greedily with an encoder–decoder, at most ``length`` tokens, and record the attention weights.

    ``fixed_weights`` maps a step to the attention weights to use at that step, one per source position, the last for
    [END]. ``masked`` lists source positions to mask; the other weights are renormalized (or are all zero if no position
    is left). Raises ValueError if a step or source position does not exist, if weights have the wrong length, are
    negative or all 0, or if the weights of a model without attention are to be changed; also in the cases listed at
    `greedy`.
    """
    task = DecodingRequest(torch.tensor([[vocab.need("start")]]), vocab, length)
    encoded = Batch.of([sequence_to_sequence(source, [], vocab=vocab).source], pad=vocab.need("pad"))
    rows = _checked(fixed_weights or {}, masked, encoded.size[1], length)
    has_attention = _has_attention(model)
    if (rows or masked) and not has_attention:
        raise ValueError(f"a {type(model).__name__} has no attention to change: its decoder receives only the "
                         "encoder's last state")
    generated, logprobs = [vocab.need("start")], []

    def replace(weights: Tensor) -> Tensor:
        step = len(generated) - 1
        if step in rows:
            weights = rows[step].to(weights).expand_as(weights)
        if masked:
            weights = weights.index_fill(-1, torch.tensor(sorted(masked)), 0.0)
            weights = weights / weights.sum(-1, keepdim=True).clamp(min=torch.finfo(weights.dtype).tiny)
        return weights

    with ExitStack() as stack:
        stack.enter_context(inference(model))
        if has_attention:
            seen = stack.enter_context(watch(model, ACROSS))
            stack.enter_context(intervene(model, {ACROSS: replace}))
        given = ConditionedDecoder(model, encoded)
        state = task.start(given)
        while len(generated) <= length and generated[-1] != vocab.end:
            next_logprobs = task.next_logprobs(given, torch.tensor([generated[-1:]]), state)[0]
            generated.append(int(next_logprobs.argmax()))
            logprobs.append(float(next_logprobs.max()))
    return Translation(tuple(generated[1:]), tuple(logprobs), mean_attention(seen)[0] if has_attention else None)


def cross_attention_weights(model: nn.Module, batch: PairBatch) -> Float[Tensor, "batch time key"]:
    """Cross-attention weights of each target position under teacher forcing, averaged over layers and heads. Raises
    ValueError for a model without attention."""
    if not _has_attention(model):
        raise ValueError(f"a {type(model).__name__} has no attention, so there are no cross-attention weights")
    with inference(model), watch(model, ACROSS) as seen:
        model(batch)
    return mean_attention(seen)


def mean_attention(seen: ActivationRecord) -> Float[Tensor, "batch time key"]:
    """Average the recorded weights over layers and heads, one row per target position."""
    return torch.cat([collect_calls(seen, name) for name in seen], 1).mean(1)


def _has_attention(model: nn.Module) -> bool:
    with hooked(model) as points:
        return any(name.endswith(ACROSS[1:]) for name in points)


def _checked(fixed_weights: Mapping[int, Sequence[float]], masked: Collection[int], count: int, length: int,
             ) -> dict[int, Tensor]:
    """Validate the weights and normalize them so that they sum to 1."""
    for index in masked:
        if index not in range(count):
            raise ValueError(f"there is no position {index} in a source of {count} positions, [END] included")
    rows = {}
    for step, weights in fixed_weights.items():
        if step not in range(length):
            raise ValueError(f"there is no step {step}: at most {length} tokens are generated, counted from 0")
        if len(weights) != count or min(weights) < 0 or sum(weights) == 0:
            raise ValueError(f"step {step} has {len(weights)} weights; give {count}, one per source position including "
                             "[END], none below 0 and at least one above 0")
        row = torch.tensor(weights, dtype=torch.float64)
        rows[step] = row / row.sum()
    return rows
