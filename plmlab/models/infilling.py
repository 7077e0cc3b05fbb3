"""Blank infilling with a GLM (Du et al. 2022, §2.1.1): the blanks are generated one after another, token by token, each
until [END].

Part A is encoded once, with bidirectional attention; Part B is then generated autoregressively. The keys and values of
both are cached, so that each blank is conditioned on the blanks generated before it.
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
    """Interface of a GLM with its output layer."""

    training: bool

    @property
    def encoder(self) -> BERT:
        """The GLM without its output layer."""

    def token_logits(self, hidden: Float[Tensor, "*batch model"]) -> Float[Tensor, "*batch vocab"]:
        """Next-token logits in a blank from a hidden state."""


@dataclass
class InfillingState:
    """Decoding state of partially generated blanks, one row per text.

    Attributes:
        caches: keys and values of Part A and of the tokens generated so far, one cache per layer.
        real: which cached keys are not padding.
        masks: the positions of the [MASK] tokens in filling order, padded with 0.
        blanks_started: the number of blanks that have been started.
        blank_length: the number of tokens in the current blank, including [START].
    """

    caches: list[Cache]
    real: Bool[Tensor, "batch key"]
    masks: Int[Tensor, "batch blank"]
    blanks_started: Int[Tensor, "batch"]
    blank_length: Int[Tensor, "batch"]

    def select(self, rows: Int[Tensor, "rows"]) -> None:
        """Keep only the given rows of the batch, in the given order."""
        self.real, self.masks = self.real[rows], self.masks[rows]
        self.blanks_started, self.blank_length = self.blanks_started[rows], self.blank_length[rows]
        for cache in self.caches:
            cache.select(rows)


@dataclass(frozen=True)
class BlankInfiller:
    """A GLM that generates the blanks of texts, each marked by a [MASK], one after another; an `AutoregressiveModel`
    for `plmlab.decode`. The prompt has one row per text: ``greedy(infiller, infiller.prompt, vocab, length=20,
    banned=infiller.banned)``.

    ``texts`` are token ids. ``orders`` gives the filling order of each text as indices of its blanks, from 0; left to
    right if None. Part B is generated as one sequence: where the network predicts [END] and blanks remain, the [START]
    of the next blank is generated instead; [END] is generated only after the last blank. Therefore [START] must not be
    banned, and ``length`` counts the tokens of all blanks, plus one per blank. In a sequence cut off at ``length``, one
    blank is unfinished, and others may not have been started.

    Raises ValueError for a text without a blank, an invalid order, or a tokenizer without [MASK], [START] or [END].
    """

    model: SupportsInfilling
    texts: Sequence[Sequence[int]]
    vocab: Vocabulary
    orders: Sequence[Sequence[int]] | None = None

    def __post_init__(self) -> None:
        if self.orders is not None and len(self.orders) != len(self.texts):
            raise ValueError(f"orders for {len(self.orders)} texts were given, but there are {len(self.texts)} texts; "
                             "give one order per text")
        for row, (places, order) in enumerate(zip(self.places, self.fill_order, strict=True)):
            if not places:
                raise ValueError(f"text {row} has no blank; put a [MASK] where tokens are to be generated")
            check_order(order, len(places))

    @property
    def training(self) -> bool:
        """Whether the model is in training mode (dropout is on)."""
        return self.model.training

    @cached_property
    def places(self) -> list[list[int]]:
        """Position ids of the blanks of each text, which count from 1."""
        mask = self.vocab.need("mask")
        return [[i for i, token in enumerate(text, 1) if token == mask] for text in self.texts]

    @property
    def fill_order(self) -> Sequence[Sequence[int]]:
        """The filling order of each text, as indices of its blanks."""
        return [range(len(places)) for places in self.places] if self.orders is None else self.orders

    @property
    def prompt(self) -> Int[Tensor, "batch 1"]:
        """The [START] token of each text's first blank."""
        return torch.full((len(self.texts), 1), self.vocab.need("start"), device=self._device)

    @property
    def banned(self) -> Collection[int]:
        """Tokens that decoding must not generate: all special tokens except [START] and [END]."""
        return set(self.vocab.special) - {self.vocab.start, self.vocab.end}

    def start(self) -> InfillingState:
        """Encode Part A of each text and return the initial decoding state, in which no blank has been started."""
        part_a = Batch.of([blank_infilling(text, vocab=self.vocab, rng=Random(0), spans=()) for text in self.texts],
                          pad=self.vocab.need("pad")).to(self._device)
        caches = [Cache() for _ in self.model.encoder.layers]
        self.model.encoder.hidden_states(part_a, caches)
        masks = [[places[i] for i in order] for places, order in zip(self.places, self.fill_order, strict=True)]
        most, zeros = max(map(len, masks)), torch.zeros(len(masks), dtype=torch.long, device=self._device)
        padded = torch.tensor([[*row, *[0] * (most - len(row))] for row in masks], device=self._device)
        return InfillingState(caches, part_a.padding_mask, padded, zeros, zeros)

    def step(self, tokens: Int[Tensor, "batch time"], state: InfillingState) -> Float[Tensor, "batch one_more"]:
        """Append ``tokens`` to ``state`` and return the logits of the next token, with columns rearranged for decoding.

        Decoding generates all blanks as one sequence, in which the [START] of the next blank replaces [END]::

            input      [START]  a   b        [START]  c
            network    a        b   [END]    c        [END]
            decoding   a        b   [START]  c        [END]

        While blanks remain, the column of [START] therefore holds the network's logit of [END], and the column of [END]
        is −inf; in the last blank it is the other way round. The network's own logit of [START], which is never a
        correct prediction and must not be generated, is in an extra column after the vocabulary.

        Raises ValueError if the sequence does not begin with [START], if it has more [START] tokens than the text has
        blanks, or if a blank is longer than the model's number of positions.
        """
        start, end = self.vocab.need("start"), self.vocab.need("end")
        is_start, index = tokens == start, torch.arange(tokens.shape[1], device=tokens.device)
        blanks_started = state.blanks_started[:, None] + is_start.cumsum(1)  # the current blank, from 1, [batch time]
        blanks = (state.masks > 0).sum(1, keepdim=True)  # [batch 1]
        if bool((blanks_started < 1).any() | (blanks_started > blanks).any()):
            raise ValueError("each blank starts with one [START], and a text has one blank per [MASK]; start with the "
                             "BlankInfiller's prompt, and give no more [START]s than there are blanks")
        # distance to the last [START], from 1; −inside continues a blank that began in an earlier call
        blank_length = index + 1 - torch.where(is_start, index,
                                               -state.blank_length[:, None]).cummax(1).values  # [batch time]
        keys = torch.cat([state.real, torch.ones_like(is_start)], 1)  # [batch key]
        batch = Batch(tokens, torch.stack([state.masks.gather(1, blanks_started - 1), blank_length], 1),
                      torch.zeros_like(tokens),
                      AttentionMask(causal=True, keys=keys), torch.full_like(tokens, IGNORE))
        logits = self.model.token_logits(self.model.encoder.hidden_states(batch, state.caches)[:, -1])  # [batch vocab]
        state.real, state.blanks_started, state.blank_length = keys, blanks_started[:, -1], blank_length[:, -1]
        more, never = state.blanks_started < blanks[:, 0], torch.full_like(logits[:, end], float("-inf"))
        out = torch.cat([logits, logits[:, [start]]], 1)
        out[:, start], out[:, end] = torch.where(more, logits[:, end], never), torch.where(more, never, logits[:, end])
        return out

    def fillings(self, row: int, written: Sequence[int]) -> dict[int, list[int]]:
        """The generated tokens ``written`` for text ``row``, by index of the blank; blanks not started are left out."""
        blanks: list[list[int]] = [[]]
        for token in written:
            if token == self.vocab.start:
                blanks.append([])
            elif token != self.vocab.end:
                blanks[-1].append(token)
        return dict(zip(self.fill_order[row], blanks, strict=False))

    def filled(self, row: int, written: Sequence[int]) -> list[int]:
        """Text ``row`` with its blanks replaced by the generated tokens ``written``; a blank not started remains
        [MASK]."""
        words = {self.places[row][blank]: filling for blank, filling in self.fillings(row, written).items()}
        return [word for i, token in enumerate(self.texts[row], 1) for word in words.get(i, [token])]

    def logprobs(self, fillings: Sequence[Sequence[Sequence[int]]]) -> Float[Tensor, "batch"]:
        """Log-probability of each text's fillings in its filling order, including the [END] of each blank, in nats;
        computed in one forward pass.

        ``fillings`` gives for each text the tokens of each blank (possibly none), in text order. Raises ValueError if
        the number of texts, or of blanks in a text, does not match.
        """
        if len(fillings) != len(self.texts):
            raise ValueError(f"fillings of {len(fillings)} texts were given, but there are {len(self.texts)} texts; "
                             "give the fillings of every text")
        batch = Batch.of([infilled(text, words, order, self.vocab) for text, words, order
                          in zip(self.texts, fillings, self.fill_order, strict=True)],
                         pad=self.vocab.need("pad")).to(self._device)
        logits = self.model.token_logits(self.model.encoder(batch)).transpose(1, 2)  # [batch vocab time]
        return -F.cross_entropy(logits, batch.targets, ignore_index=IGNORE, reduction="none").sum(1)  # [batch]

    @property
    def _device(self) -> torch.device:
        return self.model.encoder.embeddings.token.weight.device
