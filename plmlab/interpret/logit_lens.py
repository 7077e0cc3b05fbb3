"""The logit lens: next-token predictions decoded from every layer of an autoregressive model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from plmlab.example import Batch
from plmlab.hf import convert
from plmlab.hf.readable import is_theirs
from plmlab.interpret.readable import as_ours, in_one_pass, inference, readable
from plmlab.interpret.watching import watch
from plmlab.text.tokenizers import Tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

LIKELIEST = 3
"""Number of top tokens in each cell of the lens."""


@dataclass(frozen=True, eq=False)
class ResidualStream:
    """The residual stream of a text. A text longer than the model's maximum length is truncated on the left.

    ``hidden`` holds the embeddings and then the output of each layer. ``logits`` are the next-token logits.
    """

    ids: tuple[int, ...]
    hidden: Float[Tensor, "layer time model"]
    logits: Float[Tensor, "vocab"]


@dataclass(frozen=True)
class Cell:
    """The prediction of one layer at one position: the top tokens with their probabilities, and the ``rank`` (from 1)
    and probability ``p`` that this layer assigns to the last layer's top token."""

    likeliest: tuple[tuple[int, float], ...]
    rank: int
    p: float


Column = tuple[Cell, ...]


@runtime_checkable
class LanguageModel(Protocol):
    """Interface of language models for the logit lens: hidden states, and logits for any hidden state."""

    config: Any
    final_norm: nn.Module

    def hidden_states(self, batch: Batch, /) -> Tensor:
        """Final hidden states after the final norm, [batch time model]."""

    def token_logits(self, hidden: Tensor, /) -> Tensor:
        """Next-token logits, [… vocab]."""


def residual_stream(model: LanguageModel, ids: Sequence[int]) -> ResidualStream:
    """Record the residual stream, without dropout or gradients; the model's mode is restored afterwards."""
    module = cast(nn.Module, model)
    window = tuple(ids[-getattr(model.config, "time", len(ids)):])
    tokens = torch.tensor([window], device=next(module.parameters()).device)
    with inference(module), watch(module, "embedded", "*layers.*.hidden") as seen:
        last = model.hidden_states(in_one_pass(module, Batch.continuing(tokens, 0)))[0, -1]
        logits = model.token_logits(last).float().cpu()
    return ResidualStream(window, torch.stack([hidden[0] for hidden in seen.hidden()]), logits)


@torch.no_grad()
def logit_lens(model: LanguageModel, hidden: Float[Tensor, "*batch model"]) -> Float[Tensor, "*batch vocab"]:
    """Decode a hidden state as if it were the last one: apply the final norm (GPT-2 has one, GPT-1 does not), then the
    output matrix (nostalgebraist 2020, "interpreting GPT: the logit lens")."""
    return model.token_logits(model.final_norm(hidden))


def columns_of(model: LanguageModel, hidden: Float[Tensor, "layer time model"]) -> list[Column]:
    """The logit lens at each position, from the embeddings to the last layer."""
    final = logit_lens(model, hidden[-1]).argmax(-1, keepdim=True)
    rows: list[list[Cell]] = []
    for layer in hidden:
        probs = logit_lens(model, layer).float().softmax(-1)
        final_probs = probs.gather(-1, final)
        best = probs.topk(min(LIKELIEST, probs.shape[-1]))
        ranks = (probs > final_probs).sum(-1) + 1
        rows.append([
            Cell(tuple(zip(ids, top_probs, strict=True)), rank, p) for ids, top_probs, rank, p
            in zip(best.indices.tolist(), best.values.tolist(), ranks.tolist(), final_probs[:, 0].tolist(),
                   strict=True)])
    return list(zip(*rows, strict=True))


class Lens:
    """Computes and caches columns of the logit lens: in a causal model, a column depends only on the prefix."""

    def __init__(self, model: LanguageModel, kept: int = 512) -> None:
        self.model, self.kept = model, kept
        self._columns: dict[tuple[int, ...], Column] = {}

    def columns(self, stream: ResidualStream, positions: int) -> list[Column]:
        """The columns of the last ``positions`` positions."""
        count = len(stream.ids)
        prefixes = {i: stream.ids[:i + 1] for i in range(max(0, count - positions), count)}
        new = [i for i, prefix in prefixes.items() if prefix not in self._columns]
        if new:
            computed = columns_of(self.model, stream.hidden[:, new])
            self._columns |= {prefixes[i]: column for i, column in zip(new, computed, strict=True)}
        columns = [self._columns[prefix] for prefix in prefixes.values()]
        while len(self._columns) > max(self.kept, positions):
            self._columns.pop(next(iter(self._columns)))
        return columns


def language_model(model: "nn.Module | PreTrainedModel", tokenizer: "Tokenizer | PreTrainedTokenizerBase",
                   ) -> tuple[LanguageModel, Tokenizer]:
    """Convert a language model and its tokenizer to ours. Raises ValueError if the model is not autoregressive."""
    ours = convert(cast("PreTrainedModel", model)) if is_theirs(model) else model
    if not isinstance(ours, LanguageModel) or readable(cast(nn.Module, ours)).architecture not in (
            "decoder", "recurrent"):
        raise ValueError(f"this needs an autoregressive language model: a GPT (of plmlab or transformers) or a "
                         f"recurrent language model; got a {type(model).__name__}")
    words = as_ours(tokenizer)
    if len(words) > ours.config.vocab:
        raise ValueError(f"the tokenizer has {len(words):,} tokens, but the model has {ours.config.vocab:,}: give "
                         "the tokenizer that the model was trained with")
    return ours, words
