"""Wrong answers to the exercises 16.1 and 16.4, the chance of each document and what the retriever learns from, under
the names of their mistakes, and what holds of any right one."""

from collections.abc import Callable
from math import log

import torch
from torch import Tensor
from torch.nn import functional as F

from plmlab.exercises.mistakes import Mistakes, Properties, by_exp

NONE = float("-inf")

# 16.1, the chance of each document

def struck_out(scores: Tensor, numbers: Tensor) -> Tensor:
    """The scores, −∞ where a document is missing."""
    return scores.masked_fill(numbers < 0, NONE)


def null_first(null: Tensor, there: Tensor) -> Tensor:
    """The null document's scores before the others'."""
    return torch.cat([null[:, None], there], 1)


def documents(
    finish: Callable[[Tensor], Tensor] = lambda scores: scores.log_softmax(1), *,
    missing: Callable[[Tensor, Tensor], Tensor] = struck_out,
    beside: Callable[[Tensor, Tensor], Tensor] = null_first,
) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """The exercise's function with something else in the place of the log-softmax; with other scores where a document
    is missing; or with the null document somewhere else."""
    return lambda scores, numbers, null: finish(beside(null, missing(scores, numbers)))


def struck_out_late(scores: Tensor, numbers: Tensor, null: Tensor) -> Tensor:
    """The missing documents have their share of the softmax, and lose it then."""
    every = null_first(null, scores).log_softmax(1)
    return null_first(every[:, 0], struck_out(every[:, 1:], numbers))


def null_apart(scores: Tensor, numbers: Tensor, null: Tensor) -> Tensor:
    """The softmax over the found documents alone, and the null document's score beside it."""
    return null_first(null, struck_out(scores, numbers).log_softmax(1))


CHANCES: Mistakes = {
    "the softmax runs over the texts, down the columns; it runs over the documents of one text, axis 1":
        documents(lambda scores: scores.log_softmax(0)),
    "the softmax runs over all texts together; each text has one of its own":
        documents(lambda scores: scores.flatten().log_softmax(0).view_as(scores)),
    "the null document is left out: the table has one column more than `scores`":
        documents(beside=lambda null, there: there),
    "the null document stands behind the others; its column is the first":
        documents(beside=lambda null, there: torch.cat([there, null[:, None]], 1)),
    "the null document's score is taken for 0; it is given, for each text":
        documents(beside=lambda null, there: null_first(torch.zeros_like(null), there)),
    "the null document takes no part in the softmax, which runs over all columns": null_apart,
    "missing documents take part, by scores that mean nothing": documents(missing=lambda scores, numbers: scores),
    "a missing document gets the score 0, and e⁰ is 1, not 0: its score must be −∞":
        documents(missing=lambda scores, numbers: scores.masked_fill(numbers < 0, 0.0)),
    "the score of a missing document is multiplied by 0: that makes 0, or NaN of −∞; its score must be −∞":
        documents(missing=lambda scores, numbers: scores * (numbers >= 0)),
    "missing documents are struck out after the softmax, when they have taken their share": struck_out_late,
    "document 0 is taken for a missing one: numbers count from 0, and −1 is the one that is missing":
        documents(missing=lambda scores, numbers: scores.masked_fill(numbers < 1, NONE)),
    "document 0 is struck out, and missing ones are not: −1 counts as True, and 0 as False":
        documents(missing=lambda scores, numbers: scores.masked_fill(numbers == 0, NONE)),
    "the documents that are there are struck out, and the missing ones kept: the mask is turned round":
        documents(missing=lambda scores, numbers: scores.masked_fill(numbers >= 0, NONE)),
    "the softmax is missing: these are scores": documents(lambda scores: scores),
    "the log is missing: these are chances": documents(lambda scores: scores.softmax(1)),
    "the softmax is done twice": documents(lambda scores: scores.softmax(1).log_softmax(1)),
    "log after softmax: a chance that is rounded to 0 has the log −∞; use log_softmax":
        documents(lambda scores: scores.softmax(1).log()),
    "exp of a large score is infinite, and exp of a very small one 0: use log_softmax":
        documents(lambda scores: by_exp(scores).log()),
    "the log2 counts bits; asked are nats": documents(lambda scores: scores.log_softmax(1) / log(2)),
    "each document is a question of yes or no by itself (a sigmoid); the documents of a text share one softmax":
        documents(F.logsigmoid),
}


def shared_out(chances: Tensor, scores: Tensor, numbers: Tensor, null: Tensor) -> bool:
    """Whether the chances of each text's documents add up to 1, and no missing one has any."""
    whole = bool(((chances.double().exp().sum(1) - 1).abs() < 1e-3).all())
    return whole and bool((chances[:, 1:][numbers < 0] == NONE).all())


OF_CHANCES: Properties = {
    "the chances of a text's documents do not add up to 1, or the log of a missing one's is not −∞ (−10⁹ will not do)":
        shared_out,
}


# 16.4, what the retriever learns from

def of_chances(answer: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """What is made of log p(z|x), log p(y|z,x) and log p(y|x), each [batch doc] or [batch 1]."""
    return lambda prior, likelihood: answer(prior, likelihood, (prior + likelihood).logsumexp(1, keepdim=True))


def posterior(prior: Tensor, likelihood: Tensor) -> Tensor:
    """p(z|x, y)."""
    return (prior + likelihood).softmax(1)


def plain_mean(prior: Tensor, likelihood: Tensor) -> Tensor:
    """The exercise's formula where p(y|x) is the mean of p(y|z,x) over the documents."""
    whole = likelihood.logsumexp(1, keepdim=True) - log(likelihood.shape[1])
    return ((likelihood - whole).exp() - 1) * prior.exp()


def by_chances(prior: Tensor, likelihood: Tensor) -> Tensor:
    """The formula in chances, which may all be 0."""
    joint = prior.exp() * likelihood.exp()
    return (likelihood.exp() / joint.sum(1, keepdim=True) - 1) * prior.exp()


GRADIENT: Mistakes = {
    "p(z|x) is forgotten: a document that is hardly ever read moves as much as the likeliest":
        of_chances(lambda prior, likelihood, whole: (likelihood - whole).exp() - 1),
    "the −1 is missing: this is p(z|x, y), and a softmax lets no score rise without pushing the others down":
        posterior,
    "the sign is turned: this is the derivative of the loss, −log p(y|x)":
        lambda prior, likelihood: prior.exp() - posterior(prior, likelihood),
    "the brackets are lost: only the 1 is multiplied by p(z|x)":
        of_chances(lambda prior, likelihood, whole: (likelihood - whole).exp() - prior.exp()),
    "the brackets are lost: only the ratio is multiplied by p(z|x), and the 1 is not":
        lambda prior, likelihood: posterior(prior, likelihood) - 1,
    "the factor is log p(z|x); it is p(z|x)":
        of_chances(lambda prior, likelihood, whole: ((likelihood - whole).exp() - 1) * prior),
    "p(z|x) stays a logarithm where it is subtracted": lambda prior, likelihood: posterior(prior, likelihood) - prior,
    "this is the derivative of p(y|x); that of its log is divided by p(y|x)":
        of_chances(lambda prior, likelihood, whole: (likelihood.exp() - whole.exp()) * prior.exp()),
    "the logs are divided: the log of a ratio is a difference of logs":
        of_chances(lambda prior, likelihood, whole: (likelihood / whole - 1) * prior.exp()),
    "the log of the ratio stands where the ratio less 1 should":
        of_chances(lambda prior, likelihood, whole: (likelihood - whole) * prior.exp()),
    "the exp is missing: 1 is taken from the log of the ratio":
        of_chances(lambda prior, likelihood, whole: (likelihood - whole - 1) * prior.exp()),
    "p(y|x) is taken for the plain mean of p(y|z,x) over the documents; each counts by p(z|x)": plain_mean,
    "p(y|x) is taken for the plain sum of p(y|z,x): p(z|x) is forgotten there":
        lambda prior, likelihood: (likelihood.softmax(1) - 1) * prior.exp(),
    "p(z|x, y) is made without p(z|x): the softmax takes log p(y|z,x) alone":
        lambda prior, likelihood: likelihood.softmax(1) - prior.exp(),
    "p(y|x) is a sum over the texts of the batch; it is one over the documents of a text":
        lambda prior, likelihood: (prior + likelihood).softmax(0) - prior.exp(),
    "0 is divided by 0 where all chances of an answer are rounded to 0: compare their logarithms": by_chances,
}


def nothing_left(pulls: Tensor, prior: Tensor, likelihood: Tensor) -> bool:
    """Whether what the documents of each text get adds up to 0."""
    return bool((pulls.sum(1).abs() < 1e-3).all())


def helpers_rise(pulls: Tensor, prior: Tensor, likelihood: Tensor) -> bool:
    """Whether no document with which the answer is likelier than p(y|x) is pushed down, and no other pulled up."""
    helps = likelihood > (prior + likelihood).logsumexp(1, keepdim=True)
    return bool((torch.where(helps, pulls, -pulls) > -1e-3).all())


OF_GRADIENT: Properties = {
    "what the documents of a text get does not add up to 0": nothing_left,
    "a document that makes the answer likelier is pushed down, or one that makes it less likely is pulled up":
        helpers_rise,
}
