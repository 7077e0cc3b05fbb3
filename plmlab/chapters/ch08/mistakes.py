"""Wrong answers to the exercises 08.1 to 08.3, what BERT reads and learns from, under the names of their mistakes, and
what holds of any right one."""

from collections.abc import Callable
from math import log
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from plmlab.example import IGNORE
from plmlab.exercises.mistakes import (
    Mistakes,
    Properties,
    by_exp,
    cut_across,
    largest_from_zero,
    of_words,
    spread,
    text_by_text,
    within,
)

# 08.1, eighty, ten, ten

def by_dice(tokens: Tensor, dice: Tensor, words: Tensor, mask: int) -> Tensor:
    """What each slot would show, were all slots selected: [MASK], a random word or its token, by the dice."""
    return torch.where(dice < 0.8, mask, torch.where(dice < 0.9, words, tokens))


def shown(tokens: Tensor, selected: Tensor, *rest: Any) -> Tensor:
    """What each slot shows: a selected one goes by the dice, any other shows its token."""
    return torch.where(selected, by_dice(tokens, *rest), tokens)


def said(tokens: Tensor, selected: Tensor) -> Tensor:
    """The targets: the token of each selected slot, IGNORE elsewhere."""
    return torch.where(selected, tokens, IGNORE)


CORRUPTION: Mistakes = {
    "only slots that show [MASK] have a target; every selected slot must say its token":
        lambda t, s, dice, words, mask: (shown(t, s, dice, words, mask), said(t, s & (dice < 0.8))),
    "only slots that show something else than their token have a target; a selected slot that keeps it is asked too":
        lambda t, s, *rest: (shown(t, s, *rest), said(t, shown(t, s, *rest) != t)),
    "the targets are what is shown, [MASK] and random words; asked is what stood there before":
        lambda t, s, *rest: (shown(t, s, *rest), said(shown(t, s, *rest), s)),
    "every slot has a target; those that are not selected have nothing to say, −100":
        lambda t, s, *rest: (shown(t, s, *rest), t),
    "slots that are not selected have the target 0; that is a token, and −100 is none":
        lambda t, s, *rest: (shown(t, s, *rest), t * s),
    "the targets stand at the slots that are not selected": lambda t, s, *rest: (shown(t, s, *rest), said(t, ~s)),
    "the dice are read at every slot; only a selected one may change":
        lambda t, s, *rest: (by_dice(t, *rest), said(t, s)),
    "every slot is taken for selected": lambda t, s, *rest: (by_dice(t, *rest), t),
    "random words and kept tokens have changed places": lambda t, s, dice, words, mask:
        (torch.where(s, by_dice(words, dice, t, mask), t), said(t, s)),
    "no slot keeps its token: from 0.9 on all show random words":
        lambda t, s, dice, words, mask: (torch.where(s, by_dice(words, dice, words, mask), t), said(t, s)),
    "no slot shows a random word: its dice are from 0.8 to below 0.9":
        lambda t, s, dice, words, mask: (torch.where(s, by_dice(t, dice, t, mask), t), said(t, s)),
    "random words overwrite [MASK]: they belong where the dice are from 0.8 to below 0.9, not below 0.8":
        lambda t, s, dice, words, mask: (torch.where(s & (dice < 0.9), words, t), said(t, s)),
    "where the dice show 0.8 exactly, [MASK] is shown; it needs dice below 0.8 (<, not <=)": lambda t, s, dice, *rest:
        (shown(t, s, torch.where(dice == 0.8, 0.0, dice), *rest), said(t, s)),
    "every selected slot shows [MASK], whatever the dice": lambda t, s, dice, words, mask:
        (torch.where(s, mask, t), said(t, s)),
    "the dice are read from the other end: below 0.1 kept, below 0.2 random, then [MASK]":
        lambda t, s, dice, words, mask: (shown(t, s, 1 - dice, words, mask), said(t, s)),
    "the targets come first; give what is shown, then the targets":
        lambda t, s, *rest: (said(t, s), shown(t, s, *rest)),
}

OF_A_CORRUPTION: Properties = {
    "a slot that is not selected shows something else than its token":
        lambda out, t, s, *_: torch.equal(out[0][~s], t[~s]),
    "a slot that is not selected has a target": lambda out, t, s, *_: bool((out[1][~s] == IGNORE).all()),
    "a selected slot has not its own token for a target": lambda out, t, s, *_: torch.equal(out[1][s], t[s]),
}


# 08.2, the loss of the masked slots

def of_logits(loss: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """The exercise's function with the right logits, and ``loss`` in the place of the mean cross-entropy."""
    return lambda hidden, embedding, bias, targets: loss(hidden @ embedding.T + bias, targets)


def picked(logprobs: Tensor, targets: Tensor) -> Tensor:
    """The number at each target's id, in one row; slots without a target are left out."""
    asked = targets != IGNORE
    return logprobs[asked].gather(-1, targets[asked][:, None])[:, 0]


def losses(hidden: Tensor, embedding: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    """−log p of each target in nats, in one row."""
    return -picked((hidden @ embedding.T + bias).log_softmax(-1), targets)


LOSS: Mistakes = {
    "the mean divides by all slots, those without a target too":
        of_logits(lambda logits, targets: of_words(logits, targets, reduction="sum") / targets.numel()),
    "the mean is taken text by text: a target of a text with few then counts more": of_logits(text_by_text),
    "the losses are added up, not averaged": lambda *args: losses(*args).sum(),
    "the sum is divided by the number of texts, not of targets": lambda *args: losses(*args).sum() / len(args[-1]),
    "it is shifted, as in GPT; here each slot says what belongs into its own place":
        of_logits(lambda logits, targets: of_words(logits[:, :-1], targets[:, 1:])),
    "it is shifted: each slot is asked for the target of the slot before":
        of_logits(lambda logits, targets: of_words(logits[:, 1:], targets[:, :-1])),
    "−100 is taken for a token: those slots are asked for token 0":
        of_logits(lambda logits, targets: of_words(logits, targets.clamp(min=0))),
    "token 0 is left out too: it is a token as any other, only −100 is none":
        of_logits(lambda logits, targets: of_words(logits, targets.masked_fill(targets == 0, IGNORE))),
    "the bias is missing": lambda hidden, embedding, bias, targets: of_words(hidden @ embedding.T, targets),
    "the softmax runs over the slots of a text, not over the vocabulary":
        of_logits(lambda logits, targets: -picked(logits.log_softmax(1), targets).mean()),
    "the softmax runs over the slots that are asked, not over the vocabulary": lambda hidden, embedding, bias, targets:
        -(hidden[targets != IGNORE] @ embedding.T + bias).log_softmax(0)
        .gather(-1, targets[targets != IGNORE][:, None]).mean(),
    "the softmax is missing: the logits themselves are averaged":
        of_logits(lambda logits, targets: -picked(logits, targets).mean()),
    "each slot is asked for the targets of all slots; it has one of its own": lambda hidden, embedding, bias, targets:
        -(hidden[targets != IGNORE] @ embedding.T + bias).log_softmax(-1)[:, targets[targets != IGNORE]].mean(),
    "a view to [batch vocab time] mixes slots and tokens: .transpose(1, 2) swaps two axes, .view does not":
        of_logits(lambda logits, targets: of_words(cut_across(logits), targets)),
    "the mean is taken over the whole vocabulary of each slot; only one token of it was asked for":
        lambda *args: losses(*args).mean() / len(args[1]),
    "the bias comes after the softmax; it belongs to the logits": lambda hidden, embedding, bias, targets:
        -picked((hidden @ embedding.T).log_softmax(-1) + bias, targets).mean(),
    "the softmax is taken twice: cross_entropy wants the logits, and takes the softmax itself":
        of_logits(lambda logits, targets: of_words(logits.softmax(-1), targets)),
    "the logarithm is missing: this is the mean of −p, not of −log p (nll_loss takes no logarithm)":
        lambda *args: -(-losses(*args)).exp().mean(),
    "the logarithm is missing: this is the mean probability of the targets":
        lambda *args: (-losses(*args)).exp().mean(),
    "this is the perplexity, exp of the loss": lambda *args: losses(*args).mean().exp(),
    "these are bits: nats take the natural logarithm": lambda *args: losses(*args).mean() / log(2),
    "the sign is wrong: a log-probability is below 0, and its negative is the loss":
        lambda *args: -losses(*args).mean(),
    "the logarithm comes after the mean: it is the mean of logarithms, not the logarithm of a mean":
        lambda *args: -(-losses(*args)).exp().mean().log(),
    "a probability underflows to 0, and its logarithm is −∞: take .log_softmax of the logits":
        of_logits(lambda logits, targets: -picked(logits.softmax(-1).log(), targets).mean()),
    "exp of a large logit is infinite, and of one far below 0 it is 0: take .log_softmax of the logits":
        of_logits(lambda logits, targets: -picked(by_exp(logits).log(), targets).mean()),
    "exp of a large logit is infinite, and of one far below 0 it is 0: .logsumexp knows how to add them up":
        of_logits(lambda logits, targets: -picked(logits - logits.exp().sum(-1, True).log(), targets).mean()),
    "a maximum that starts at 0 stays 0 where all logits are negative: start at −∞, or take .log_softmax":
        of_logits(lambda logits, targets: -picked(
            (rest := logits - largest_from_zero(logits)) - rest.exp().sum(-1, True).log(), targets).mean()),
}

OF_A_LOSS: Properties = {
    "it is below the smallest loss of any target, or above the largest, so it is no mean of them":
        lambda out, *args: within(out - losses(*args).min(), spread(losses(*args))),
}


# 08.3, what BERT reads

def normed(x: Tensor, eps: float = 1e-12) -> Tensor:
    """The vectors taken to mean 0 and variance 1, without scale and shift."""
    return F.layer_norm(x, x.shape[-1:], eps=eps)


def picks(
    a: list[int], b: list[int], cls: int, sep: int, *tables: Tensor, row: list[int] | None = None,
    positions: list[int] | None = None, segments: list[int] | None = None,
) -> list[Tensor]:
    """The rows of the three tables, by the right ids where no others are given."""
    row = row or [cls, *a, sep, *b, sep]
    ids = row, positions or list(range(len(row))), segments or [0] * (len(a) + 2) + [1] * (len(row) - len(a) - 2)
    return [table[torch.tensor(places)] for table, places in zip(tables, ids, strict=True)]


def added(*args: Any, **ids: Any) -> Tensor:
    """The right sum of the three rows of each slot, not normed; the arguments are those of `picks`."""
    return torch.stack(picks(*args, **ids)).sum(0)


def centred(x: Tensor) -> Tensor:
    """The vectors, each with its mean taken away."""
    return x - x.mean(-1, keepdim=True)


INPUT: Mistakes = {
    "the norm is missing": added,
    "the three are normed one by one; the sum is to be normed": lambda *args: sum(map(normed, picks(*args))),
    "the norm is of the tokens' rows alone; it comes after the sum":
        lambda *args: normed(picks(*args)[0]) + picks(*args)[1] + picks(*args)[2],
    "the three stand side by side; they are added": lambda *args: torch.cat(picks(*args), dim=-1),
    "the three stand side by side, and are normed so; they are added":
        lambda *args: normed(torch.cat(picks(*args), dim=-1)),
    "the positions are missing": lambda *args: normed(picks(*args)[0] + picks(*args)[2]),
    "the segments are missing": lambda *args: normed(picks(*args)[0] + picks(*args)[1]),
    "positions count from 1, not from 0":
        lambda a, b, *rest: normed(added(a, b, *rest, positions=list(range(1, len(a + b) + 4)))),
    "the table of positions is asked with the ids of the tokens; it wants 0, 1, 2 …":
        lambda a, b, cls, sep, *tables: normed(added(
            a, b, cls, sep, *tables, positions=[cls, *a, sep, *b, sep])),
    "positions begin again at 0 in the second sentence; they count to the end":
        lambda a, b, *rest: normed(added(a, b, *rest, positions=[*range(len(a) + 2), *range(len(b) + 1)])),
    "the [SEP] between the sentences has segment 1; it still belongs to the first":
        lambda a, b, *rest: normed(added(a, b, *rest, segments=[0] * (len(a) + 1) + [1] * (len(b) + 2))),
    "the last [SEP] has segment 0; it belongs to the second sentence":
        lambda a, b, *rest: normed(added(a, b, *rest, segments=[0] * (len(a) + 2) + [1] * len(b) + [0])),
    "the segments have changed places: the first sentence has 0":
        lambda a, b, *rest: normed(added(a, b, *rest, segments=[1] * (len(a) + 2) + [0] * (len(b) + 1))),
    "[CLS] and [SEP] have changed places": lambda a, b, cls, sep, *tables: normed(added(a, b, sep, cls, *tables)),
    "[CLS] is missing": lambda a, b, cls, sep, *tables: normed(added(
        a, b, cls, sep, *tables, row=[*a, sep, *b, sep], segments=[0] * (len(a) + 1) + [1] * (len(b) + 1))),
    "the [SEP] at the end is missing": lambda a, b, cls, sep, *tables: normed(added(
        a, b, cls, sep, *tables, row=[cls, *a, sep, *b])),
    "the [SEP] between the sentences is missing": lambda a, b, cls, sep, *tables: normed(added(
        a, b, cls, sep, *tables, row=[cls, *a, *b, sep], segments=[0] * (len(a) + 1) + [1] * (len(b) + 1))),
    "the norm runs over the slots, not over each slot's vector": lambda *args: normed(added(*args).T).T,
    "the norm runs over all slots at once, not over each slot's vector":
        lambda *args: F.layer_norm(x := added(*args), x.shape, eps=1e-12),
    "only the mean is divided by the deviation: (x − mean) / deviation needs its brackets":
        lambda *args: (x := added(*args)) - x.mean(-1, True) / (x.var(-1, keepdim=True, correction=0) + 1e-12).sqrt(),
    "the mean is not taken away: this is another norm, RMSNorm":
        lambda *args: (x := added(*args)) / (x.square().mean(-1, keepdim=True) + 1e-12).sqrt(),
    "it divides by the variance; the deviation is its root":
        lambda *args: centred(x := added(*args)) / (x.var(-1, keepdim=True, correction=0) + 1e-12),
    "the deviation divides by one less than the width (.std() and .var() do so unless told correction=0)":
        lambda *args: centred(x := added(*args)) / (x.var(-1, keepdim=True) + 1e-12).sqrt(),
    "1e-5 is added to the variance, PyTorch's own choice; BERT's is 1e-12, and where vectors are small it shows":
        lambda *args: normed(added(*args), eps=1e-5),
}

OF_AN_INPUT: Properties = {
    "a slot's vector has not the mean 0": lambda out, *_: bool((out.mean(-1).abs() < 1e-3).all()),
    "a slot's vector has not the variance 1":
        lambda out, *_: bool(((out.var(-1, correction=0) - 1).abs() < 1e-2).all()),
}
