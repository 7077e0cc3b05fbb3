"""Exercises of chapter 16: REALM (Guu et al. 2020). The retrieval distribution, the marginal likelihood over documents
in the paper's form and in that of the authors' code, and the gradient that the retriever receives. Search and answer
spans are in `exercises_open_domain`."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor, rand, randn

from plmlab.chapters.ch16 import exercises_open_domain
from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def log_chances(
    scores: Float[Tensor, "batch doc"], numbers: Int[Tensor, "batch doc"], null: Float[Tensor, "batch"],
) -> Float[Tensor, "batch doc+1"]:
    """log p(z|x): how likely each document z is for its text x, in nats.

    A search has found some documents for each text of a batch. Row i of ``scores`` has the scores
    f(x, z) of what it found for text i, and ``numbers`` has the documents' numbers, which count from 0.
    If too little was found, the rest of the row has the number −1. Such a document is missing: its score
    means nothing, and p(z|x) is 0, so that the logarithm is −∞.
    The null document is empty, and it stands beside what was found for every text. ``null`` has its
    scores, one for each text. p(z|x) is the softmax over the scores of a text's documents, the null
    document among them. In the table that you give, column 0 is the null document's; the others follow
    in their order.
    """
    there = scores.masked_fill(numbers < 0, float("-inf"))
    return torch.cat([null[:, None], there], 1).log_softmax(1)


def draw_found(rng: Generator) -> Probes:
    """Inputs for 16.1: name → (scores, numbers, null)."""
    def drawn(numbers: list[list[int]], scale: float = 1.0, shift: float = 0.0, rest: float = float("-inf"),
              ) -> tuple[Tensor, ...]:
        found = torch.tensor(numbers)
        scores = (scale * randn(found.shape, generator=rng) + shift).sort(1, descending=True).values
        return scores.masked_fill(found < 0, rest), found, scale * randn(len(found), generator=rng) + shift

    return {
        "two documents of one text": (torch.tensor([[2.0, 1.0]]), torch.tensor([[4, 7]]), torch.tensor([-1.0])),
        "as many texts as documents, the null document among them": drawn([[3, 1], [2, 5], [6, 3]]),
        "four texts, three documents each": drawn([[3, 1, 0], [2, 5, 8], [6, 3, 1], [0, 9, 2]]),
        "document 0, and missing ones": drawn([[5, 0, -1], [0, -1, -1], [3, 2, 0]]),
        "the scores of missing ones are large": drawn([[5, 2, -1], [4, 1, 0]], rest=9.0),
        "the scores of missing ones are the smallest that a float can hold": drawn(
            [[2, -1, -1, -1], [0, 6, -1, -1]], rest=torch.finfo(torch.float32).min),
        "nothing was found for the second text": drawn([[1, 4], [-1, -1]]),
        "one document": drawn([[0]]),
        "all scores are negative": drawn([[2, 7, 1, 4], [3, 8, -1, -1]], shift=-6.0, rest=0.0),
        "scores in the hundreds, to both sides": drawn([[1, 2, 3], [4, 5, -1]], 200.0),
        "all scores below −200": drawn([[1, 3], [2, -1]], shift=-250.0),
    }


def log_marginal(
    prior: Float[Tensor, "batch doc"], likelihood: Float[Tensor, "batch doc token"],
    asked: Bool[Tensor, "batch token"],
) -> Float[Tensor, "batch"]:
    """log p(y|x) of each text, as the paper has it: log Σ_z p(z|x) Π_j p(y_j|z,x), in nats.

    ``prior[i, z]`` is log p(z|x) of text i and document z. It is −∞ where the document is missing.
    ``likelihood[i, z, j]`` is log p(y_j|z,x): what the reader gives the right token of gap j if it reads
    document z beside the text. Some texts have fewer gaps than others. ``asked[i, j]`` is True where text
    i has a gap j. Where it is False, ``likelihood`` may hold any number, −∞ too, and must not count.
    A product of no numbers is 1.
    The chances may be smaller than any float but 0. Their logarithms are not, and neither is the answer.
    """
    return (prior + likelihood.masked_fill(~asked[:, None], 0.0).sum(2)).logsumexp(1)


def token_loss(
    prior: Float[Tensor, "batch doc"], likelihood: Float[Tensor, "batch doc token"],
    asked: Bool[Tensor, "batch token"],
) -> Float[Tensor, ""]:
    """The loss of the authors' code: the mean of −log Σ_z p(z|x) p(y_j|z,x) over all gaps, in nats.

    Here each gap j sums over the documents by itself. So one gap may draw on one document, and the next
    gap on another; the paper's product stands inside the sum, and one document has to serve all.
    The arguments are those of 16.2: log p(z|x), log p(y_j|z,x), and where a text has a gap. The mean is
    over the gaps of all texts together, so that each gap weighs the same. If no text has a gap, the
    loss is 0.
    """
    each = (prior[:, :, None] + likelihood).logsumexp(1)
    return -each.masked_fill(~asked, 0.0).sum() / asked.sum().clamp(min=1)


def logs(*chances: object) -> Tensor:
    """Logarithms of probabilities."""
    return torch.tensor(chances).log()


def draw_readings(rng: Generator) -> Probes:
    """Inputs for 16.2 and 16.3: name → (prior, likelihood, asked)."""
    def drawn(docs: int, gaps: list[int], scale: float = 3.0, shift: float = 0.0, rest: float = float("-inf"),
              ) -> tuple[Tensor, ...]:
        asked = torch.arange(max(2, *gaps)) < torch.tensor(gaps)[:, None]
        prior = randn(len(gaps), docs, generator=rng).log_softmax(1)
        likelihood = shift - scale * rand(len(gaps), docs, asked.shape[1], generator=rng)
        return prior, likelihood.masked_fill(~asked[:, None], rest), asked

    def with_missing() -> tuple[Tensor, ...]:
        _, likelihood, asked = drawn(4, [3, 2])
        return logs([0.5, 0.3, 0.2, 0.0], [0.9, 0.1, 0.0, 0.0]), likelihood, asked

    return {
        "two documents, one gap": (logs([0.75, 0.25]), logs([[0.5], [0.1]]), torch.tensor([[True]])),
        "each document knows another gap": (
            logs([0.5, 0.5]), logs([[0.9, 0.1], [0.1, 0.9]]), torch.tensor([[True, True]])),
        "three texts with one to four gaps": drawn(2, [2, 4, 1], rest=-1.5),
        "padding has the log-probability −∞": drawn(3, [3, 1]),
        "as many texts as documents and gaps": drawn(3, [3, 2, 3], rest=0.5),
        "missing documents": with_missing(),
        "one document": drawn(1, [3, 2], rest=-0.25),
        "a text without a gap": drawn(4, [2, 0, 3], rest=2.0),
        "no gap at all": drawn(3, [0, 0]),
        "chances that no float can hold": drawn(3, [2, 4], 20.0, -900.0),
    }


def retriever_gradient(
    prior: Float[Tensor, "batch doc"], likelihood: Float[Tensor, "batch doc"],
) -> Float[Tensor, "batch doc"]:
    """How log p(y|x) changes with the score f(x, z) of each document: [p(y|z,x) / p(y|x) − 1] · p(z|x).

    This is all that a retriever learns from. A document that makes the right answer likelier than it is
    on the whole is pulled up, any other is pushed down, and each by how likely it was to be read.
    ``prior`` is log p(z|x), the logarithm of a softmax over the scores of a text; it is −∞ for a missing
    document. ``likelihood`` is log p(y|z,x) of the whole answer, and p(y|x) is Σ_z p(z|x) p(y|z,x).
    The chances of an answer may be smaller than any float but 0. How they compare is not.
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
        "the likelier document is the worse one": (logs([0.8, 0.2]), logs([0.1, 0.5])),
        "as many texts as documents": drawn(3, 3),
        "two texts, five documents": drawn(2, 5),
        "a missing document": (logs([0.7, 0.3, 0.0], [0.2, 0.4, 0.4]), logs([0.2, 0.9, 0.5], [0.1, 0.3, 0.6])),
        "a document with which the answer is impossible": (logs([0.6, 0.1, 0.3]), logs([0.0, 0.5, 0.25])),
        "one document": drawn(2, 1),
        "all say the same": (logs([0.2, 0.5, 0.3]), logs([0.3, 0.3, 0.3])),
        "chances that no float can hold": drawn(2, 4, 5.0, -900.0),
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
        "16.1", "the chance of each document", log_chances, draw_found,
        mistakes={
            "the softmax runs over the texts, down the columns; it runs over the documents of one text, axis 1":
                edit("log_softmax(1)", "log_softmax(0)"),
            "missing documents take part, by scores that mean nothing":
                edit('.masked_fill(numbers < 0, float("-inf"))', ""),
            "a missing document gets the score 0, and e⁰ is 1, not 0: its score must be −∞":
                edit('float("-inf")', "0.0"),
            "the score of a missing document is multiplied by 0: that makes 0, or NaN of −∞; its score must be −∞":
                edit('.masked_fill(numbers < 0, float("-inf"))', " * (numbers >= 0)"),
            "missing documents are struck out after the softmax, when they have taken their share":
                edit('.masked_fill(numbers < 0, float("-inf"))', "", "return torch", "every = torch", "softmax(1)",
                     'softmax(1)\n    every[:, 1:][numbers < 0] = float("-inf")\n    return every'),
            "document 0 is taken for a missing one: numbers count from 0, and −1 is the one that is missing":
                edit("numbers < 0", "numbers < 1"),
            "document 0 is struck out, and missing ones are not: −1 counts as True, and 0 as False":
                edit("numbers < 0", "numbers == 0"),
            "the softmax is done twice": edit(".log_softmax", ".softmax(1).log_softmax"),
            "log after softmax: a chance that is rounded to 0 has the log −∞; use log_softmax":
                edit("log_softmax(1)", "softmax(1).log()"),
            "exp of a large score is infinite, and exp of a very small one 0: use log_softmax":
                edit("return torch", "return by_exp(torch", ".log_softmax(1)", ").log()"),
        },
        properties={
            "the chances of a text's documents do not add up to 1, or the log of a missing one's is not −∞ (−10⁹ will "
            "not do)": lambda logs, _, numbers, __: shared_out(logs, numbers),
        },
        hints=(
            "One text, two documents with the scores 2 and 1, and a null document with the score −1. Over how many "
            "numbers does the softmax run? And which score would the second document need to get no share at all?",
            "exp(−∞) is 0. So a missing document gets the score −∞ *before* the softmax; then the chances of the "
            "others add up to 1 by themselves. The null document is one more column. It is never missing.",
            "x.masked_fill(mask, value) replaces numbers, float(\"-inf\") is −∞. null[:, None] makes a column of a "
            "row, torch.cat([a, b], 1) puts columns side by side. .log_softmax(1) is safe for large scores.",
        ),
    ),
    Exercise(
        "16.2", "what all documents say together", log_marginal, draw_readings,
        mistakes={
            "the product stands outside the sum: each gap sums over the documents by itself, as in 16.3":
                edit("prior +", "prior[:, :, None] +", ".masked_fill(~asked[:, None], 0.0).sum(2)).logsumexp(1)",
                     ").logsumexp(1).masked_fill(~asked, 0.0).sum(1)"),
            "p(z|x) is multiplied in at every gap; it is one factor for the whole answer":
                edit("prior + likelihood", "(prior[:, :, None] + likelihood)"),
            "this is the mean of the logs, Σ_z p(z|x) log p(y|z,x); asked is the log of the mean":
                edit("prior +", "prior.exp() *", "logsumexp", "sum"),
            "p(z|x) is forgotten: all documents count as if each were read for certain": edit("prior + ", ""),
            "p(z|x) is added to a logarithm: it is log p(z|x) that goes with log p(y|z,x)":
                edit("(prior +", "(prior.exp() +"),
            "only the best document counts: a maximum in place of the sum": edit("logsumexp", "amax"),
            "gaps that are not asked count": edit(".masked_fill(~asked[:, None], 0.0)", ""),
            "the mask is multiplied in, and −∞ times 0 is NaN: masked_fill or where":
                edit("likelihood.masked_fill(~asked[:, None], 0.0)", "(likelihood * asked[:, None])"),
            "the gaps that are asked are left out, and the others counted: the mask is turned round": edit("~", ""),
            "chances that are too small for a float become 0, and their log −∞: logsumexp keeps them":
                edit("logsumexp(1)", "exp().sum(1).log()"),
        },
        hints=(
            "Two documents, two gaps: p(z|x) is ½ and ½; the first document gives its right tokens 0.9 and 0.1, the "
            "second 0.1 and 0.9. What is p(y|x)? Which of the two operations, sum and product, comes first?",
            "The log of a product is a sum of logs: Π_j becomes a sum over the last axis, and p(z|x) is one more "
            "factor, once for each document. What must a gap that is not asked add to that sum? Only the sum over z "
            "needs chances; there is a function for the log of a sum of exps.",
            "asked[:, None] is [batch 1 token]. x.masked_fill(~mask, 0.0) puts 0 where the mask is False. "
            ".sum(2) sums the gaps, .logsumexp(1) the documents, and it is safe for small numbers.",
        ),
    ),
    Exercise(
        "16.3", "the loss of the authors' code", token_loss, draw_readings,
        mistakes={
            "the product stands inside the sum: this is the paper's log p(y|x), divided by the number of gaps":
                edit("prior[:, :, None] + likelihood", "prior + likelihood.masked_fill(~asked[:, None], 0.0).sum(2)",
                     "each.masked_fill(~asked, 0.0)", "each"),
            "p(z|x) is forgotten: every gap takes the plain sum over the documents": edit("prior[:, :, None] + ", ""),
            "the log stands inside the sum over documents: Σ_z p(z|x) log p(y_j|z,x), which is never less as a loss":
                edit("prior[:, :, None] +", "prior.exp()[:, :, None] *", "logsumexp", "sum"),
            "a sum of exps that no float can hold is 0, and its log −∞: logsumexp does not leave the logarithms":
                edit("logsumexp(1)", "exp().sum(1).log()"),
            "the gaps are added up; asked is their mean": edit(" / asked.sum().clamp(min=1)", ""),
            "this is the mean over texts of each text's mean, so that a gap of a short text weighs more":
                edit("-each", "-(each", "0.0).sum() / asked.sum().clamp(min=1)",
                     "0.0).sum(1) / asked.sum(1).clamp(min=1)).mean()"),
            "the sum is divided by all positions, padding among them: .mean() after filling with 0":
                edit("sum() / asked.sum().clamp(min=1)", "mean()"),
            "padding counts as a gap":
                edit(".masked_fill(~asked, 0.0).sum() / asked.sum().clamp(min=1)", ".mean()"),
            "−∞ times 0 is NaN: fill with 0 what is not asked, instead of multiplying by the mask":
                edit("each.masked_fill(~asked, 0.0)", "(each * asked)"),
            "where no text has a gap, 0 is divided by 0; there the loss is 0": edit(".clamp(min=1)", ""),
        },
        hints=(
            "The second input again: ½ and ½, and 0.9 and 0.1, 0.1 and 0.9. What is Σ_z p(z|x) p(y_j|z,x) for the "
            "first gap, and for the second? What would the paper's way give, with the product inside the sum?",
            "Every gap has a sum over the documents of its own. Add log p(z|x) to each gap's log-probability, and take "
            "the log of the sum of exps over the documents. What is left is a table of texts and gaps. Add up what is "
            "asked, and divide by how much is asked.",
            "prior[:, :, None] is [batch doc 1]. .logsumexp(1) sums over the documents. masked_fill puts 0 where "
            "nothing is asked; −∞ times 0 would be NaN. asked.sum() counts, and .clamp(min=1) keeps a count from "
            "being 0.",
        ),
    ),
    Exercise(
        "16.4", "what the retriever learns from", retriever_gradient, draw_answers,
        mistakes={
            "p(z|x) is forgotten: a document that is hardly ever read moves as much as the likeliest":
                edit("posterior - prior.exp()", "ratio(prior, likelihood) - 1"),
            "the −1 is missing: this is p(z|x, y), and a softmax lets no score rise without pushing the others down":
                edit(" - prior.exp()", ""),
            "the brackets are lost: only the 1 is multiplied by p(z|x)":
                edit("posterior -", "ratio(prior, likelihood) -"),
            "the brackets are lost: only the ratio is multiplied by p(z|x), and the 1 is not": edit("prior.exp()", "1"),
            "the factor is log p(z|x); it is p(z|x)":
                edit("posterior - prior.exp()", "(ratio(prior, likelihood) - 1) * prior"),
            "p(z|x) stays a logarithm where it is subtracted": edit("prior.exp()", "prior"),
            "the logs are divided: the log of a ratio is a difference of logs":
                edit("posterior - prior.exp()",
                     "(likelihood / (prior + likelihood).logsumexp(1, keepdim=True) - 1) * prior.exp()"),
            "p(z|x, y) is made without p(z|x): the softmax takes log p(y|z,x) alone":
                edit("(prior + likelihood)", "likelihood"),
            "p(y|x) is a sum over the texts of the batch; it is one over the documents of a text":
                edit("softmax(1)", "softmax(0)"),
            "0 is divided by 0 where all chances of an answer are rounded to 0: compare their logarithms":
                edit("(prior + likelihood).softmax(1)", "by_exp(prior + likelihood)"),
        },
        properties={
            "what the documents of a text get does not add up to 0":
                lambda pulls, *_: bool((pulls.sum(1).abs() < 1e-3).all()),
            "a document that makes the answer likelier is pushed down, or one that makes it less likely is pulled up":
                lambda pulls, *args: bool(((ratio(*args) - 1).sign() * pulls > -1e-3).all()),
        },
        hints=(
            "The first input by hand: p(z|x) is ½ and ½, p(y|z,x) is 0.6 and 0.2. What is p(y|x)? What does each "
            "document get? What do the two add up to?",
            "Multiply it out: p(z|x) p(y|z,x) / p(y|x) − p(z|x). The first part is p(z|x, y), how likely it is that "
            "the document was read, now that the answer is known. It adds up to 1 over the documents, and so does the "
            "second part.",
            "Numbers e^a divided by their sum are the softmax of a: .softmax(1), which does not mind how small they "
            "all are. The log of p(z|x) p(y|z,x) is a sum. prior.exp() is p(z|x).",
        ),
    ),
    *exercises_open_domain.EXERCISES,
)
