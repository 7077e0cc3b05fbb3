"""Where a decoder looks while it writes: the weights of each step; and a translation whose weights are held by hand."""

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
"""The hook points through which a decoder's weights over the source pass, in every layer."""


@dataclass(frozen=True)
class Translation:
    """A text as a model wrote it: its ``tokens``, [END] included where it was reached; the ``logprobs`` of each, in
    nats; and the ``weights`` of each on the source's positions, None where the model has no attention."""

    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]
    weights: Float[Tensor, "time key"] | None


def translate(model: nn.Module, source: Sequence[int], vocab: Vocabulary, *, length: int,
              held: Mapping[int, Sequence[float]] | None = None, shut: Collection[int] = ()) -> Translation:
    """What an encoder-decoder writes greedily, at most ``length`` tokens, and where it looks for each.

    ``held``: step → the weights that it is given there, one a position of the source, [END]'s position last. ``shut``:
    positions that it may not look at; their share goes to the others, or nowhere if nothing is left. ValueError for
    weights of another number, below 0 or all 0, for a step or a position that there is not, where a model without
    attention is held, and where `greedy` raises one.
    """
    task = DecodingRequest(torch.tensor([[vocab.need("start")]]), vocab, length)
    read = Batch.of([sequence_to_sequence(source, [], vocab=vocab).source], pad=vocab.need("pad"))
    rows = _checked(held or {}, shut, read.size[1], length)
    looks = _has_attention(model)
    if (rows or shut) and not looks:
        raise ValueError(f"a {type(model).__name__} has no attention to take hold of: all that its decoder has of the "
                         "source is the encoder's last state")
    written, logprobs = [vocab.need("start")], []

    def take_hold(weights: Tensor) -> Tensor:
        step = len(written) - 1
        if step in rows:
            weights = rows[step].to(weights).expand_as(weights)
        if shut:
            weights = weights.index_fill(-1, torch.tensor(sorted(shut)), 0.0)
            weights = weights / weights.sum(-1, keepdim=True).clamp(min=torch.finfo(weights.dtype).tiny)
        return weights

    with ExitStack() as stack:
        stack.enter_context(inference(model))
        if looks:
            seen = stack.enter_context(watch(model, ACROSS))
            stack.enter_context(intervene(model, {ACROSS: take_hold}))
        given = ConditionedDecoder(model, read)
        state = task.start(given)
        while len(written) <= length and written[-1] != vocab.end:
            ahead = task.next_logprobs(given, torch.tensor([written[-1:]]), state)[0]
            written.append(int(ahead.argmax()))
            logprobs.append(float(ahead.max()))
    return Translation(tuple(written[1:]), tuple(logprobs), mean_attention(seen)[0] if looks else None)


def cross_attention_weights(model: nn.Module, batch: PairBatch) -> Float[Tensor, "batch time key"]:
    """The weights of each target position on the source's positions, where the right words are given: the mean over
    layers and heads. ValueError for a model without attention."""
    if not _has_attention(model):
        raise ValueError(f"a {type(model).__name__} has no attention: nothing says where its decoder looks")
    with inference(model), watch(model, ACROSS) as seen:
        model(batch)
    return mean_attention(seen)


def mean_attention(seen: ActivationRecord) -> Float[Tensor, "batch time key"]:
    """The mean over layers and heads of the weights that were seen, position after position."""
    return torch.cat([collect_calls(seen, name) for name in seen], 1).mean(1)


def _has_attention(model: nn.Module) -> bool:
    with hooked(model) as points:
        return any(name.endswith(ACROSS[1:]) for name in points)


def _checked(held: Mapping[int, Sequence[float]], shut: Collection[int], positions: int, length: int) -> dict[int,
                                                                                                              Tensor]:
    """The rows as tensors that add up to 1."""
    for position in shut:
        if position not in range(positions):
            raise ValueError(f"there is no position {position} in a source of {positions}, [END] included")
    rows = {}
    for step, weights in held.items():
        if step not in range(length):
            raise ValueError(f"there is no step {step}: at most {length} tokens are written, counted from 0")
        if len(weights) != positions or min(weights) < 0 or sum(weights) == 0:
            raise ValueError(f"step {step} was given {len(weights)} weights; it needs {positions}, one a position of "
                             f"the "
                             "source with [END], none below 0 and one above")
        row = torch.tensor(weights, dtype=torch.float64)
        rows[step] = row / row.sum()
    return rows
