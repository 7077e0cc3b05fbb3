"""A text read by an autoregressive model: what it says comes next, and what each layer would say."""

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
"""How many tokens a cell of the lens names."""


@dataclass(frozen=True, eq=False)
class ResidualStream:
    """What a model made of a text, of which it read as much of the end as it has positions; all, if it has none.

    ``hidden`` is the residual stream: the embedded input, then the output of each layer. ``logits`` are those of
    the token that comes next.
    """

    ids: tuple[int, ...]
    hidden: Float[Tensor, "layer time model"]
    logits: Float[Tensor, "vocab"]


@dataclass(frozen=True)
class Cell:
    """What one layer would say after one position: the likeliest tokens with their probabilities; and how the token
    that the last layer holds for the likeliest stands here, its rank from 1 on and its probability."""

    likeliest: tuple[tuple[int, float], ...]
    rank: int
    p: float


Column = tuple[Cell, ...]


@runtime_checkable
class LanguageModel(Protocol):
    """What the lens asks of a model that says what comes next: its hidden states, and the logits of any of them."""

    config: Any
    final_norm: nn.Module

    def hidden_states(self, batch: Batch, /) -> Tensor:
        """[batch time model]: what the last layer makes of each position, normed."""

    def token_logits(self, hidden: Tensor, /) -> Tensor:
        """[… vocab]: the logits of the token that follows a position."""


def residual_stream(model: LanguageModel, ids: Sequence[int]) -> ResidualStream:
    """Let the model read; no dropout, no gradients, and afterwards the model is in the mode it was in."""
    module = cast(nn.Module, model)
    window = tuple(ids[-getattr(model.config, "time", len(ids)):])
    tokens = torch.tensor([window], device=next(module.parameters()).device)
    with inference(module), watch(module, "embedded", "*layers.*.hidden") as seen:
        last = model.hidden_states(in_one_pass(module, Batch.continuing(tokens, 0)))[0, -1]
        logits = model.token_logits(last).float().cpu()
    return ResidualStream(window, torch.stack([hidden[0] for hidden in seen.hidden()]), logits)


@torch.no_grad()
def logit_lens(model: LanguageModel, hidden: Float[Tensor, "*positions model"]) -> Float[Tensor, "*positions vocab"]:
    """The logits, were a hidden state the last one: the final norm, where the model has one (GPT-2 has, GPT-1 has
    not), then the output matrix (nostalgebraist 2020, "interpreting GPT: the logit lens")."""
    return model.token_logits(model.final_norm(hidden))


def columns_of(model: LanguageModel, hidden: Float[Tensor, "layer time model"]) -> list[Column]:
    """The lens for each position, from the embedded input to the last layer."""
    final = logit_lens(model, hidden[-1]).argmax(-1, keepdim=True)
    rows: list[list[Cell]] = []
    for layer in hidden:
        said = logit_lens(model, layer).float().softmax(-1)
        chosen = said.gather(-1, final)
        best = said.topk(min(LIKELIEST, said.shape[-1]))
        ranks = (said > chosen).sum(-1) + 1
        rows.append([
            Cell(tuple(zip(ids, chances, strict=True)), rank, p) for ids, chances, rank, p
            in zip(best.indices.tolist(), best.values.tolist(), ranks.tolist(), chosen[:, 0].tolist(), strict=True)])
    return list(zip(*rows, strict=True))


class Lens:
    """Columns of the lens, each computed once: what is said after a position depends only on what stands before it."""

    def __init__(self, model: LanguageModel, kept: int = 512) -> None:
        self.model, self.kept = model, kept
        self._columns: dict[tuple[int, ...], Column] = {}

    def columns(self, stream: ResidualStream, positions: int) -> list[Column]:
        """The columns of the last ``positions`` positions."""
        count = len(stream.ids)
        prefixes = {position: stream.ids[:position + 1] for position in range(max(0, count - positions), count)}
        new = [position for position, prefix in prefixes.items() if prefix not in self._columns]
        if new:
            found = columns_of(self.model, stream.hidden[:, new])
            self._columns |= {prefixes[position]: column for position, column in zip(new, found, strict=True)}
        shown = [self._columns[prefix] for prefix in prefixes.values()]
        while len(self._columns) > max(self.kept, positions):
            self._columns.pop(next(iter(self._columns)))
        return shown


def language_model(model: "nn.Module | PreTrainedModel", tokenizer: "Tokenizer | PreTrainedTokenizerBase",
                   ) -> tuple[LanguageModel, Tokenizer]:
    """The model and its tokenizer as our code runs them; a ValueError for what does not write from left to right."""
    made = convert(cast("PreTrainedModel", model)) if is_theirs(model) else model
    if not isinstance(made, LanguageModel) or readable(cast(nn.Module, made)).architecture not in (
            "decoder", "recurrent"):
        raise ValueError(f"this lab asks a model what comes next, and wants a GPT, of plmlab or of transformers, or a "
                         f"recurrent language model; a {type(model).__name__} was given")
    words = as_ours(tokenizer)
    if len(words) > made.config.vocab:
        raise ValueError(f"the tokenizer has {len(words):,} tokens and the model knows {made.config.vocab:,}: give "
                         "the tokenizer that the model was trained with")
    return made, words
