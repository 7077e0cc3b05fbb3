"""Wrong answers to the exercises 03.1, 03.2 and 03.3, what a text costs and how often words meet, under the names of
their mistakes, and what holds of any right one."""

from collections.abc import Callable
from math import log

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
    text_by_text,
    whole,
)

# 03.1, a perplexity

Loss = Callable[[Tensor, Tensor], Tensor]


def e_to(loss: Loss) -> Callable[[Tensor, Tensor], float]:
    """e to some loss of (logits, targets)."""
    return lambda logits, targets: float(loss(logits, targets).exp())


def each(logits: Tensor, targets: Tensor) -> Tensor:
    """−log p of each target that counts, in one row."""
    return of_words(logits, targets, reduction="none")[targets.flatten() != IGNORE]


def of_logprobs(logprobs: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], float]:
    """The perplexity with log-probabilities that are made of the logits otherwise."""
    return lambda logits, targets: float(
        F.nll_loss(logprobs(logits).flatten(0, 1), targets.flatten(), ignore_index=IGNORE).exp())


def with_largest_from_zero(logits: Tensor) -> Tensor:
    """Log-probabilities by a maximum that starts at 0."""
    rest = logits - largest_from_zero(logits)
    return rest - rest.exp().sum(-1, keepdim=True).log()


PERPLEXITY: Mistakes = {
    "the softmax is taken twice: cross_entropy wants the logits, and takes the softmax itself":
        e_to(lambda logits, targets: of_words(logits.softmax(-1), targets)),
    "the logarithm is missing: this is e to the mean of −p, not of −log p (nll_loss takes no logarithm)":
        e_to(lambda logits, targets: -(-each(logits, targets)).exp().mean()),
    "the softmax is missing: the logits are taken for log-probabilities": of_logprobs(lambda logits: logits),
    "this is the mean of −log p; the perplexity is e to that": lambda logits, targets: float(of_words(logits, targets)),
    "this is the mean of −log p in bits; the perplexity is e to the mean in nats":
        lambda logits, targets: float(of_words(logits, targets)) / log(2),
    "2 is raised to a loss in nats: a natural logarithm goes with e, a logarithm to base 2 with 2":
        lambda logits, targets: float(of_words(logits, targets).exp2()),
    "e is raised to a loss in bits: a logarithm to base 2 goes with 2, a natural one with e":
        e_to(lambda logits, targets: of_words(logits, targets) / log(2)),
    "this is the mean of 1/p, token by token; take the mean of the logarithms first, and then e to it":
        lambda logits, targets: float(each(logits, targets).exp().mean()),
    "this is 1 over the mean chance; it is the logarithms that are averaged":
        lambda logits, targets: float(1 / (-each(logits, targets)).exp().mean()),
    "this is the mean of the texts' perplexities; the mean of −log p is taken over all targets, and then e to it":
        lambda logits, targets: float(torch.stack([F.cross_entropy(*pair) for pair in zip(
            logits, targets, strict=True)]).exp().mean()),
    "the mean is taken text by text: a short text then counts as much as a long one": e_to(text_by_text),
    "the losses are added up, not averaged, so that a longer text has a larger perplexity":
        e_to(lambda logits, targets: of_words(logits, targets, reduction="sum")),
    "the sum is divided by the number of texts, not of targets":
        e_to(lambda logits, targets: of_words(logits, targets, reduction="sum") / len(logits)),
    "the sum is divided by the number of slots in a text, not of targets":
        e_to(lambda logits, targets: of_words(logits, targets, reduction="sum") / logits.shape[1]),
    "the mean divides by all slots, those with −100 too":
        e_to(lambda logits, targets: of_words(logits, targets, reduction="sum") / targets.numel()),
    "the mean is taken over the whole vocabulary of each slot; only one token of it was asked for":
        e_to(lambda logits, targets: of_words(logits, targets) / logits.shape[2]),
    "−100 is taken for a token: those slots are asked for token 0":
        e_to(lambda logits, targets: of_words(logits, targets.clamp(min=0))),
    "token 0 is left out too: it is a token as any other, only −100 is none":
        e_to(lambda logits, targets: of_words(logits, targets.masked_fill(targets == 0, IGNORE))),
    "the targets are shifted once more: `targets` says already what each slot must say":
        e_to(lambda logits, targets: of_words(logits[:, :-1], targets[:, 1:])),
    "the sign is wrong: this is e to the mean of log p, and it is below 1":
        e_to(lambda logits, targets: -of_words(logits, targets)),
    "the sign is wrong, and the e is missing: this is the mean of log p":
        lambda logits, targets: -float(of_words(logits, targets)),
    "the softmax runs over the slots (dim 1), not over the vocabulary": of_logprobs(lambda x: x.log_softmax(1)),
    "the softmax runs over the texts (dim 0), not over the vocabulary": of_logprobs(lambda x: x.log_softmax(0)),
    "a view to [batch vocab time] mixes slots and tokens: .transpose(1, 2) swaps two axes, .view does not":
        e_to(lambda logits, targets: of_words(cut_across(logits), targets)),
    "a probability underflows to 0, and its logarithm is −∞: take .log_softmax of the logits":
        of_logprobs(lambda logits: logits.softmax(-1).log()),
    "a little is added inside the logarithm, so that a chance near 0 costs too little: take .log_softmax of the "
    "logits": of_logprobs(lambda logits: (logits.softmax(-1) + 1e-8).log()),
    "exp of a large logit is infinite, and of one far below 0 it is 0: take .log_softmax of the logits":
        of_logprobs(lambda logits: by_exp(logits).log()),
    "exp of a large logit is infinite, and of one far below 0 it is 0: .logsumexp knows how to add them up":
        of_logprobs(lambda logits: logits - logits.exp().sum(-1, keepdim=True).log()),
    "a maximum that starts at 0 stays 0 where all logits are negative: start at −∞, or take .log_softmax":
        of_logprobs(with_largest_from_zero),
}


# 03.2, bits for a character

Count = Callable[[str], float]


def over(count: Count) -> Callable[[Tensor, str], float]:
    """The bits of the whole text, divided by another number of it."""
    return lambda nats, text: float(nats.sum()) / log(2) / count(text)


def instead(make: Callable[[Tensor], Tensor]) -> Callable[[Tensor, str], float]:
    """Something made of the losses, divided by the number of characters."""
    return lambda nats, text: float(make(nats)) / len(text)


BITS: Mistakes = {
    "this is divided by the number of tokens; tokenizers differ in that, and not in the number of characters":
        lambda nats, text: float(nats.mean()) / log(2),
    "this is the mean over the tokens, divided by the characters; the whole text's cost is divided by them":
        instead(lambda nats: nats.mean() / log(2)),
    "these are nats: a bit is log 2 of them, so divide by that": instead(torch.sum),
    "these are nats for each token: neither bits nor characters": lambda nats, text: float(nats.mean()),
    "this is multiplied by log 2; there are more bits than nats, so divide": instead(lambda nats: nats.sum() * log(2)),
    "this is divided by 2, not by log 2": instead(lambda nats: nats.sum() / 2),
    "log 2 is rounded to 0.693; take math.log(2)": instead(lambda nats: nats.sum() / 0.693),
    "this is multiplied by the characters, for a / b * c is (a / b) * c: divide by both":
        over(lambda text: 1 / len(text)),
    "this is divided by the logarithm of 2 to base 10; the losses are natural logarithms":
        instead(lambda nats: nats.sum() / 0.30103),
    "a second logarithm is taken: the losses are logarithms already, and a bit is log 2 of a nat":
        instead(lambda nats: nats.log2().sum()),
    "a second logarithm is taken, of the sum: the losses are logarithms already, and a bit is log 2 of a nat":
        instead(lambda nats: nats.sum().log2()),
    "e^−120 is 0 in float32, and its logarithm is −∞: divide the nats by log 2, without going back to chances":
        instead(lambda nats: -(-nats).exp().log2().sum()),
    "the bits are cut to whole numbers: // is not /": lambda nats, text: float(nats.sum() / log(2) // len(text)),
    "the sign is wrong: the losses are −log p already": instead(lambda nats: -nats.sum() / log(2)),
    "this is the whole text's cost: it is not divided by its characters": over(lambda text: 1),
    "this is upside down: how many characters a bit lasts for":
        lambda nats, text: len(text) * log(2) / float(nats.sum()),
    "this is 2 to the bits, a perplexity of characters; asked are the bits":
        lambda nats, text: 2 ** (float(nats.sum()) / log(2) / len(text)),
    "these are bits for each byte, of which a 汉字 has three: len(text) counts characters":
        over(lambda text: len(text.encode())),
    "these are bits for each word": over(lambda text: len(text.split())),
    "spaces are not counted; they are characters too": over(lambda text: len(text.replace(" ", ""))),
    "spaces and line breaks are not counted; they are characters too": over(lambda text: len("".join(text.split()))),
    "the text is stripped: the spaces and line breaks at its ends are characters too":
        over(lambda text: len(text.strip())),
    "only letters are counted; spaces and punctuation are characters too":
        over(lambda text: sum(map(str.isalpha, text))),
    "a character that comes twice is counted once": over(lambda text: len(set(text))),
    "one more than the number of characters is taken; an end is no character": over(lambda text: len(text) + 1),
}


# 03.3, Kneser and Ney

Part = Callable[[Tensor], Tensor]
Chances = Callable[[Tensor, float], Tensor]


def rows(counts: Tensor) -> Tensor:
    """The sum of each row, [first 1]."""
    return counts.sum(1, keepdim=True)


def seen(counts: Tensor) -> Tensor:
    """1 where a pair comes at all, 0 elsewhere."""
    return (counts > 0).to(counts.dtype)


def continuing(counts: Tensor) -> Tensor:
    """How many first words each second word comes after, as a share of all pairs, [second]."""
    return whole(seen(counts).sum(0))


def kept(counts: Tensor, discount: float) -> Tensor:
    """The counts, each less the discount."""
    return (counts - discount).clamp(min=0)


def left(counts: Tensor, discount: float) -> Tensor:
    """What each row loses, [first 1]."""
    return discount * rows(seen(counts))


def smoothed(
    follows: Part = continuing, n: Part = rows, keep: Chances = kept, lost: Chances = left,
    join: Callable[[Tensor, Tensor], Tensor] = torch.add,
    empty: Callable[[Tensor, Tensor], Tensor] | None = lambda table, follows: follows,
) -> Chances:
    """The exercise's function with something in it otherwise. ``empty`` makes the row of a first word that never comes,
    of the table and `follows`; with None it is left as it is, NaN."""
    def answer(counts: Tensor, discount: float) -> Tensor:
        table = join(keep(counts, discount) / n(counts), lost(counts, discount) / n(counts) * follows(counts))
        return torch.where(rows(counts) > 0, table, empty(table, follows(counts))) if empty else table
    return answer


def backing_off(counts: Tensor, discount: float) -> Tensor:
    """What is kept where a pair comes, and a share of `follows` elsewhere only."""
    shared = left(counts, discount) / rows(counts) * continuing(counts)
    table = torch.where(counts > 0, kept(counts, discount) / rows(counts), shared)
    return torch.where(rows(counts) > 0, table, continuing(counts))


KNESER_NEY: Mistakes = {
    "`follows` is how often a word comes; it is after how many different words it comes":
        smoothed(lambda counts: whole(counts.sum(0))),
    "`follows` adds up rows, .sum(1), how many words follow each; it is after how many each comes, .sum(0)":
        smoothed(lambda counts: whole(seen(counts).sum(1))),
    "`follows` does not add up to 1: divide by the number of all different pairs":
        smoothed(lambda counts: seen(counts).sum(0)),
    "`follows` is divided by the number of words; divide by the number of all different pairs":
        smoothed(lambda counts: seen(counts).sum(0) / counts.shape[1]),
    "`follows` is divided by the number of first words; divide by the number of all different pairs":
        smoothed(lambda counts: seen(counts).mean(0)),
    "`follows` is divided by the sum of all counts; divide by the number of all different pairs":
        smoothed(lambda counts: seen(counts).sum(0) / counts.sum()),
    "`follows` counts only pairs that come just once; a pair that comes often counts as one too":
        smoothed(lambda counts: whole((counts == 1).to(counts.dtype).sum(0))),
    "what a row has lost goes to all words alike; it goes to them by `follows`":
        smoothed(lambda counts: torch.full(counts.shape[1:], 1 / counts.shape[1])),
    "the discount is taken from zeros too, and chances fall below 0: .clamp(min=0) is missing":
        smoothed(keep=lambda counts, discount: counts - discount),
    "count - d / n is count − (d / n): count − d stands in parentheses of its own": smoothed(
        keep=lambda counts, discount: rows(counts) * (counts - discount / rows(counts)).clamp(min=0)),
    "nothing is taken off the counts, though the share of `follows` is added": smoothed(
        keep=lambda counts, discount: counts),
    "there is no discount: these are the counts, divided by their sum": smoothed(
        keep=lambda counts, discount: counts, lost=lambda counts, discount: torch.zeros_like(rows(counts))),
    "every row shares out d / n; it is d / n for each different word that follows": smoothed(
        lost=lambda counts, discount: torch.full_like(rows(counts), discount)),
    "every row shares out d; it is d · kinds / n": smoothed(lost=lambda counts, discount: discount * rows(counts)),
    "`follows` is added in full; only what the row has lost, d · kinds / n, is shared out":
        smoothed(lost=lambda counts, discount: rows(counts)),
    "the d is missing in what is shared out: it is d · kinds / n": smoothed(lost=lambda counts, discount: rows(
        seen(counts))),
    "the share is 1 − d · kinds / n; what the row has lost is d · kinds / n": smoothed(
        lost=lambda counts, discount: rows(counts) - left(counts, discount)),
    "every row shares out d for each pair of the whole table; it has kinds of its own": smoothed(
        lost=lambda counts, discount: left(counts, discount).sum().expand(len(counts), 1)),
    "what is shared out goes missing: the part with `follows` is not there": smoothed(
        lost=lambda counts, discount: torch.zeros_like(rows(counts))),
    "this is backing off: `follows` counts only where a pair never comes; interpolation adds it everywhere":
        backing_off,
    "the counts are multiplied by 1 − d and `follows` by d; here d is taken off each count": smoothed(
        keep=lambda counts, discount: (1 - discount) * counts, lost=lambda counts, discount: discount * rows(counts)),
    "d is added to each count; that is another smoothing (Lidstone's), here it is taken off": lambda counts, discount:
        (counts + discount) / rows(counts + discount),
    "1 is added to each count; that is another smoothing (Laplace's), here d is taken off": lambda counts, discount:
        (counts + 1) / rows(counts + 1),
    "what each row keeps is counted anew for n; n is the sum of the counts as they were": lambda counts, discount:
        smoothed(n=lambda counts: rows(kept(counts, discount)))(counts, discount),
    "n is the sum of a column; it is the sum of a row": smoothed(n=lambda counts: counts.sum(0)),
    "n is the sum of all counts; each row has its own": smoothed(n=torch.sum),
    "n lies along the columns: .sum(1) needs keepdim=True": smoothed(n=lambda counts: counts.sum(1)),
    "n and kinds lie along the columns: .sum(1) needs keepdim=True": smoothed(
        n=lambda counts: counts.sum(1), lost=lambda counts, discount: discount * seen(counts).sum(1)),
    "0 divided by 0 is NaN: a first word that never comes has `follows` as its row": smoothed(empty=None),
    "a first word that never comes has zeros; its row is `follows`": smoothed(
        empty=lambda table, follows: torch.zeros_like(table)),
    "a first word that never comes has all words alike; its row is `follows`": smoothed(
        empty=lambda table, follows: torch.full_like(table, 1 / len(follows))),
    "these are logarithms of the chances": lambda counts, discount: smoothed()(counts, discount).log(),
    "the answer lies on its side: rows are first words": lambda counts, discount: smoothed()(counts, discount).T,
}

OF_CHANCES: Properties = {
    "a chance lies beyond 0 and 1": lambda out, *_: bool(((out >= -1e-4) & (out <= 1 + 1e-4)).all()),
    "the chances of a row do not add up to 1": lambda out, *_: bool(((out.sum(1) - 1).abs() < 1e-3).all()),
}
