"""Slips that people make in the exercises 16.1 to 16.4, written as they write them: each is named as what it is; and
the same ways without a slip, which are right."""

from math import log

import pytest
import torch
from torch.nn import functional as F

from plmlab.exercises import check

INF = float("inf")

# 16.1

def masked(gone=lambda numbers: numbers == -1, low=-INF, null=lambda null: null.unsqueeze(-1), dim=-1,
           finish=F.log_softmax, join=lambda null, scores: (null, scores)):
    """A mask, torch.where, and a softmax."""
    def answer(scores, numbers, nulls):
        scores = torch.where(gone(numbers), torch.tensor(low), scores)
        return finish(torch.cat(join(null(nulls), scores), dim=-1), dim=dim)
    return answer


def text_by_text(softmax=lambda x: x - x.logsumexp(0), absent=lambda number: number < 0, first=lambda score: score):
    """A row at a time, over what is there."""
    def answer(scores, numbers, null):
        table = torch.full((scores.shape[0], scores.shape[1] + 1), -INF)
        for i in range(len(scores)):
            there = [0] + [z + 1 for z in range(scores.shape[1]) if not absent(int(numbers[i, z]))]
            row = torch.stack([first(null[i]), *scores[i]])[there]
            table[i, there] = softmax(row)
        return table
    return answer


def by_product(scores, numbers, null):
    return torch.cat([null[:, None], scores * (numbers != -1).float()], 1).log_softmax(1)


def filled_after(scores, numbers, null):
    logs = torch.cat([null[:, None], scores], 1).log_softmax(1)
    logs[:, 1:][numbers == -1] = -INF
    return logs


def without_null(scores, numbers, null):
    return scores.masked_fill(numbers == -1, -INF).log_softmax(1)


def null_as_zero(scores, numbers, null):
    return F.pad(scores.masked_fill(numbers < 0, -INF), (1, 0)).log_softmax(1)


# 16.2

def summed(mask=lambda y, asked: torch.where(asked[:, None, :], y, torch.tensor(0.0)), gaps=lambda y: y.sum(-1),
           join=lambda prior, y: prior + y, over=lambda joint: torch.logsumexp(joint, dim=1), end=lambda logs: logs):
    """Gaps, then documents."""
    return lambda prior, y, asked: end(over(join(prior, gaps(mask(y, asked)))))


def by_loops(weight=lambda p: p, text=lambda values: torch.stack(values).logsumexp(0)):
    """Text by text, document by document, gap by gap."""
    def answer(prior, likelihood, asked):
        found = []
        for i in range(len(prior)):
            values = []
            for z in range(prior.shape[1]):
                total = weight(prior[i, z])
                for j in range(asked.shape[1]):
                    if asked[i, j]:
                        total = total + likelihood[i, z, j]
                values.append(total)
            found.append(text(values))
        return torch.stack(found)
    return answer


def in_chances(prior, likelihood, asked):
    each = torch.where(asked[:, None], likelihood.exp(), torch.tensor(1.0)).prod(2)
    return (prior.exp() * each).sum(1).log()


def at_every_token(prior, likelihood, asked):
    joint = prior.unsqueeze(-1) + likelihood
    return joint.masked_fill(~asked.unsqueeze(1), 0).sum(-1).logsumexp(-1)


def outside(prior, likelihood, asked):
    each = (prior.unsqueeze(-1) + likelihood).logsumexp(1)
    return torch.stack([row[gaps].sum() for row, gaps in zip(each, asked, strict=True)])


# 16.3

def picked(join=lambda prior, y: prior.unsqueeze(2) + y, over=lambda joint: torch.logsumexp(joint, dim=1),
           pick=lambda each, asked: each[asked], mean=lambda some: some.mean(), none=0.0, sign=-1):
    """The gaps that are asked, in a row."""
    def answer(prior, y, asked):
        some = pick(over(join(prior, y)), asked)
        return sign * mean(some) if asked.any() or none is None else torch.tensor(none)
    return answer


def multiplied(prior, y, asked):
    each = (prior[..., None] + y).logsumexp(1)
    return -(each * asked.float()).sum() / asked.sum().clamp(min=1)


def each_text(prior, y, asked):
    each = (prior[..., None] + y).logsumexp(1)
    means = [each[i][asked[i]].mean() if asked[i].any() else torch.tensor(0.0) for i in range(len(each))]
    return -torch.stack(means).mean()


def each_text_divided(prior, y, asked):
    """0 divided by 0 where one text has no gap."""
    each = (prior[..., None] + y).logsumexp(1).masked_fill(~asked, 0)
    return -(each.sum(1) / asked.sum(1)).mean()


def papers(prior, y, asked):
    whole = (prior + y.masked_fill(~asked[:, None], 0).sum(-1)).logsumexp(-1)
    return -whole.sum() / max(int(asked.sum()), 1)


# 16.4

def ratio(p=lambda prior: prior.exp(), less=1.0, whole=lambda prior, y: (prior + y).logsumexp(1, keepdim=True),
          divide=lambda y, whole: (y - whole).exp(), sign=1):
    """As the formula stands there, the ratio in logarithms."""
    return lambda prior, y: sign * (divide(y, whole(prior, y)) - less) * p(prior)


def plain(prior, y):
    p, y = prior.exp(), y.exp()
    return (y / (p * y).sum(1, keepdim=True) - 1) * p


def no_brackets(prior, y):
    whole = (prior + y).logsumexp(1, keepdim=True)
    return (y - whole).exp() - 1 * prior.exp()


def log_of_softmax(prior, y):
    return (prior + y).softmax(1) - prior


def through_autograd(prior, y):
    """The prior as scores: a softmax of a log-softmax is the same."""
    with torch.enable_grad():
        scores = prior.clone().requires_grad_()
        (scores.log_softmax(1) + y).logsumexp(1).sum().backward()
    return scores.grad


def into_the_prior(prior, y):
    with torch.enable_grad():
        logs = prior.clone().requires_grad_()
        (logs + y).logsumexp(1).sum().backward()
    return logs.grad


def of_the_loss(prior, y):
    return -through_autograd(prior, y)


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("16.1", masked(dim=0), "runs over the texts, down"),
    ("16.1", masked(low=0.0), "e⁰ is 1"),
    ("16.1", masked(gone=lambda numbers: numbers <= 0), "ocument 0 is taken for a missing"),
    ("16.1", masked(gone=lambda numbers: ~numbers.bool()), "−1 counts as True"),
    ("16.1", masked(gone=lambda numbers: numbers >= 0), "mask is turned round"),
    ("16.1", masked(gone=lambda numbers: numbers < -1), "by scores that mean nothing"),
    ("16.1", masked(join=lambda null, scores: (scores, null)), "stands behind the others"),
    ("16.1", masked(finish=F.softmax), "log is missing: these are chances"),
    ("16.1", masked(finish=lambda x, dim: x.softmax(dim).log()), "og after softmax"),
    ("16.1", masked(finish=lambda x, dim: (x.exp() / x.exp().sum(dim, keepdim=True)).log()), "xp of a large score"),
    ("16.1", masked(finish=lambda x, dim: x), "these are scores"),
    ("16.1", masked(finish=lambda x, dim: x.softmax(dim).log_softmax(dim)), "softmax is done twice"),
    ("16.1", masked(finish=lambda x, dim: x.sigmoid().log()), "question of yes or no by itself"),
    ("16.1", masked(low=-1e9), "−10⁹ will not do"),
    ("16.1", masked(low=-1e4), "−10⁹ will not do"),
    ("16.1", by_product, "multiplied by 0: that makes 0"),
    ("16.1", filled_after, "struck out after the softmax"),
    ("16.1", without_null, "null document is left out"),
    ("16.1", null_as_zero, "score is taken for 0"),
    ("16.1", text_by_text(absent=lambda number: number == 0), "−1 counts as True"),
    ("16.1", text_by_text(absent=lambda number: False), "by scores that mean nothing"),
    ("16.1", text_by_text(first=torch.zeros_like), "score is taken for 0"),
    ("16.1", text_by_text(softmax=lambda x: x.softmax(0).log()), "og after softmax"),
    ("16.2", outside, "product stands outside the sum"),
    ("16.2", in_chances, "too small for a float become 0"),
    ("16.2", at_every_token, "multiplied in at every gap"),
    ("16.2", summed(mask=lambda y, asked: y), "aps that are not asked count"),
    ("16.2", summed(mask=lambda y, asked: y * asked[:, None]), "−∞ times 0 is NaN"),
    ("16.2", summed(mask=lambda y, asked: y.masked_fill(asked[:, None], 0)), "mask is turned round"),
    ("16.2", summed(mask=lambda y, asked: y.masked_fill(~asked[:, None], -INF), gaps=lambda y: y.logsumexp(-1)),
     "added to those before"),
    ("16.2", summed(join=lambda prior, y: y), "as if each were read for certain"),
    ("16.2", summed(join=lambda prior, y: y - log(y.shape[1])), "plain mean over the documents"),
    ("16.2", summed(join=lambda prior, y: prior.exp() + y), "added to a logarithm"),
    ("16.2", summed(join=lambda prior, y: prior.exp() * y, over=lambda joint: joint.sum(1)), "mean of the logs"),
    ("16.2", summed(over=lambda joint: joint.exp().sum(1).log()), "too small for a float become 0"),
    ("16.2", summed(over=lambda joint: joint.sum(1)), "a product over documents"),
    ("16.2", summed(over=lambda joint: joint.max(1).values), "nly the best document"),
    ("16.2", summed(over=lambda joint: joint.logsumexp(0)), "runs over the texts of the batch, where"),
    ("16.2", summed(end=torch.exp), "log is missing: this is p(y|x)"),
    ("16.2", summed(end=lambda logs: -logs), "minus makes a loss of it; asked is log p(y|x)"),
    ("16.2", summed(end=lambda logs: logs.mean()), "texts are averaged"),
    ("16.2", by_loops(weight=lambda p: p * 0 if p > -INF else torch.tensor(0.0)), "as if each were read for certain"),
    ("16.2", by_loops(weight=torch.exp), "added to a logarithm"),
    ("16.2", by_loops(text=max), "nly the best document"),
    ("16.2", by_loops(text=sum), "a product over documents"),
    ("16.3", multiplied, "instead of multiplying by the mask"),
    ("16.3", each_text, "mean over texts of each text's mean"),
    ("16.3", each_text_divided, "mean over texts of each text's mean"),
    ("16.3", papers, "paper's log p(y|x), divided by the number of gaps"),
    ("16.3", picked(none=None), "here no text has a gap"),
    ("16.3", picked(sign=1), "minus is missing"),
    ("16.3", picked(mean=torch.sum), "gaps are added up"),
    ("16.3", picked(pick=lambda each, asked: each.masked_fill(~asked, 0)), "divided by all slots"),
    ("16.3", picked(pick=lambda each, asked: each, none=None), "adding counts as a gap"),
    ("16.3", picked(join=lambda prior, y: y), "takes the plain sum over"),
    ("16.3", picked(join=lambda prior, y: y, over=lambda y: y.exp().mean(1).log()), "takes the plain mean over"),
    ("16.3", picked(join=lambda prior, y: prior.exp()[..., None] + y), "added where log p(z|x)"),
    ("16.3", picked(over=lambda joint: joint.amax(1)), "its best document alone"),
    ("16.3", picked(over=lambda joint: joint.sum(1)), "a product of their chances"),
    ("16.3", picked(over=lambda joint: joint.exp().sum(1).log()), "that no float can hold is 0"),
    ("16.3", picked(over=lambda joint: joint.logsumexp(1).exp()), "these are mean chances"),
    ("16.3", picked(join=lambda prior, y: prior.exp()[..., None] * y, over=lambda joint: joint.sum(1)),
     "log stands inside the sum over documents"),
    ("16.4", plain, "is divided by 0 where all chances"),
    ("16.4", no_brackets, "only the 1 is multiplied"),
    ("16.4", log_of_softmax, "stays a logarithm"),
    ("16.4", into_the_prior, "he −1 is missing"),
    ("16.4", of_the_loss, "he sign is turned"),
    ("16.4", ratio(sign=-1), "he sign is turned"),
    ("16.4", ratio(less=0.0), "he −1 is missing"),
    ("16.4", ratio(p=lambda prior: 1.0), "(z|x) is forgotten: a document"),
    ("16.4", ratio(p=lambda prior: prior), "he factor is log p(z|x)"),
    ("16.4", ratio(divide=lambda y, whole: y / whole), "he logs are divided"),
    ("16.4", ratio(divide=lambda y, whole: y - whole, less=0.0), "log of the ratio stands"),
    ("16.4", ratio(divide=lambda y, whole: y - whole), "exp is missing"),
    ("16.4", ratio(whole=lambda prior, y: y.logsumexp(1, keepdim=True)), "plain sum of p(y|z,x)"),
    ("16.4", ratio(whole=lambda prior, y: y.logsumexp(1, keepdim=True) - log(y.shape[1])), "plain mean of p(y|z,x)"),
    ("16.4", lambda prior, y: y.softmax(1) - prior.exp(), "made without p(z|x)"),
    ("16.4", lambda prior, y: (prior + y).softmax(0) - prior.exp(), "sum over the texts"),
    ("16.4", lambda prior, y: (y.exp() - (prior + y).exp().sum(1, keepdim=True)) * prior.exp(), "derivative of p(y|x)"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer"), [
    ("16.1", masked()), ("16.1", text_by_text()), ("16.2", summed()), ("16.2", by_loops()), ("16.3", picked()),
    ("16.4", ratio()), ("16.4", through_autograd)])
def test_without_its_slip_each_of_these_ways_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)
