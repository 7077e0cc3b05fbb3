"""Exercises of chapter 16, REALM: the retrieval distribution, the marginal likelihood in the paper's and the authors'
form, and the retriever's gradient. Search and answer spans are in `exercises_open_domain`."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor, rand, randn

from plmlab.chapters.ch16 import exercises_open_domain
from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def retrieval_log_probs(
    scores: Float[Tensor, "batch doc"], numbers: Int[Tensor, "batch doc"], null: Float[Tensor, "batch"],
) -> Float[Tensor, "batch doc+1"]:
    """log p(z|x): the retrieval distribution over the documents z of each text x, in nats.

    A search has retrieved some documents for each text of a batch. Row i of ``scores`` has the scores
    f(x, z) of the documents retrieved for text i, and ``numbers`` their indices, which count from 0.
    If too few were found, the rest of the row has the index −1. Such a document is missing: its score
    is arbitrary, and p(z|x) is 0, so that the logarithm is −∞.
    The null document is empty, and is added to the retrieved ones for every text. ``null`` has its
    scores, one per text. p(z|x) is the softmax over the scores of a text's documents, including the null
    document. In the result, column 0 belongs to the null document; the others follow in their order.
    """
    masked = scores.masked_fill(numbers < 0, float("-inf"))
    return torch.cat([null[:, None], masked], 1).log_softmax(1)


def draw_found(rng: Generator) -> Probes:
    """Inputs for 16.1: name → (scores, numbers, null)."""
    def drawn(numbers: list[list[int]], scale: float = 1.0, shift: float = 0.0, rest: float = float("-inf"),
              ) -> tuple[Tensor, ...]:
        found = torch.tensor(numbers)
        scores = (scale * randn(found.shape, generator=rng) + shift).sort(1, descending=True).values
        return scores.masked_fill(found < 0, rest), found, scale * randn(len(found), generator=rng) + shift

    return {
        "two documents of one text": (torch.tensor([[2.0, 1.0]]), torch.tensor([[4, 7]]), torch.tensor([-1.0])),
        "the same number of texts and documents, including the null document": drawn([[3, 1], [2, 5], [6, 3]]),
        "four texts, three documents each": drawn([[3, 1, 0], [2, 5, 8], [6, 3, 1], [0, 9, 2]]),
        "document 0, and missing ones": drawn([[5, 0, -1], [0, -1, -1], [3, 2, 0]]),
        "the scores of missing ones are large": drawn([[5, 2, -1], [4, 1, 0]], rest=9.0),
        "the scores of missing ones are the smallest that a float can hold": drawn(
            [[2, -1, -1, -1], [0, 6, -1, -1]], rest=torch.finfo(torch.float32).min),
        "nothing found for the second text": drawn([[1, 4], [-1, -1]]),
        "one document": drawn([[0]]),
        "all scores are negative": drawn([[2, 7, 1, 4], [3, 8, -1, -1]], shift=-6.0, rest=0.0),
        "scores of hundreds, positive and negative": drawn([[1, 2, 3], [4, 5, -1]], 200.0),
        "all scores below −200": drawn([[1, 3], [2, -1]], shift=-250.0),
    }


def log_marginal(
    prior: Float[Tensor, "batch doc"], likelihood: Float[Tensor, "batch doc token"],
    target_mask: Bool[Tensor, "batch token"],
) -> Float[Tensor, "batch"]:
    """log p(y|x) of each text, as in the paper: log Σ_z p(z|x) Π_j p(y_j|z,x), in nats.

    ``prior[i, z]`` is log p(z|x) of text i and document z. It is −∞ if the document is missing.
    ``likelihood[i, z, j]`` is log p(y_j|z,x): the reader's log-probability of the target token at masked
    position j given document z and the text. Texts may differ in the number of masks. ``target_mask[i, j]`` is
    True if text i has a mask j. Where it is False, ``likelihood`` can have any value, even −∞, and must
    be ignored. An empty product is 1. The probabilities may be too small for a float; their logarithms
    are not, and neither is the result.
    """
    return (prior + likelihood.masked_fill(~target_mask[:, None], 0.0).sum(2)).logsumexp(1)


def token_loss(
    prior: Float[Tensor, "batch doc"], likelihood: Float[Tensor, "batch doc token"],
    target_mask: Bool[Tensor, "batch token"],
) -> Float[Tensor, ""]:
    """The loss of the authors' code: the mean of −log Σ_z p(z|x) p(y_j|z,x) over all masks, in nats.

    Here each masked token j is marginalized over the documents separately. So one token may rely on one document
    and the next on another; in the paper the product is inside the sum, and one document has to explain all.
    The arguments are those of 16.2: log p(z|x), log p(y_j|z,x), and where a text has a mask. The mean is
    over the masks of all texts together, so that each mask has the same weight. If no text has a mask, the
    loss is 0.
    """
    each = (prior[:, :, None] + likelihood).logsumexp(1)
    return -each.masked_fill(~target_mask, 0.0).sum() / target_mask.sum().clamp(min=1)


def logs(*probs: object) -> Tensor:
    """Logarithms of probabilities."""
    return torch.tensor(probs).log()


def draw_readings(rng: Generator) -> Probes:
    """Inputs for 16.2 and 16.3: name → (prior, likelihood, target_mask)."""
    def drawn(docs: int, gaps: list[int], scale: float = 3.0, shift: float = 0.0, rest: float = float("-inf"),
              ) -> tuple[Tensor, ...]:
        target_mask = torch.arange(max(2, *gaps)) < torch.tensor(gaps)[:, None]
        prior = randn(len(gaps), docs, generator=rng).log_softmax(1)
        likelihood = shift - scale * rand(len(gaps), docs, target_mask.shape[1], generator=rng)
        return prior, likelihood.masked_fill(~target_mask[:, None], rest), target_mask

    def with_missing() -> tuple[Tensor, ...]:
        _, likelihood, target_mask = drawn(4, [3, 2])
        return logs([0.5, 0.3, 0.2, 0.0], [0.9, 0.1, 0.0, 0.0]), likelihood, target_mask

    return {
        "two documents, one mask": (logs([0.75, 0.25]), logs([[0.5], [0.1]]), torch.tensor([[True]])),
        "each document helps with another mask": (
            logs([0.5, 0.5]), logs([[0.9, 0.1], [0.1, 0.9]]), torch.tensor([[True, True]])),
        "three texts with one to four masks": drawn(2, [2, 4, 1], rest=-1.5),
        "padding has the log-probability −∞": drawn(3, [3, 1]),
        "the same number of texts, documents and masks": drawn(3, [3, 2, 3], rest=0.5),
        "missing documents": with_missing(),
        "one document": drawn(1, [3, 2], rest=-0.25),
        "a text without a mask": drawn(4, [2, 0, 3], rest=2.0),
        "no mask at all": drawn(3, [0, 0]),
        "probabilities that underflow": drawn(3, [2, 4], 20.0, -900.0),
    }


def retriever_gradient(
    prior: Float[Tensor, "batch doc"], likelihood: Float[Tensor, "batch doc"],
) -> Float[Tensor, "batch doc"]:
    """The gradient of log p(y|x) with respect to each score f(x, z): [p(y|z,x) / p(y|x) − 1] · p(z|x).

    This is the retriever's only training signal. The score of a document that makes the correct answer more
    probable than average increases, that of any other decreases, each in proportion to p(z|x).
    ``prior`` is log p(z|x), the logarithm of a softmax over the scores of a text; it is −∞ for a missing
    document. ``likelihood`` is log p(y|z,x) of the whole answer, and p(y|x) is Σ_z p(z|x) p(y|z,x).
    The probabilities of an answer may be too small for a float. Their ratios are not.
    """
    posterior = (prior + likelihood).softmax(1)
    return posterior - prior.exp()


def draw_answers(rng: Generator) -> Probes:
    """Inputs for 16.4: name → (prior, likelihood)."""
    def drawn(texts: int, docs: int, scale: float = 4.0, shift: float = 0.0) -> tuple[Tensor, ...]:
        prior = randn(texts, docs, generator=rng).log_softmax(1)
        return prior, shift - scale * rand(texts, docs, generator=rng)

    return {
        "one document helps, one does not": (logs([0.5, 0.5]), logs([0.6, 0.2])),
        "the more probable document is the worse one": (logs([0.8, 0.2]), logs([0.1, 0.5])),
        "the same number of texts and documents": drawn(3, 3),
        "two texts, five documents": drawn(2, 5),
        "a missing document": (logs([0.7, 0.3, 0.0], [0.2, 0.4, 0.4]), logs([0.2, 0.9, 0.5], [0.1, 0.3, 0.6])),
        "a document for which the answer is impossible": (logs([0.6, 0.1, 0.3]), logs([0.0, 0.5, 0.25])),
        "one document": drawn(2, 1),
        "all documents have the same likelihood": (logs([0.2, 0.5, 0.3]), logs([0.3, 0.3, 0.3])),
        "probabilities that underflow": drawn(2, 4, 5.0, -900.0),
    }


def ratio(prior: Tensor, likelihood: Tensor) -> Tensor:
    """The likelihood ratio p(y|z,x) / p(y|x) of each document."""
    return (likelihood - (prior + likelihood).logsumexp(1, keepdim=True)).exp()


def shared_out(logs: Tensor, numbers: Tensor) -> bool:
    """Whether the probabilities of each text's documents sum to 1, and missing documents have probability 0."""
    whole = bool(((logs.double().exp().sum(1) - 1).abs() < 1e-3).all())
    return whole and bool((logs[:, 1:][numbers < 0] == float("-inf")).all())


EXERCISES = (
    Exercise(
        "16.1", "the retrieval distribution", retrieval_log_probs, draw_found,
        mistakes={
            "the softmax runs over the texts, down the columns; it runs over the documents of one text, axis 1":
                edit("log_softmax(1)", "log_softmax(0)"),
            "missing documents are included in the softmax, with arbitrary scores":
                edit('.masked_fill(numbers < 0, float("-inf"))', ""),
            "a missing document gets the score 0, and e⁰ is 1, not 0: its score must be −∞":
                edit('float("-inf")', "0.0"),
            "the score of a missing document is multiplied by 0, which gives 0, or NaN for −∞; its score must be −∞":
                edit('.masked_fill(numbers < 0, float("-inf"))', " * (numbers >= 0)"),
            "missing documents are masked after the softmax, so the others do not sum to 1":
                edit('.masked_fill(numbers < 0, float("-inf"))', "", "return torch", "every = torch", "softmax(1)",
                     'softmax(1)\n    every[:, 1:][numbers < 0] = float("-inf")\n    return every'),
            "document 0 is treated as missing: indices count from 0, and −1 marks a missing document":
                edit("numbers < 0", "numbers < 1"),
            "document 0 is masked, and missing ones are not: −1 counts as True, and 0 as False":
                edit("numbers < 0", "numbers == 0"),
            "the softmax is applied twice": edit(".log_softmax", ".softmax(1).log_softmax"),
            "log after softmax: a probability that underflows to 0 has the log −∞; use log_softmax":
                edit("log_softmax(1)", "softmax(1).log()"),
            "exp overflows for a large score, and underflows to 0 for a small one: use log_softmax":
                edit("return torch", "return by_exp(torch", ".log_softmax(1)", ").log()"),
        },
        properties={
            "the probabilities of a text's documents do not sum to 1, or the log of a missing one's is not −∞ (−10⁹ "
            "is not enough)": lambda logs, _, numbers, __: shared_out(logs, numbers),
        },
        hints=(
            "One text, two documents with the scores 2 and 1, and a null document with the score −1. Over how many "
            "numbers does the softmax run? And which score would give the second document the probability 0?",
            "exp(−∞) is 0. So set the score of a missing document to −∞ *before* the softmax; then the probabilities "
            "of the others sum to 1 automatically. The null document is one more column. It is never missing.",
            "x.masked_fill(mask, value) replaces entries, float(\"-inf\") is −∞. null[:, None] is a column, "
            "torch.cat([a, b], 1) concatenates columns. .log_softmax(1) is stable for large scores.",
        ),
    ),
    Exercise(
        "16.2", "the marginal likelihood", log_marginal, draw_readings,
        mistakes={
            "the product is outside the sum: each mask is marginalized over the documents separately, as in 16.3":
                edit("prior +", "prior[:, :, None] +", ".masked_fill(~target_mask[:, None], 0.0).sum(2)).logsumexp(1)",
                     ").logsumexp(1).masked_fill(~target_mask, 0.0).sum(1)"),
            "p(z|x) is multiplied in at every mask; it is one factor for the whole answer":
                edit("prior + likelihood", "(prior[:, :, None] + likelihood)"),
            "this is the mean of the logs, Σ_z p(z|x) log p(y|z,x); compute the log of the mean":
                edit("prior +", "prior.exp() *", "logsumexp", "sum"),
            "p(z|x) is missing: every document has the weight 1": edit("prior + ", ""),
            "p(z|x) is added to a logarithm: add log p(z|x) to log p(y|z,x)":
                edit("(prior +", "(prior.exp() +"),
            "only the best document counts: a maximum instead of the sum": edit("logsumexp", "amax"),
            "padding is counted as masks: `target_mask` is not used":
                edit(".masked_fill(~target_mask[:, None], 0.0)", ""),
            "the log-probabilities are multiplied by the mask, and −∞ times 0 is NaN: use masked_fill or where":
                edit("likelihood.masked_fill(~target_mask[:, None], 0.0)", "(likelihood * target_mask[:, None])"),
            "the masks are ignored and padding is counted, because `target_mask` is inverted": edit("~", ""),
            "probabilities too small for a float become 0, and their log −∞: logsumexp avoids this":
                edit("logsumexp(1)", "exp().sum(1).log()"),
        },
        hints=(
            "Two documents, two masks: p(z|x) is ½ and ½. Given the first document, the target tokens have the "
            "probabilities 0.9 and 0.1; given the second, 0.1 and 0.9. What is p(y|x)? Which of the two operations, "
            "sum and product, comes first?",
            "The log of a product is a sum of logs: Π_j becomes a sum over the last axis, and p(z|x) is one more "
            "factor, once per document. What must padding add to that sum? Only the sum over z needs probabilities; "
            "there is a function for the log of a sum of exps.",
            "target_mask[:, None] is [batch 1 token]. x.masked_fill(~mask, 0.0) puts 0 where the mask is False. "
            ".sum(2) sums over the masks, .logsumexp(1) over the documents; it is stable for small numbers.",
        ),
    ),
    Exercise(
        "16.3", "the loss of the authors' code", token_loss, draw_readings,
        mistakes={
            "the product is inside the sum: this is the paper's log p(y|x), divided by the number of masks":
                edit("prior[:, :, None] + likelihood",
                     "prior + likelihood.masked_fill(~target_mask[:, None], 0.0).sum(2)",
                     "each.masked_fill(~target_mask, 0.0)", "each"),
            "p(z|x) is missing: the sum over the documents is unweighted": edit("prior[:, :, None] + ", ""),
            "the log is inside the sum over documents: Σ_z p(z|x) log p(y_j|z,x), an upper bound of the loss":
                edit("prior[:, :, None] +", "prior.exp()[:, :, None] *", "logsumexp", "sum"),
            "a sum of exps underflows to 0, and its log is −∞: logsumexp works with logarithms":
                edit("logsumexp(1)", "exp().sum(1).log()"),
            "the losses are summed; compute their mean": edit(" / target_mask.sum().clamp(min=1)", ""),
            "this is the mean over texts of each text's mean, so that a mask of a short text has a larger weight":
                edit("-each", "-(each", "0.0).sum() / target_mask.sum().clamp(min=1)",
                     "0.0).sum(1) / target_mask.sum(1).clamp(min=1)).mean()"),
            "the sum is divided by the number of all positions, including padding: .mean() after filling with 0":
                edit("sum() / target_mask.sum().clamp(min=1)", "mean()"),
            "padding is counted as masks":
                edit(".masked_fill(~target_mask, 0.0).sum() / target_mask.sum().clamp(min=1)", ".mean()"),
            "−∞ times 0 is NaN: fill padding with 0 instead of multiplying by `target_mask`":
                edit("each.masked_fill(~target_mask, 0.0)", "(each * target_mask)"),
            "without masks, 0 is divided by 0; the loss should be 0": edit(".clamp(min=1)", ""),
        },
        hints=(
            "The second input again: p(z|x) is ½ and ½. The target tokens have the probabilities 0.9 and 0.1 given the "
            "first document, and 0.1 and 0.9 given the second. What is Σ_z p(z|x) p(y_j|z,x) for the first mask, and "
            "for the second? What would the paper's formula give, with the product inside the sum?",
            "Every mask has its own sum over the documents. Add log p(z|x) to each mask's log-probability, and take "
            "the log of the sum of exps over the documents. The result is a tensor [batch token]. Sum over the "
            "real masks, and divide by their number.",
            "prior[:, :, None] is [batch doc 1]. .logsumexp(1) sums over the documents. masked_fill sets padding to "
            "0; −∞ times 0 would be NaN. target_mask.sum() counts, and .clamp(min=1) avoids a count of 0.",
        ),
    ),
    Exercise(
        "16.4", "the gradient of the retriever", retriever_gradient, draw_answers,
        mistakes={
            "p(z|x) is missing: an improbable document has as large a gradient as the most probable one":
                edit("posterior - prior.exp()", "ratio(prior, likelihood) - 1"),
            "the −1 is missing: this is p(z|x, y), but in a softmax no score increases unless others decrease":
                edit(" - prior.exp()", ""),
            "the brackets are missing: only the 1 is multiplied by p(z|x)":
                edit("posterior -", "ratio(prior, likelihood) -"),
            "the brackets are missing: only the ratio is multiplied by p(z|x), and the 1 is not":
                edit("prior.exp()", "1"),
            "the factor is log p(z|x); it should be p(z|x)":
                edit("posterior - prior.exp()", "(ratio(prior, likelihood) - 1) * prior"),
            "p(z|x) is still a logarithm in the subtraction": edit("prior.exp()", "prior"),
            "the logs are divided: the log of a ratio is a difference of logs":
                edit("posterior - prior.exp()",
                     "(likelihood / (prior + likelihood).logsumexp(1, keepdim=True) - 1) * prior.exp()"),
            "p(z|x, y) is computed without p(z|x), as the softmax of log p(y|z,x) alone":
                edit("(prior + likelihood)", "likelihood"),
            "p(y|x) is a sum over the texts of the batch; sum over the documents of each text":
                edit("softmax(1)", "softmax(0)"),
            "0 is divided by 0 if all probabilities of an answer underflow: compare their logarithms":
                edit("(prior + likelihood).softmax(1)", "by_exp(prior + likelihood)"),
        },
        properties={
            "the gradients of a text's documents do not sum to 0":
                lambda pulls, *_: bool((pulls.sum(1).abs() < 1e-3).all()),
            "the gradient is negative for a document that makes the answer more probable, or positive for another":
                lambda pulls, *args: bool(((ratio(*args) - 1).sign() * pulls > -1e-3).all()),
        },
        hints=(
            "Compute the first input by hand: p(z|x) is ½ and ½, p(y|z,x) is 0.6 and 0.2. What is p(y|x)? What is the "
            "gradient of each document? What do the two sum to?",
            "Expand the product: p(z|x) p(y|z,x) / p(y|x) − p(z|x). The first term is the posterior p(z|x, y), the "
            "probability of the document given the answer. It sums to 1 over the documents, and so does the second "
            "term.",
            "The numbers e^a divided by their sum are the softmax of a. Use .softmax(1), which is stable even if they "
            "are very small. The log of p(z|x) p(y|z,x) is a sum. prior.exp() is p(z|x).",
        ),
    ),
    *exercises_open_domain.EXERCISES,
)
