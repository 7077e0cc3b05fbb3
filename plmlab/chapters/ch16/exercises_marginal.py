"""Exercises 16.2 to 16.4: what a reader says with each document, summed over the documents, in the paper's way and in
that of the authors' code; and what a retriever learns from it."""

import torch
from jaxtyping import Bool, Float
from torch import Generator, Tensor, rand, randn

from plmlab.chapters.ch16 import mistakes, mistakes_marginal
from plmlab.exercises.exercise import Exercise, Probes


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
    """The logarithms of some chances."""
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
    return (prior + likelihood).softmax(1) - prior.exp()


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


EXERCISES = (
    Exercise(
        "16.2", "what all documents say together", log_marginal, draw_readings,
        mistakes=mistakes_marginal.MARGINAL,
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
        mistakes=mistakes_marginal.LOSS,
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
        mistakes=mistakes.GRADIENT, properties=mistakes.OF_GRADIENT,
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
)
