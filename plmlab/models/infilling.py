"""Filling the blanks of texts with a GLM (Du et al. 2022, §2.1.1): one after the other, word by word, until [END].

Part A is read once, to both sides; then one position of Part B after the other. Keys and values of all of it are kept,
so that a blank is filled in sight of what was said in those before it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from plmlab.example import IGNORE, Batch
from plmlab.layers.attention import Cache
from plmlab.models.bert import BERT
from plmlab.objectives.blanks import blank_infilling, check_order, infilled
from plmlab.text.vocabulary import Vocabulary
from plmlab.visibility import AttentionMask


@runtime_checkable
class SupportsInfilling(Protocol):
    """A GLM with its output."""

    training: bool

    @property
    def encoder(self) -> BERT:
        """The network."""

    def token_logits(self, hidden: Float[Tensor, "*positions model"]) -> Float[Tensor, "*positions vocab"]:
        """The logits of the word that a position of a blank must say."""


@dataclass
class InfillingState:
    """Blanks half filled, a text a row: what was read and said, as keys and values of each layer, and which of these
    are real; the places of the [MASK]s in the order in which they are filled, 0 behind the last; how many blanks were
    begun, and how many positions the last of them has."""

    caches: list[Cache]
    real: Bool[Tensor, "batch key"]
    masks: Int[Tensor, "batch blank"]
    begun: Int[Tensor, "batch"]
    inside: Int[Tensor, "batch"]

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep these rows of the batch, in this order."""
        self.real, self.masks = self.real[rows], self.masks[rows]
        self.begun, self.inside = self.begun[rows], self.inside[rows]
        for cache in self.caches:
            cache.select(rows)


@dataclass(frozen=True)
class BlankInfiller:
    """A GLM that fills the blanks of texts, a [MASK] each, one after the other: what `plmlab.decode` asks of a model.
    One text a prompt; ``greedy(filler, filler.prompt, vocab, length=20, banned=filler.banned)``.

    ``texts`` are ids. ``orders`` gives for each text its blanks by their numbers, from 0, in the order in which they
    are filled; from left to right if None. Decoding writes Part B as one text: where the network says [END] and blanks
    are left, [START] of the next is written, and [END] behind the last alone. So [START] must not be banned, and
    ``length`` is that of all blanks, with one more each; what reaches it leaves its last blank open, and perhaps others
    not begun. ValueError for a text without a blank, an order that does not fit, a tokenizer without [MASK], [START] or
    [END].
    """

    model: SupportsInfilling
    texts: Sequence[Sequence[int]]
    vocab: Vocabulary
    orders: Sequence[Sequence[int]] | None = None

    def __post_init__(self) -> None:
        if self.orders is not None and len(self.orders) != len(self.texts):
            raise ValueError(f"orders for {len(self.orders)} texts were given, and there are {len(self.texts)}; give "
                             "one for each")
        for row, (places, order) in enumerate(zip(self.places, self.fill_order, strict=True)):
            if not places:
                raise ValueError(f"text {row} has no blank; put a [MASK] where words are to be filled in")
            check_order(order, len(places))

    @property
    def training(self) -> bool:
        """Whether the model's dropout is on."""
        return self.model.training

    @cached_property
    def places(self) -> list[list[int]]:
        """Where each text has its blanks, counted from 1, as the first position counts."""
        mask = self.vocab.need("mask")
        return [[place for place, token in enumerate(text, 1) if token == mask] for text in self.texts]

    @property
    def fill_order(self) -> Sequence[Sequence[int]]:
        """The blanks of each text by their numbers, in the order in which they are filled."""
        return [range(len(places)) for places in self.places] if self.orders is None else self.orders

    @property
    def prompt(self) -> Int[Tensor, "batch 1"]:
        """[START] of the first blank of each text."""
        return torch.full((len(self.texts), 1), self.vocab.need("start"), device=self._device)

    @property
    def banned(self) -> Collection[int]:
        """What decoding may not write: all special tokens but [START] and [END]."""
        return set(self.vocab.special) - {self.vocab.start, self.vocab.end}

    def start(self) -> InfillingState:
        """Part A of each text read, each position seeing all of its own; no blank begun."""
        read = Batch.of([blank_infilling(text, vocab=self.vocab, rng=Random(0), spans=()) for text in self.texts],
                        pad=self.vocab.need("pad")).to(self._device)
        caches = [Cache() for _ in self.model.encoder.layers]
        self.model.encoder.hidden_states(read, caches)
        masks = [[places[i] for i in order] for places, order in zip(self.places, self.fill_order, strict=True)]
        most, nothing = max(map(len, masks)), torch.zeros(len(masks), dtype=torch.long, device=self._device)
        return InfillingState(caches, read.padding_mask,
                              torch.tensor([[*row, *[0] * (most - len(row))] for row in masks],
                                                                 device=self._device), nothing, nothing)

    def step(self, tokens: Int[Tensor, "batch time"], state: InfillingState) -> Float[Tensor, "batch one_more"]:
        """Read ``tokens`` after what ``state`` holds, and give the logits of the next one as decoding names it.

        Behind the vocabulary there is one column more: that the network says [START], which is never right, and is not
        to be written. ValueError where what is read does not begin with [START], or holds more of them than the text
        has blanks, and where a blank grows longer than the model has positions.
        """
        start, end = self.vocab.need("start"), self.vocab.need("end")
        begins, position = tokens == start, torch.arange(tokens.shape[1], device=tokens.device)
        begun = state.begun[:, None] + begins.cumsum(1)
        blanks = (state.masks > 0).sum(1, keepdim=True)
        if bool((begun < 1).any() | (begun > blanks).any()):
            raise ValueError("each blank begins with [START], and a text has as many as it has [MASK]s; begin with the "
                             "Filler's prompt, and let what is read hold no more [START]s than there are blanks")
        inside = position + 1 - torch.where(begins, position, -state.inside[:, None]).cummax(1).values
        seen = torch.cat([state.real, torch.ones_like(begins)], 1)
        batch = Batch(tokens, torch.stack([state.masks.gather(1, begun - 1), inside], 1), torch.zeros_like(tokens),
                      AttentionMask(causal=True, keys=seen), torch.full_like(tokens, IGNORE))
        said = self.model.token_logits(self.model.encoder.hidden_states(batch, state.caches)[:, -1])
        state.real, state.begun, state.inside = seen, begun[:, -1], inside[:, -1]
        more, never = state.begun < blanks[:, 0], torch.full_like(said[:, end], float("-inf"))
        named = torch.cat([said, said[:, [start]]], 1)
        named[:, start], named[:, end] = torch.where(more, said[:, end], never), torch.where(more, never, said[:, end])
        return named

    def fillings(self, row: int, written: Sequence[int]) -> dict[int, list[int]]:
        """What decoding has written for the text of that row, by the number of its blank; of those that were begun."""
        found: list[list[int]] = [[]]
        for token in written:
            if token == self.vocab.start:
                found.append([])
            elif token != self.vocab.end:
                found[-1].append(token)
        return dict(zip(self.fill_order[row], found, strict=False))

    def filled(self, row: int, written: Sequence[int]) -> list[int]:
        """The text of that row with what decoding has written in its blanks; one that was not begun is still [MASK]."""
        words = {self.places[row][blank]: said for blank, said in self.fillings(row, written).items()}
        return [word for place, token in enumerate(self.texts[row], 1) for word in words.get(place, [token])]

    def logprobs(self, fillings: Sequence[Sequence[Sequence[int]]]) -> Float[Tensor, "batch"]:
        """For each text log p(fillings, in its order), [END] of each counted, in nats; read in one pass.

        ``fillings`` gives for each text the words of each blank, perhaps none, in the order of the text. ValueError
        where a text has more or fewer blanks, or is left out.
        """
        if len(fillings) != len(self.texts):
            raise ValueError(f"fillings of {len(fillings)} texts were given, and there are {len(self.texts)}; give "
                             "those of each")
        batch = Batch.of([infilled(text, words, order, self.vocab) for text, words, order
                          in zip(self.texts, fillings, self.fill_order, strict=True)],
                         pad=self.vocab.need("pad")).to(self._device)
        logits = self.model.token_logits(self.model.encoder(batch)).transpose(1, 2)
        return -F.cross_entropy(logits, batch.targets, ignore_index=IGNORE, reduction="none").sum(1)

    @property
    def _device(self) -> torch.device:
        return self.model.encoder.embeddings.token.weight.device
