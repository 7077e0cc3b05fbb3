"""Wrong answers to the exercises of chapter 07, under the names of their mistakes, and what holds of any right one."""

from collections.abc import Callable
from math import log, sqrt

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
    whole,
    within,
)

# 07.1, the loss of a language model

def picked(logprobs: Tensor, ids: Tensor) -> Tensor:
    """The number at ids[t] of each row t, in one row."""
    return logprobs.gather(-1, ids[:, None])[:, 0]


def surprise(logits: Tensor, tokens: Tensor) -> Tensor:
    """−log p of each token after the first, in nats."""
    return -picked(logits.log_softmax(-1)[:-1], tokens[1:])


LOSS: Mistakes = {
    "nothing is shifted: each slot is asked for the token that it has just read":
        lambda logits, tokens: -picked(logits.log_softmax(-1), tokens).mean(),
    "nothing is shifted: the last slot is left out, but each slot is asked for the token that it has just read":
        lambda logits, tokens: -picked(logits.log_softmax(-1), tokens)[:-1].mean(),
    "nothing is shifted: the first slot is left out, but each slot is asked for the token that it has just read":
        lambda logits, tokens: -picked(logits.log_softmax(-1), tokens)[1:].mean(),
    "each slot is asked for all tokens of the text; it is asked for the one that comes next":
        lambda logits, tokens: -logits.log_softmax(-1)[:-1, tokens[1:]].mean(),
    "it is shifted the wrong way: each slot is asked for the token before":
        lambda logits, tokens: -picked(logits.log_softmax(-1)[1:], tokens[:-1]).mean(),
    "the last slot is asked for the first token: rolling round is no shifting":
        lambda logits, tokens: -picked(logits.log_softmax(-1), tokens.roll(-1)).mean(),
    "the losses are added up, not averaged": lambda logits, tokens: surprise(logits, tokens).sum(),
    "the sum is divided by the number of slots; one of them is not asked":
        lambda logits, tokens: surprise(logits, tokens).sum() / len(tokens),
    "the mean is taken over the whole vocabulary of each slot; only one token of it was asked for":
        lambda logits, tokens: surprise(logits, tokens).mean() / logits.shape[1],
    "the sign is wrong: a log-probability is below 0, and its negative is the loss":
        lambda logits, tokens: -surprise(logits, tokens).mean(),
    "the softmax is taken twice: cross_entropy wants the logits, and takes the softmax itself":
        lambda logits, tokens: surprise(logits.softmax(-1), tokens).mean(),
    "the logarithm is missing: this is the mean of −p, not of −log p (nll_loss takes no logarithm)":
        lambda logits, tokens: -(-surprise(logits, tokens)).exp().mean(),
    "the logarithm is missing: this is the mean probability of what came next":
        lambda logits, tokens: (-surprise(logits, tokens)).exp().mean(),
    "this is the perplexity, exp of the loss": lambda logits, tokens: surprise(logits, tokens).mean().exp(),
    "the softmax runs over the slots (dim 0), not over the vocabulary":
        lambda logits, tokens: -picked(logits.log_softmax(0)[:-1], tokens[1:]).mean(),
    "the softmax is missing: the logits themselves are averaged":
        lambda logits, tokens: -picked(logits[:-1], tokens[1:]).mean(),
    "these are bits: nats take the natural logarithm":
        lambda logits, tokens: surprise(logits, tokens).mean() / log(2),
    "the logarithm comes after the mean: it is the mean of logarithms, not the logarithm of a mean":
        lambda logits, tokens: -(-surprise(logits, tokens)).exp().mean().log(),
    "a probability underflows to 0, and its logarithm is −∞: take .log_softmax of the logits":
        lambda logits, tokens: -picked(logits.softmax(-1).log()[:-1], tokens[1:]).mean(),
    "exp of a large logit is infinite, and of one far below 0 it is 0: take .log_softmax of the logits":
        lambda logits, tokens: -picked(by_exp(logits).log()[:-1], tokens[1:]).mean(),
    "exp of a large logit is infinite, and of one far below 0 it is 0: .logsumexp knows how to add them up":
        lambda logits, tokens: -picked((logits - logits.exp().sum(-1, True).log())[:-1], tokens[1:]).mean(),
    "a maximum that starts at 0 stays 0 where all logits are negative: start at −∞, or take .log_softmax":
        lambda logits, tokens: -picked(
            ((rest := logits - largest_from_zero(logits)) - rest.exp().sum(-1, True).log())[:-1], tokens[1:]).mean(),
}

OF_A_LOSS: Properties = {
    "it is below the smallest loss of any slot, or above the largest, so it is no mean of them":
        lambda out, logits, tokens: within(out - surprise(logits, tokens).min(), spread(surprise(logits, tokens))),
}


# 07.2, top-p

def cut(logits: Tensor, keep: Callable[[Tensor], Tensor]) -> Tensor:
    """The probabilities, each at its place, 0 where ``keep`` drops it; ``keep`` is given the largest first."""
    ordered, order = logits.softmax(-1).sort(descending=True)
    kept = torch.zeros_like(logits)
    kept[order] = ordered * keep(ordered)
    return kept


def before(ordered: Tensor) -> Tensor:
    """What stands before each of some probabilities, the largest first: the sum of all larger ones."""
    return ordered.cumsum(-1) - ordered


def in_order(logits: Tensor, p: float) -> Tensor:
    """The probabilities that top-p keeps, scaled to add up to 1, the largest first."""
    ordered = logits.softmax(-1).sort(descending=True).values
    return whole(ordered * (before(ordered) < p))


def without_softmax(logits: Tensor, p: float) -> Tensor:
    """The logits that top-p would keep if they were probabilities, scaled to add up to 1."""
    ordered, order = logits.sort(descending=True)
    kept = torch.zeros_like(logits)
    kept[order] = ordered * (before(ordered) < p)
    return whole(kept)


NUCLEUS: Mistakes = {
    "the token that reaches p is left out, so that less than p is kept":
        lambda logits, p: whole(cut(logits, lambda row: row.cumsum(-1) < p)),
    "what is kept does not add up to 1: divide by its sum": lambda logits, p: cut(logits, lambda row: before(row) < p),
    "the token after the one that reaches p is kept too":
        lambda logits, p: whole(cut(logits, lambda row: before(row) - row.roll(1) * (row.cumsum(-1) > row) < p)),
    "the tokens have lost their places: the output is sorted": in_order,
    "the tokens come back to wrong places: kept[order] = … puts them back, and …[order] does not":
        lambda logits, p: in_order(logits, p)[logits.argsort(descending=True)],
    "nothing is sorted: the tokens are added up as they stand in the vocabulary":
        lambda logits, p: whole((chances := logits.softmax(-1)) * (before(chances) < p)),
    "the softmax is missing: the logits themselves are added up": without_softmax,
    "the probabilities that are kept go through a second softmax; divide by their sum":
        lambda logits, p: (kept := cut(logits, lambda row: before(row) < p)).where(kept > 0, -torch.inf).softmax(-1),
    "all probabilities go through a second softmax, and e⁰ is 1: those that are cut still have a chance":
        lambda logits, p: cut(logits, lambda row: before(row) < p).softmax(-1),
    "the likeliest are thrown away: sort with the largest first":
        lambda logits, p: whole(cut(logits, lambda row: row.flip(0).cumsum(-1).flip(0) - row < p)),
    "p is taken for a threshold on each probability": lambda logits, p: whole(cut(logits, lambda row: row >= p)),
    "p is taken for a share of the likeliest token's probability":
        lambda logits, p: whole(cut(logits, lambda row: row >= p * row[0])),
    "p is taken for a share of the tokens, not of the probability":
        lambda logits, p: whole(cut(logits, lambda row: torch.arange(len(row)) < p * len(row))),
    "exp of a large logit is infinite, and of one far below 0 it is 0: use .softmax":
        lambda logits, p: whole(cut(by_exp(logits).log(), lambda row: before(row) < p)),
    "a maximum that starts at 0 stays 0 where all logits are negative: start at −∞, or use .softmax":
        lambda logits, p: whole(cut(by_exp(logits - largest_from_zero(logits)).log(), lambda row: before(row) < p)),
    "nothing is cut: this is the softmax": lambda logits, p: logits.softmax(-1),
    "the cut logits are set to 0, and e⁰ is 1: they still have a chance":
        lambda logits, p: (logits * (cut(logits, lambda row: before(row) < p) > 0)).softmax(-1),
}

OF_A_DISTRIBUTION: Properties = {
    "the probabilities do not add up to 1": lambda out, *_: abs(float(out.sum()) - 1) < 1e-4,
}


# 07.3, one step with the cache

def attend(q: Tensor, keys: Tensor, values: Tensor, divisor: float | None = None) -> Tensor:
    """Attention of one query, [value]; the scores are divided by √width, or by ``divisor`` if given."""
    scores = keys @ q / (divisor or sqrt(len(q)))
    return scores.softmax(-1) @ values


def weighing(weights: Callable[[Tensor, int], Tensor]) -> Callable[..., tuple[Tensor, Tensor, Tensor]]:
    """The exercise's function with other weights: ``weights`` makes them of the products q · k and the width."""
    return lambda q, k, v, keys, values: (
        weights(grown(keys, k) @ q, len(q)) @ grown(values, v), grown(keys, k), grown(values, v))


def grown(keys: Tensor, k: Tensor) -> Tensor:
    """The cached keys, or values, with one more at the end."""
    return torch.cat([keys, k[None]])


CACHE: Mistakes = {
    "the new token does not see itself: its own key and value join before it looks":
        lambda q, k, v, keys, values: (attend(q, keys, values), grown(keys, k), grown(values, v)),
    "the cache comes back as it was: the next token would not see this one":
        lambda q, k, v, keys, values: (attend(q, grown(keys, k), grown(values, v)), keys, values),
    "the new key and value stand in front; the cache is in the order of the text":
        lambda q, k, v, keys, values: (attend(q, grown(keys, k), grown(values, v)),
                                       torch.cat([k[None], keys]), torch.cat([v[None], values])),
    "the scores are not divided by √width": lambda q, k, v, keys, values:
        (attend(q, grown(keys, k), grown(values, v), 1.0), grown(keys, k), grown(values, v)),
    "the scores are divided by the root of the number of keys, not of their width": lambda q, k, v, keys, values:
        (attend(q, grown(keys, k), grown(values, v), sqrt(len(keys) + 1)), grown(keys, k), grown(values, v)),
    "the scores are divided by the width, not by its root": weighing(lambda scores, width: (scores / width).softmax(0)),
    "the scores are divided by half of the width, not by its root: * is not **, and ** 1/2 halves after the power":
        weighing(lambda scores, width: (scores / (width / 2)).softmax(0)),
    "the scores are divided by the width and by 2, not by the root: ** binds tighter than /, so write ** 0.5":
        weighing(lambda scores, width: (scores / width / 2).softmax(0)),
    "the scores are multiplied by √width; it divides them":
        weighing(lambda scores, width: (scores * sqrt(width)).softmax(0)),
    "the scores are cut to whole numbers: // is not /":
        weighing(lambda scores, width: (scores // sqrt(width)).softmax(0)),
    "the division by √width comes after the softmax; it is the scores that it makes smaller":
        weighing(lambda scores, width: scores.softmax(0) / sqrt(width)),
    "exp of a large score is infinite, and of one far below 0 it is 0: use .softmax":
        weighing(lambda scores, width: by_exp(scores / sqrt(width))),
    "a maximum that starts at 0 stays 0 where all scores are negative: start at −∞, or use .softmax":
        weighing(lambda scores, width: by_exp((scores - largest_from_zero(scores)) / sqrt(width))),
    "the query is cached in the place of the key":
        lambda q, k, v, keys, values: (attend(q, grown(keys, q), grown(values, v)), grown(keys, q), grown(values, v)),
    "the softmax is missing": lambda q, k, v, keys, values:
        (grown(keys, k) @ q / sqrt(len(q)) @ grown(values, v), grown(keys, k), grown(values, v)),
    "it looks at nothing but itself: this is its own value":
        lambda q, k, v, keys, values: (v.clone(), grown(keys, k), grown(values, v)),
    "the oldest token is dropped to keep the length: all that came before is needed":
        lambda q, k, v, keys, values: (attend(q, grown(keys, k)[1:], grown(values, v)[1:]), grown(keys, k)[1:],
                                       grown(values, v)[1:]),
}


# 07.4, the logit lens

def normed(hidden: Tensor, dim: int = -1) -> Tensor:
    """The vectors taken to mean 0 and variance 1 along one axis, with 1e-5 added to the variance."""
    centred = hidden - hidden.mean(dim, keepdim=True)
    return centred / (centred.square().mean(dim, keepdim=True) + 1e-5).sqrt()


def deviation(hidden: Tensor, added: float) -> Tensor:
    """The root of each vector's variance, to which a number is added before, [layer time 1]."""
    return (hidden.var(-1, keepdim=True, correction=0) + added).sqrt()


LENS: Mistakes = {
    "the norm is missing": lambda hidden, scale, shift, embedding: hidden @ embedding.T,
    "the norm is missing, though its scale and shift are there":
        lambda hidden, scale, shift, embedding: (hidden * scale + shift) @ embedding.T,
    "scale and shift are missing": lambda hidden, scale, shift, embedding: normed(hidden) @ embedding.T,
    "the shift is missing": lambda hidden, scale, shift, embedding: normed(hidden) * scale @ embedding.T,
    "the norm runs over the slots, not over each vector":
        lambda hidden, scale, shift, embedding: (normed(hidden, 1) * scale + shift) @ embedding.T,
    "the norm runs over the layers, not over each vector":
        lambda hidden, scale, shift, embedding: (normed(hidden, 0) * scale + shift) @ embedding.T,
    "the norm runs over all slots of a layer at once, not over each vector":
        lambda hidden, scale, shift, embedding: (F.layer_norm(hidden, hidden.shape[1:]) * scale + shift) @ embedding.T,
    "scale and shift have changed places: scale multiplies, shift is added":
        lambda hidden, scale, shift, embedding: (normed(hidden) * shift + scale) @ embedding.T,
    "the shift is added before the scale multiplies; it comes last":
        lambda hidden, scale, shift, embedding: ((normed(hidden) + shift) * scale) @ embedding.T,
    "only the mean is divided by the deviation: (x − mean) / deviation needs its brackets":
        lambda hidden, scale, shift, embedding:
        ((hidden - hidden.mean(-1, True) / deviation(hidden, 1e-5)) * scale + shift) @ embedding.T,
    "nothing is added to the variance; where vectors are small, the 1e-5 shows":
        lambda hidden, scale, shift, embedding:
        ((hidden - hidden.mean(-1, True)) / deviation(hidden, 0.0) * scale + shift) @ embedding.T,
    "the 1e-5 is added to the deviation, not to the variance": lambda hidden, scale, shift, embedding:
        ((hidden - hidden.mean(-1, True)) / (deviation(hidden, 0.0) + 1e-5) * scale + shift) @ embedding.T,
    "the mean is not taken away: this is another norm, RMSNorm": lambda hidden, scale, shift, embedding:
        (hidden / (hidden.square().mean(-1, keepdim=True) + 1e-5).sqrt() * scale + shift) @ embedding.T,
    "it divides by the variance; the deviation is its root": lambda hidden, scale, shift, embedding:
        ((hidden - hidden.mean(-1, True)) / (hidden.var(-1, keepdim=True, correction=0) + 1e-5) * scale + shift)
        @ embedding.T,
    "the deviation divides by one less than the width (.std() and .var() do so unless told correction=0)":
        lambda hidden, scale, shift, embedding:
        ((hidden - hidden.mean(-1, True)) / (hidden.var(-1, keepdim=True) + 1e-5).sqrt() * scale + shift)
        @ embedding.T,
    "these are probabilities; logits are asked for": lambda hidden, scale, shift, embedding:
        ((normed(hidden) * scale + shift) @ embedding.T).softmax(-1),
    "these are log-probabilities; logits are asked for": lambda hidden, scale, shift, embedding:
        ((normed(hidden) * scale + shift) @ embedding.T).log_softmax(-1),
    "every layer says the same: only the last one is read": lambda hidden, scale, shift, embedding:
        ((normed(hidden[-1:]) * scale + shift) @ embedding.T).repeat(len(hidden), 1, 1),
}


# 07.5, the loss of fine-tuning

def worst(logits: Tensor, targets: Tensor) -> Tensor:
    """The largest cross-entropy of any target, in nats."""
    return of_words(logits, targets, reduction="none").max()


def by_probability(logits: Tensor, targets: Tensor) -> Tensor:
    """The mean of −p over all targets: the loss without its logarithm."""
    return -(-of_words(logits, targets, reduction="none")[targets.flatten() >= 0]).exp().mean()


TUNING: Mistakes = {
    "the words' loss is missing": lambda c, classes, w, targets, part: F.cross_entropy(c, classes),
    "the class's loss is missing": lambda c, classes, w, targets, part: part * of_words(w, targets),
    "λ is left out": lambda c, classes, w, targets, part: F.cross_entropy(c, classes) + of_words(w, targets),
    "λ stands before the wrong loss":
        lambda c, classes, w, targets, part: part * F.cross_entropy(c, classes) + of_words(w, targets),
    "λ stands before both losses; the class's counts in full":
        lambda c, classes, w, targets, part: part * (F.cross_entropy(c, classes) + of_words(w, targets)),
    "the class's loss is weighed by 1 − λ; it counts in full": lambda c, classes, w, targets, part:
        (1 - part) * F.cross_entropy(c, classes) + part * of_words(w, targets),
    "the classes go through a softmax before cross_entropy; it wants logits, and takes the softmax itself":
        lambda c, classes, w, targets, part: F.cross_entropy(c.softmax(-1), classes) + part * of_words(w, targets),
    "the words go through a softmax before cross_entropy; it wants logits, and takes the softmax itself":
        lambda c, classes, w, targets, part: F.cross_entropy(c, classes) + part * of_words(w.softmax(-1), targets),
    "both go through a softmax before cross_entropy; it wants logits, and takes the softmax itself":
        lambda c, classes, w, targets, part:
        F.cross_entropy(c.softmax(-1), classes) + part * of_words(w.softmax(-1), targets),
    "the logarithms are missing: these are means of −p, not of −log p (nll_loss takes no logarithm)":
        lambda c, classes, w, targets, part:
        by_probability(c[:, None], classes[:, None]) + part * by_probability(w, targets),
    "a view to [batch vocab time] mixes slots and tokens: .transpose(1, 2) swaps two axes, .view does not":
        lambda c, classes, w, targets, part: F.cross_entropy(c, classes) + part * of_words(cut_across(w), targets),
    "the targets are shifted once more: `targets` says already what each slot must say":
        lambda c, classes, w, targets, part:
        F.cross_entropy(c, classes) + part * of_words(w[:, :-1], targets[:, 1:]),
    "token 0 is left out too: it is a token as any other, only −100 is none":
        lambda c, classes, w, targets, part:
        F.cross_entropy(c, classes) + part * of_words(w, targets.masked_fill(targets == 0, IGNORE)),
    "the classes' losses are added up, not averaged": lambda c, classes, w, targets, part:
        F.cross_entropy(c, classes, reduction="sum") + part * of_words(w, targets),
    "the words' sum is divided by the number of texts, not of targets": lambda c, classes, w, targets, part:
        F.cross_entropy(c, classes) + part * of_words(w, targets, reduction="sum") / len(c),
    "the sign is wrong: a log-probability is below 0, and its negative is the loss":
        lambda c, classes, w, targets, part: -F.cross_entropy(c, classes) - part * of_words(w, targets),
    "the words' losses are added up, not averaged": lambda c, classes, w, targets, part:
        F.cross_entropy(c, classes) + part * of_words(w, targets, reduction="sum"),
    "the words' mean divides by all slots, those with nothing to say too": lambda c, classes, w, targets, part:
        F.cross_entropy(c, classes) + part * of_words(w, targets, reduction="sum") / targets.numel(),
    "−100 is taken for a token: those slots are asked for token 0": lambda c, classes, w, targets, part:
        F.cross_entropy(c, classes) + part * of_words(w, targets.clamp(min=0)),
    "the words' mean is taken text by text: a short text then counts as much as a long one":
        lambda c, classes, w, targets, part: F.cross_entropy(c, classes) + part * text_by_text(w, targets),
}

OF_TWO_LOSSES: Properties = {
    "without the class's part, what is left is no mean of the words' losses, times λ":
        lambda out, c, classes, w, targets, part: within(out - F.cross_entropy(c, classes), part * worst(w, targets)),
}
