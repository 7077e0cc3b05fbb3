"""Wrong answers to the exercises 16.2 and 16.3, what all documents say together and the loss of the authors' code,
under the names of their mistakes."""

from collections.abc import Callable
from math import log

from torch import Tensor

from plmlab.exercises.mistakes import Mistakes

Answer = Callable[[Tensor, Tensor, Tensor], Tensor]

# 16.2, what all documents say together

def product(likelihood: Tensor, asked: Tensor) -> Tensor:
    """log Π_j p(y_j|z,x) over the gaps that are asked, [batch doc]."""
    return likelihood.masked_fill(~asked[:, None], 0.0).sum(2)


def together(
    over: Callable[[Tensor, Tensor], Tensor] = lambda prior, answers: (prior + answers).logsumexp(1), *,
    gaps: Callable[[Tensor, Tensor], Tensor] = product,
) -> Answer:
    """The exercise's function with another way to sum over the documents, made from log p(z|x) and the documents' own
    answers; or with another answer of each document."""
    return lambda prior, likelihood, asked: over(prior, gaps(likelihood, asked))


def gap_by_gap(prior: Tensor, likelihood: Tensor) -> Tensor:
    """log Σ_z p(z|x) p(y_j|z,x), [batch gap]."""
    return (prior[:, :, None] + likelihood).logsumexp(1)


def product_outside(prior: Tensor, likelihood: Tensor, asked: Tensor) -> Tensor:
    """Σ_j log Σ_z p(z|x) p(y_j|z,x)."""
    return gap_by_gap(prior, likelihood).masked_fill(~asked, 0.0).sum(1)


def once_a_gap(prior: Tensor, likelihood: Tensor, asked: Tensor) -> Tensor:
    """p(z|x) as a factor of every gap that is asked."""
    return product(prior[:, :, None] + likelihood, asked).logsumexp(1)


def once_a_slot(prior: Tensor, likelihood: Tensor, asked: Tensor) -> Tensor:
    """p(z|x) as a factor of every slot."""
    return (prior[:, :, None] + likelihood.masked_fill(~asked[:, None], 0.0)).sum(2).logsumexp(1)


def only(likelihood: Tensor, asked: Tensor, place: int) -> Tensor:
    """One gap alone."""
    return likelihood.masked_fill(~asked[:, None], 0.0)[:, :, place]


MARGINAL: Mistakes = {
    "the product stands outside the sum: each gap sums over the documents by itself, as in 16.3": product_outside,
    "the documents' log-probabilities are added up: that is a product over documents, where their chances are summed":
        together(lambda prior, answers: (prior + answers).sum(1)),
    "this is the mean of the logs, Σ_z p(z|x) log p(y|z,x); asked is the log of the mean":
        together(lambda prior, answers: (prior.exp() * answers).sum(1)),
    "p(z|x) is forgotten: all documents count as if each were read for certain":
        together(lambda prior, answers: answers.logsumexp(1)),
    "p(z|x) is forgotten: this is the plain mean over the documents":
        together(lambda prior, answers: answers.logsumexp(1) - log(answers.shape[1])),
    "p(z|x) is multiplied in at every gap; it is one factor for the whole answer": once_a_gap,
    "p(z|x) is multiplied in at every slot, padding too; it is one factor for the whole answer": once_a_slot,
    "p(z|x) is added to a logarithm: it is log p(z|x) that goes with log p(y|z,x)":
        together(lambda prior, answers: (prior.exp() + answers).logsumexp(1)),
    "only the best document counts: a maximum in place of the sum":
        together(lambda prior, answers: (prior + answers).amax(1)),
    "the sum over the documents is divided by their number; p(z|x) adds up to 1 already":
        together(lambda prior, answers: (prior + answers).logsumexp(1) - log(answers.shape[1])),
    "gaps that are not asked count": together(gaps=lambda likelihood, asked: likelihood.sum(2)),
    "the mask is multiplied in, and −∞ times 0 is NaN: masked_fill or where": together(
        gaps=lambda likelihood, asked: (likelihood * asked[:, None]).sum(2)),
    "the gaps that are asked are left out, and the others counted: the mask is turned round": together(
        gaps=lambda likelihood, asked: product(likelihood, ~asked)),
    "this is the mean over a text's gaps; a product is a sum of logs, and not their mean": together(
        gaps=lambda likelihood, asked: product(likelihood, asked) / asked.sum(1, keepdim=True).clamp(min=1)),
    "a gap's chance is added to those before, where they should be multiplied: a logsumexp over the gaps": together(
        gaps=lambda likelihood, asked: likelihood.masked_fill(~asked[:, None], float("-inf")).logsumexp(2)),
    "only the first gap counts": together(gaps=lambda likelihood, asked: only(likelihood, asked, 0)),
    "chances that are too small for a float become 0, and their log −∞: logsumexp keeps them":
        together(lambda prior, answers: (prior.exp() * answers.exp()).sum(1).log()),
    "the log is missing: this is p(y|x)": together(lambda prior, answers: (prior + answers).logsumexp(1).exp()),
    "the minus makes a loss of it; asked is log p(y|x)": together(
        lambda prior, answers: -(prior + answers).logsumexp(1)),
    "the texts are averaged; asked is a number for each text": together(
        lambda prior, answers: (prior + answers).logsumexp(1).mean()),
    "the sum runs over the texts of the batch, where it should run over the documents":
        together(lambda prior, answers: (prior + answers).logsumexp(0)),
}


# 16.3, the loss of the authors' code

def mean_of_asked(each: Tensor, asked: Tensor) -> Tensor:
    """The mean of what is asked, its sign turned; 0 if nothing is."""
    return -each.masked_fill(~asked, 0.0).sum() / asked.sum().clamp(min=1)


def lost(over: Callable[[Tensor, Tensor], Tensor] = gap_by_gap, *,
         mean: Callable[[Tensor, Tensor], Tensor] = mean_of_asked) -> Answer:
    """The exercise's function with another sum over the documents for each gap, or another mean over the gaps."""
    return lambda prior, likelihood, asked: mean(over(prior, likelihood), asked)


def product_inside(prior: Tensor, likelihood: Tensor, asked: Tensor) -> Tensor:
    """The paper's log-probabilities, divided by the number of gaps."""
    return -together()(prior, likelihood, asked).sum() / asked.sum().clamp(min=1)


def text_by_text(each: Tensor, asked: Tensor) -> Tensor:
    """The mean over texts of each text's mean."""
    return -(each.masked_fill(~asked, 0.0).sum(1) / asked.sum(1).clamp(min=1)).mean()


LOSS: Mistakes = {
    "the product stands inside the sum: this is the paper's log p(y|x), divided by the number of gaps": product_inside,
    "the product stands inside the sum, and the mean is over texts: this is the paper's loss":
        lambda prior, likelihood, asked: -together()(prior, likelihood, asked).mean(),
    "p(z|x) is forgotten: every gap takes the plain sum over the documents":
        lost(lambda prior, likelihood: likelihood.logsumexp(1)),
    "p(z|x) is forgotten: every gap takes the plain mean over the documents":
        lost(lambda prior, likelihood: likelihood.logsumexp(1) - log(likelihood.shape[1])),
    "p(z|x) is added where log p(z|x) should be": lost(
        lambda prior, likelihood: (prior.exp()[:, :, None] + likelihood).logsumexp(1)),
    "every gap takes its best document alone; it sums over all": lost(
        lambda prior, likelihood: (prior[:, :, None] + likelihood).amax(1)),
    "the log stands inside the sum over documents: Σ_z p(z|x) log p(y_j|z,x), which is never less as a loss":
        lost(lambda prior, likelihood: (prior.exp()[:, :, None] * likelihood).sum(1)),
    "the log-probabilities of the documents are added up, gap by gap: that is a product of their chances":
        lost(lambda prior, likelihood: (prior[:, :, None] + likelihood).sum(1)),
    "a sum of exps that no float can hold is 0, and its log −∞: logsumexp does not leave the logarithms":
        lost(lambda prior, likelihood: (prior[:, :, None] + likelihood).exp().sum(1).log()),
    "the minus is missing": lost(mean=lambda each, asked: -mean_of_asked(each, asked)),
    "the gaps are added up; asked is their mean": lost(
        mean=lambda each, asked: -each.masked_fill(~asked, 0.0).sum()),
    "the sum is divided by the number of texts; asked is the mean over gaps": lost(
        mean=lambda each, asked: -each.masked_fill(~asked, 0.0).sum() / len(each)),
    "this is the mean over texts of each text's mean, so that a gap of a short text weighs more": lost(
        mean=text_by_text),
    "the sum is divided by all slots, padding among them: .mean() after filling with 0": lost(
        mean=lambda each, asked: -each.masked_fill(~asked, 0.0).mean()),
    "padding counts as a gap": lost(mean=lambda each, asked: -each.mean()),
    "−∞ times 0 is NaN: fill with 0 what is not asked, instead of multiplying by the mask": lost(
        mean=lambda each, asked: -(each * asked).sum() / asked.sum().clamp(min=1)),
    "where no text has a gap, 0 is divided by 0; there the loss is 0": lost(
        mean=lambda each, asked: -each[asked].mean()),
    "what is not asked counts, and what is asked does not: ~ is at the wrong place": lost(
        mean=lambda each, asked: mean_of_asked(each, ~asked)),
    "the log is missing: these are mean chances": lost(mean=lambda each, asked: mean_of_asked(each.exp(), asked)),
}
