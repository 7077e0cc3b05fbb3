"""Exercises of chapter 16: REALM (Guu et al. 2020). First the chance of each document; then what the documents say
together and what the retriever learns from it in `exercises_marginal`, the search in `exercises_search`, and the
answers that a reader points at in `exercises_spans`."""

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor, randn

from plmlab.chapters.ch16 import exercises_marginal, exercises_search, exercises_spans, mistakes
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


EXERCISES = (
    Exercise(
        "16.1", "the chance of each document", log_chances, draw_found,
        mistakes=mistakes.CHANCES, properties=mistakes.OF_CHANCES,
        hints=(
            "One text, two documents with the scores 2 and 1, and a null document with the score −1. Over how many "
            "numbers does the softmax run? And which score would the second document need to get no share at all?",
            "exp(−∞) is 0. So a missing document gets the score −∞ *before* the softmax; then the chances of the "
            "others add up to 1 by themselves. The null document is one more column. It is never missing.",
            "x.masked_fill(mask, value) replaces numbers, float(\"-inf\") is −∞. null[:, None] makes a column of a "
            "row, torch.cat([a, b], 1) puts columns side by side. .log_softmax(1) is safe for large scores.",
        ),
    ),
    *exercises_marginal.EXERCISES,
    *exercises_search.EXERCISES,
    *exercises_spans.EXERCISES,
)
