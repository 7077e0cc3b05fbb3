"""Slips that people make in the exercises of chapter 07, written as they write them: each is named as what it is."""

from math import sqrt

import pytest
import torch
from torch.nn import functional as F

from plmlab.exercises import check

# 07.1

def by_hand(logits, tokens):
    chances = logits.exp() / logits.exp().sum(-1, keepdim=True)
    return -chances[torch.arange(len(tokens) - 1), tokens[1:]].log().mean()


def one_hot(logits, tokens):
    return -(F.one_hot(tokens[1:], logits.shape[-1]) * logits[:-1].log_softmax(-1)).mean()


def largest_so_far(logits, tokens):
    losses = []
    for row, token in zip(logits, tokens[1:], strict=False):
        largest = torch.tensor(0.0)
        for logit in row:
            largest = max(largest, logit)
        losses.append((row - largest).exp().sum().log() + largest - row[token])
    return sum(losses) / len(losses)


# 07.2

def nucleus(logits, p, probabilities=lambda logits: logits.softmax(-1), finish=lambda kept: kept / kept.sum()):
    """Token by token, from the likeliest on, until p is reached."""
    chances = probabilities(logits)
    kept, total = torch.zeros(len(logits)), 0.0
    for place in chances.argsort(descending=True):
        kept[place] = chances[place]
        total += float(chances[place])
        if total >= p:
            break
    return finish(kept)


def as_huggingface_without_its_shift(logits, p):
    ordered, order = logits.sort(descending=True)
    remove = ordered.softmax(-1).cumsum(-1) > p
    return logits.index_fill(0, order[remove], float("-inf")).softmax(-1)


def back_to_wrong_places(logits, p):
    ordered, order = logits.softmax(-1).sort(descending=True)
    kept = torch.where(ordered.cumsum(-1) - ordered < p, ordered, 0.0)
    return (kept / kept.sum())[order]


def unsorted(logits, p):
    chances = logits.softmax(-1)
    kept = chances * (chances.cumsum(-1) - chances < p)
    return kept / kept.sum()


def cut_in_place(logits, p):
    ordered, order = logits.softmax(-1).sort(descending=True)
    logits[order[ordered.cumsum(-1) - ordered >= p]] = float("-inf")
    return logits.softmax(-1)


def one_too_many(logits, p):
    ordered, order = logits.softmax(-1).sort(descending=True)
    number = int((ordered.cumsum(-1) < p).sum()) + 2
    kept = torch.zeros(len(logits))
    kept[order[:number]] = ordered[:number]
    return kept / kept.sum()


# 07.3

def step(scale, softmax=lambda scores: scores.softmax(-1)):
    def answer(q, k, v, keys, values):
        keys, values = torch.cat([keys, k[None]]), torch.cat([values, v[None]])
        return softmax(scale(q @ keys.T, len(q))) @ values, keys, values
    return answer


def exp_by_hand(scores):
    return scores.exp() / scores.exp().sum()


def exp_below_zero(scores):
    powers = (scores - max(0.0, float(scores.max()))).exp()
    return powers / powers.sum()


# 07.4

def norm(x, dim=-1, eps=1e-5, after=0.0):
    return (x - x.mean(dim, keepdim=True)) / (((x.var(dim, keepdim=True, correction=0)) + eps).sqrt() + after)


def lens(normed):
    return lambda hidden, scale, shift, embedding: (normed(hidden) * scale + shift) @ embedding.T


def lens_in_place(hidden, scale, shift, embedding):
    hidden -= hidden.mean(-1, keepdim=True)
    hidden /= (hidden.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    return (hidden * scale + shift) @ embedding.T


# 07.5

def both(of_classes=F.cross_entropy, of_words=None):
    """The two losses, of functions of (logits, targets)."""
    def answer(c, classes, w, targets, part):
        return of_classes(c, classes) + part * (of_words or words)(w, targets)
    return answer


def words(w, targets):
    return F.cross_entropy(w.transpose(1, 2), targets)


def of_probabilities(logits, targets):
    return F.cross_entropy(logits.softmax(-1).flatten(0, -2), targets.flatten())


def without_log(logits, targets):
    return F.nll_loss(logits.softmax(-1).flatten(0, -2), targets.flatten())


def not_padding(w, targets):
    asked = targets > 0
    return F.cross_entropy(w[asked], targets[asked])


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("07.1", lambda x, t: F.cross_entropy(x.softmax(-1)[:-1], t[1:]), "he softmax is taken twice"),
    ("07.1", lambda x, t: F.nll_loss(x.softmax(-1)[:-1], t[1:]), "he logarithm is missing: this is the mean of −p"),
    ("07.1", lambda x, t: x.softmax(-1)[:-1].gather(-1, t[1:, None]).mean(), "missing: this is the mean probability"),
    ("07.1", lambda x, t: F.nll_loss(x[:-1], t[1:]), "he softmax is missing"),
    ("07.1", lambda x, t: F.cross_entropy(x[:-1], t[:-1]), "othing is shifted: the last slot is left out"),
    ("07.1", lambda x, t: F.cross_entropy(x[1:], t[1:]), "othing is shifted: the first slot is left out"),
    ("07.1", lambda x, t: -x.log_softmax(-1)[:-1][:, t[1:]].mean(), "asked for all tokens"),
    ("07.1", lambda x, t: F.cross_entropy(x[:-1], t[1:]).exp(), "perplexity"),
    ("07.1", one_hot, "over the whole vocabulary"),
    ("07.1", by_hand, ".log_softmax"),
    ("07.1", lambda x, t: (x.exp().sum(-1).log()[:-1] - x[:-1].gather(-1, t[1:, None])[:, 0]).mean(), ".logsumexp"),
    ("07.1", largest_so_far, " maximum that starts at 0"),
    ("07.2", as_huggingface_without_its_shift, "he token that reaches p is left out"),
    ("07.2", back_to_wrong_places, "come back to wrong places"),
    ("07.2", unsorted, "othing is sorted"),
    ("07.2", one_too_many, "after the one that reaches p is kept too"),
    ("07.2", cut_in_place, "`logits` is changed in place"),
    ("07.2", lambda x, p: nucleus(x, p, exp_by_hand), "of one far below 0 it is 0"),
    ("07.2", lambda x, p: nucleus(x, p, exp_below_zero), " maximum that starts at 0"),
    ("07.2", lambda x, p: nucleus(x, p, finish=lambda kept: kept.softmax(-1)), "second softmax, and e⁰ is 1"),
    ("07.2", lambda x, p: nucleus(x, p, finish=lambda kept: kept.where(kept > 0, -torch.inf).softmax(-1)),
     "that are kept go through a second softmax"),
    ("07.3", step(lambda s, width: s / width ** 1/2), "by the width and by 2"),
    ("07.3", step(lambda s, width: s / (width * 0.5)), "by half of the width"),
    ("07.3", step(lambda s, width: s / width), "by the width, not by its root"),
    ("07.3", step(lambda s, width: s // sqrt(width)), "// is not /"),
    ("07.3", step(lambda s, width: s / width ** -0.5), "multiplied by √width"),
    ("07.3", step(lambda s, width: s / sqrt(width), exp_by_hand), "of one far below 0 it is 0"),
    ("07.3", step(lambda s, width: s / sqrt(width), exp_below_zero), " maximum that starts at 0"),
    ("07.4", lens(lambda x: norm(x, 0)), "over the layers"),
    ("07.4", lens(lambda x: norm(x, 1)), "over the slots"),
    ("07.4", lens(lambda x: norm(x, (1, 2))), "all slots of a layer at once"),
    ("07.4", lens(lambda x: x - x.mean(-1, keepdim=True) / (x.var(-1, keepdim=True, correction=0) + 1e-5).sqrt()),
     "needs its brackets"),
    ("07.4", lens(lambda x: norm(x, eps=0.0)), "othing is added to the variance"),
    ("07.4", lens(lambda x: norm(x, eps=0.0, after=1e-5)), "added to the deviation"),
    ("07.4", lambda h, scale, shift, e: (norm(h) + shift) * scale @ e.T, "before the scale multiplies"),
    ("07.4", lambda h, scale, shift, e: F.layer_norm(h, e.shape[1:], shift, scale) @ e.T, "have changed places"),
    ("07.4", lens_in_place, "`hidden` is changed in place"),
    ("07.5", both(of_probabilities, of_probabilities), "oth go through a softmax before cross_entropy"),
    ("07.5", both(of_probabilities), "he classes go through a softmax"),
    ("07.5", both(of_words=of_probabilities), "he words go through a softmax"),
    ("07.5", both(without_log, without_log), "he logarithms are missing"),
    ("07.5", both(of_words=lambda w, t: F.cross_entropy(w.reshape(len(w), w.shape[2], -1), t)), "mixes slots and"),
    ("07.5", both(of_words=lambda w, t: words(w[:, :-1], t[:, 1:])), "shifted once more"),
    ("07.5", both(of_words=not_padding), "oken 0 is left out too"),
    ("07.5", lambda c, y, w, t, part: part * (F.cross_entropy(c, y) + words(w, t)), "before both losses"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback
