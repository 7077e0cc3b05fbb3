"""Exercises of chapter 17, RAG: its two forms, and posteriors. Those on DPR are in `exercises_dpr`."""

from math import inf

import torch
from jaxtyping import Bool, Float
from torch import Generator, Tensor, rand, randn

from plmlab.chapters.ch17 import exercises_dpr
from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def rag_log_probs(
    prior: Float[Tensor, "query doc"], likelihood: Float[Tensor, "query doc token"],
    target_mask: Bool[Tensor, "query token"],
) -> tuple[Float[Tensor, "query"], Float[Tensor, "query"]]:
    """log p(y|x) of the answer y to each question x, under RAG-Sequence and under RAG-Token, in nats.

    RAG-Sequence generates the whole answer from one document: p(y|x) = Σ_z p(z|x) Π_i p(y_i|x,z,y_<i).
    RAG-Token may use a different document for each token: p(y|x) = Π_i Σ_z p(z|x) p(y_i|x,z,y_<i).

    ``prior[q, z]`` is log p(z|x) of question q and document z. It is −∞ if the document is missing.
    ``likelihood[q, z, i]`` is log p(y_i|x,z,y_<i), the generator's log-probability of token i of the answer. Answers
    differ in length: ``target_mask[q, i]`` is True at a token and False at padding, before or after the tokens. At
    padding, ``likelihood`` has an arbitrary value, possibly −∞. The probabilities may underflow; their
    logarithms do not. Return a pair of tensors with one number per question: RAG-Sequence, RAG-Token.
    """
    answers = likelihood.masked_fill(~target_mask[:, None], 0.0).sum(2)
    tokens = (prior[:, :, None] + likelihood).logsumexp(1).masked_fill(~target_mask, 0.0)
    return (prior + answers).logsumexp(1), tokens.sum(1)


def logs(*probs: object) -> Tensor:
    """Logarithms of probabilities."""
    return torch.tensor(probs).log()


def drawn_answers(rng: Generator, docs: int, lengths: list[int], rest: float = -inf, scale: float = 3.0,
                  shift: float = 0.0) -> tuple[Tensor, ...]:
    """Random (prior, likelihood, target_mask) of answers with the given lengths; ``rest`` is at padding."""
    target_mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    prior = randn(len(lengths), docs, generator=rng).log_softmax(1)
    likelihood = shift - scale * rand(len(lengths), docs, max(lengths), generator=rng)
    return prior, likelihood.masked_fill(~target_mask[:, None], rest), target_mask


def draw_padded(rng: Generator) -> Probes:
    """Inputs for 17.1: name → (prior, likelihood, target_mask)."""
    prior, likelihood, target_mask = drawn_answers(rng, 2, [2, 4, 1], -1.5)
    return {
        "two documents, one token": (logs([0.75, 0.25]), logs([[0.5], [0.1]]), torch.tensor([[True]])),
        "each document explains one token": (logs([0.5, 0.5]), logs([[0.9, 0.1], [0.1, 0.9]]), torch.ones(1, 2).bool()),
        "three answers of one to four tokens": (prior, likelihood, target_mask),
        "padding before the answers": (prior, likelihood.flip(2), target_mask.flip(1)),
        "padding has the log-probability −∞": drawn_answers(rng, 3, [3, 1]),
        "the same number of questions, documents and tokens": drawn_answers(rng, 3, [3, 2, 3], 0.5),
        "missing documents": (logs([0.5, 0.3, 0.2, 0.0], [0.9, 0.1, 0.0, 0.0]), *drawn_answers(rng, 4, [3, 2], -2)[1:]),
        "one document": drawn_answers(rng, 1, [3, 2], -0.25),
        "probabilities that underflow": drawn_answers(rng, 3, [2, 4], scale=20.0, shift=-900.0),
    }


def document_posteriors(
    prior: Float[Tensor, "query doc"], likelihood: Float[Tensor, "query doc token"],
) -> Float[Tensor, "query doc token"]:
    """log p(z|x,y_<i): the log-probability of each document, given the question and the tokens before token i.

    By Bayes' rule, p(z|x,y_<i) is proportional to p(z|x) Π_{j<i} p(y_j|x,z,y_<j), and it sums to 1 over the documents.
    It is the weight of document z when RAG-Sequence predicts token i: p(y_i|x,y_<i) = Σ_z p(z|x,y_<i) p(y_i|x,z,y_<i).
    No token precedes the first one, whose weights are p(z|x).

    The arguments are those of 17.1, but there is no padding. A token can be impossible given a document; its
    log-probability is then −∞, and so is that of the document for all later tokens. At least one document always
    remains possible. The probability of a long answer may be too small for a float; p(z|x,y_<i) is not.
    """
    first = torch.zeros_like(likelihood[:, :, :1])
    before = torch.cat([first, likelihood[:, :, :-1]], 2).cumsum(2)
    return (prior[:, :, None] + before).log_softmax(1)


def draw_unpadded(rng: Generator) -> Probes:
    """Inputs for 17.3: name → (prior, likelihood)."""
    return {
        "one token": (logs([0.75, 0.25]), logs([[0.5], [0.1]])),
        "the less probable document explains the first token": (
            logs([0.75, 0.25]), logs([[0.1, 0.6, 0.5], [0.9, 0.2, 0.5]])),
        "two questions, three documents, five tokens": drawn_answers(rng, 3, [5, 5])[:2],
        "the same number of questions, documents and tokens": drawn_answers(rng, 3, [3, 3, 3])[:2],
        "missing documents": (logs([0.5, 0.3, 0.2, 0.0], [0.9, 0.1, 0.0, 0.0]), drawn_answers(rng, 4, [3, 3])[1]),
        "a token is impossible given one document": (
            logs([0.6, 0.3, 0.1]), logs([[0.9, 0.0, 0.8, 0.3], [0.2, 0.5, 0.1, 0.4], [0.1, 0.7, 0.6, 0.2]])),
        "one document": drawn_answers(rng, 1, [3, 3])[:2], "an answer of 70 tokens": drawn_answers(rng, 4, [70])[:2],
        "the probability of each token underflows": drawn_answers(rng, 3, [4, 4], scale=20.0, shift=-900.0)[:2],
    }


EXERCISES = (
    Exercise(
        "17.1", "RAG-Sequence and RAG-Token", rag_log_probs, draw_padded,
        mistakes={
            "the two are exchanged: in RAG-Sequence the product is inside the sum over the documents, in RAG-Token "
            "outside": edit("(prior + answers).logsumexp(1), tokens.sum(1)",
                            "tokens.sum(1), (prior + answers).logsumexp(1)"),
            "padding counts as tokens: use `target_mask`":
                edit(".masked_fill(~target_mask[:, None], 0.0)", "", ".masked_fill(~target_mask, 0.0)", ""),
            "the log-probabilities are multiplied by the mask, and −∞ times 0 is NaN: use masked_fill or where": edit(
                ".masked_fill(~target_mask[:, None], 0.0)", ".mul(target_mask[:, None])",
                ".masked_fill(~target_mask, 0.0)", ".mul(target_mask)"),
            "the log-probabilities of the tokens are averaged; the log of a product is their sum": edit(
                "sum(2)", "sum(2) / target_mask.sum(1, keepdim=True)", "s.sum(1)", "s.sum(1) / target_mask.sum(1)"),
            "RAG-Sequence has p(z|x) once per token; it is one factor in all": edit(
                "likelihood.mask", "(prior[:, :, None] + likelihood).mask", "(prior + answers)", "answers"),
            "p(z|x) is left out: every document has the weight 1": edit("prior + ", "", "prior[:, :, None] + ", ""),
            "logarithms are added over the documents, which multiplies probabilities: use logsumexp":
                edit("likelihood).logsumexp", "likelihood).sum", "answers).logsumexp", "answers).sum"),
            "this is the mean of the logs, Σ_z p(z|x) log p(y|x,z); compute the log of the mean": edit(
                "prior[:, :, None] + likelihood).logsumexp", "prior.exp()[:, :, None] * likelihood).sum",
                "prior + answers).logsumexp", "prior.exp() * answers).sum"),
            "only the best document counts: a maximum instead of the sum":
                edit("likelihood).logsumexp", "likelihood).amax", "answers).logsumexp", "answers).amax"),
            "probabilities too small for a float become 0, and their log −∞: logsumexp avoids this": edit(
                "likelihood).logsumexp(1)", "likelihood).exp().sum(1).log()",
                "answers).logsumexp(1)", "answers).exp().sum(1).log()"),
        },
        hints=(
            "Take the second input. Each document has the probability ½. The two tokens have the probabilities 0.9 and "
            "0.1 given the first document, and 0.1 and 0.9 given the second. What is p(y|x) in each of the two forms?",
            "A product of probabilities is a sum of logs. A sum of probabilities is the log of a sum of exps. Both "
            "forms use both operations, in a different order. What must the logarithm of a factor be at padding?",
            "target_mask[:, None] is [query 1 token], prior[:, :, None] is [query doc 1]. masked_fill(~mask, 0.0) "
            "removes padding from a sum over axis 2. .logsumexp(1) is the sum over the documents.",
        ),
    ),
    exercises_dpr.LOSS,
    Exercise(
        "17.3", "the posterior over the documents", document_posteriors, draw_unpadded,
        mistakes={
            "token i itself is used: only the tokens before it are known when it is predicted":
                edit("torch.cat([first, likelihood[:, :, :-1]], 2)", "likelihood"),
            "the weights do not sum to 1: this is log p(z,y_<i|x); normalize over z": edit(".log_softmax(1)", ""),
            "the prior p(z|x) is left out": edit("prior[:, :, None] + ", ""),
            "the probabilities of the tokens are added to p(z|x); by Bayes' rule they are multiplied":
                edit("prior[:, :, None] + before",
                     "(prior.exp()[:, :, None] + likelihood.exp().cumsum(2) - likelihood.exp()).log()"),
            "only the last token before token i is used; all earlier ones count": edit(".cumsum(2)", ""),
            "the weights sum to 1 over the tokens, not over the documents (axis 1)": edit("softmax(1)", "softmax(2)"),
            "p(z|x) is multiplied in at every token, not once": edit("torch.cat", "(prior[:, :, None] + torch.cat",
                "], 2)", "], 2))", "(prior[:, :, None] + before)", "before"),
            "roll moves the last token to the front; the first token has no token before it":
                edit("torch.cat([first, likelihood[:, :, :-1]], 2)", "likelihood.roll(1, 2)"),
            "token i is subtracted from a sum that includes it, and −∞ − (−∞) is NaN: shift the tokens first": edit(
                "torch.cat([first, likelihood[:, :, :-1]], 2).cumsum(2)", "likelihood.cumsum(2) - likelihood"),
            "a product of many probabilities underflows, and 0/0 is NaN: add logarithms, and use log_softmax":
                edit("(prior[:, :, None] + before).log_softmax(1)", "by_exp(prior[:, :, None] + before, 1).log()"),
        },
        properties={
            "the probabilities of a question's documents do not sum to 1":
                lambda posteriors, *_: bool(((posteriors.exp().sum(1) - 1).abs() < 1e-3).all()),
        },
        hints=(
            "In the second input, p(z|x) is ¾ and ¼, and the first token has the probabilities 0.1 and 0.9 given the "
            "documents. Multiply, and divide by the sum. What are the weights for the first token, and for the second?",
            "The log of the product is a cumulative sum over the tokens. It must not include token i, so shift the "
            "tokens by one position to the right and begin with 0. Division by the sum over documents is a softmax.",
            "torch.cat([zeros, x], 2) puts zeros before x, and likelihood[:, :, :-1] leaves out the last token. "
            ".cumsum(2) sums along the tokens, and .log_softmax(1) normalizes over the documents, in log space.",
        ),
    ),
    exercises_dpr.HARD_NEGATIVE,
)
