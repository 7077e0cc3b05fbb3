"""Exercises 16.5 and 16.6, open-domain question answering: maximum inner product search with excluded documents, and
the probability of an answer span wherever it occurs in a document."""

import torch
from jaxtyping import Float
from torch import Generator, Tensor, randn

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def retrieved(
    query: Float[Tensor, "width"], index: Float[Tensor, "doc width"], source: int, removed: list[int], top_k: int,
) -> list[int]:
    """The indices of the ``top_k`` best documents for a text, the best first.

    Row z of ``index`` is the vector of document z, and ``query`` is the vector of the text. The score of
    a document is its inner product with the query. Documents with equal scores are ordered by their
    index. The document that the text was taken from, with the index ``source``, must be excluded, because
    it contains the masked tokens. ``source`` is −1 if the text was not taken from a document; then
    nothing is excluded for it. The documents ``removed`` have been removed from the index, and must be
    excluded too. If fewer than ``top_k`` documents are left, return them all.
    """
    best = (index @ query).argsort(descending=True, stable=True).tolist()
    return [number for number in best if number != source and number not in removed][:top_k]


def draw_indexes(rng: Generator) -> Probes:
    """Inputs for 16.5: name → (query, index, source, removed, top_k)."""
    def given(query: list[float], index: list[list[float]], source: int, removed: list[int], top_k: int,
             ) -> tuple[object, ...]:
        return torch.tensor(query), torch.tensor(index), source, removed, top_k

    def drawn(docs: int, axes: int, source: int, removed: list[int], top_k: int) -> tuple[object, ...]:
        return randn(axes, generator=rng), randn(docs, axes, generator=rng), source, removed, top_k

    def on_one_axis(*scores: float) -> list[list[float]]:
        return [[score, float(number)] for number, score in enumerate(scores, 1)]

    return {
        "four documents, and the source is the best": given(
            [1.0, 0.0], [[1.0, 2.0], [2.0, -1.0], [4.0, 0.0], [3.0, 1.0]], 2, [], 2),
        "the source is not among the best": given([1.0, 0.0], on_one_axis(5.0, 1.0, 4.0, 3.0, 2.0), 1, [], 3),
        "the text comes from no document": given([1.0, 0.0], on_one_axis(2.0, 3.0, 1.0, 4.0), -1, [], 3),
        "the text comes from no document, and all are requested": given(
            [1.0, 0.0], on_one_axis(2.0, 3.0, 4.0), -1, [], 3),
        "two removed documents": given([1.0, 0.0], on_one_axis(5.0, 3.0, 6.0, 4.0, 1.0, 2.0), 3, [2, 0], 2),
        "equal scores": given([1.0, 0.0], on_one_axis(2.0, 3.0, 2.0, 3.0, 2.0, 3.0, 1.0), 3, [], 4),
        "all scores are negative": given([-1.0, 0.0], on_one_axis(4.0, 2.0, 5.0, 1.0, 3.0), 3, [], 3),
        "a long vector in another direction": given(
            [1.0, 1.0], [[0.5, 0.5], [6.0, 1.0], [1.0, 1.0], [-9.0, 3.0], [2.0, -1.0]], 2, [], 2),
        "fewer documents than requested": given([1.0, 0.0], on_one_axis(1.0, 3.0, 2.0), 1, [], 5),
        "the source is also removed": given([1.0, 0.0], on_one_axis(2.0, 4.0, 3.0, 1.0), 1, [1, 3], 2),
        "nothing is left": given([1.0, 0.0], on_one_axis(2.0, 1.0), 0, [1], 1),
        "eleven documents": drawn(11, 5, 6, [9, 3], 4),
        "thirteen documents": drawn(13, 4, 0, [12], 6),
    }


def answer_log_prob(
    scores: Float[Tensor, "time time"], body: list[int], answer: list[int], longest: int,
) -> Float[Tensor, ""]:
    """log p(y|z,x): the reader's log-probability of the answer y in the body of document z, in nats.

    ``body`` and ``answer`` are lists of token ids. ``scores[i, j]`` is the reader's score of the span
    from position i of the body to position j, both included. A span is 1 to ``longest`` positions long. The
    other entries of the matrix are arbitrary: those with j before i, or too far after it.
    The softmax over all spans gives the probability of each. The probability of the answer is the sum
    over all spans that match it, token by token, because an answer may occur in a body several times. If
    no span matches it, its probability is 0, and the logarithm is −∞.
    """
    spans = [(i, j) for i in range(len(body)) for j in range(i, min(i + longest, len(body)))]
    log_probs = torch.stack([scores[span] for span in spans]).log_softmax(0)
    matches = torch.tensor([body[i:j + 1] == answer for i, j in spans])
    return log_probs.masked_fill(~matches, float("-inf")).logsumexp(0)


def draw_bodies(rng: Generator) -> Probes:
    """Inputs for 16.6: name → (scores, body, answer, longest)."""
    def drawn(body: list[int], answer: list[int], longest: int, scale: float = 1.5, shift: float = 0.0,
              ) -> tuple[object, ...]:
        return scale * randn(len(body), len(body), generator=rng) + shift, body, answer, longest

    return {
        "three positions, the answer is the second": (
            torch.tensor([[1.0, 0.0, 3.0], [2.0, 2.0, 1.0], [0.5, 1.0, 0.0]]), [7, 8, 9], [8], 2),
        "the answer occurs twice": drawn([7, 9, 8, 7, 9], [7, 9], 3),
        "three occurrences, one at the end": drawn([8, 7, 8, 9, 7, 8], [8], 2),
        "the answer overlaps with itself": drawn([7, 7, 7, 8], [7, 7], 2),
        "the first and the last token match, the one between does not": drawn(
            [7, 8, 9, 7, 10, 9, 8], [7, 10, 9], 4),
        "the correct tokens, in another order": drawn([9, 7, 8, 7, 9], [7, 9], 3),
        "the answer does not occur": drawn([7, 8, 9, 8], [8, 7], 2),
        "the answer is longer than a span": drawn([7, 8, 9, 8], [8, 9, 8], 2),
        "the answer is as long as the longest span": drawn([9, 7, 8, 9, 10, 7, 8, 9], [7, 8, 9], 3),
        "the answer is the whole body": drawn([7, 8, 9], [7, 8, 9], 5),
        "one position": drawn([7], [7], 3),
        "scores of hundreds, positive and negative": drawn([8, 7, 9, 7, 8], [7], 3, 300.0),
        "another span has all the probability": (torch.tensor([[0.0, 150.0], [3.0, -120.0]]), [7, 8], [8], 2),
        "all scores below −200": drawn([8, 9, 7, 8, 9], [8, 9], 2, shift=-250.0),
    }


EXERCISES = (
    Exercise(
        "16.5", "maximum inner product search", retrieved, draw_indexes,
        mistakes={
            "the source is not excluded: the reader sees the masked tokens": edit("number != source and ", ""),
            "source 0 is treated as no source: `if source` is false for 0, which is a valid index":
                edit("number != source", "(not source or number != source)"),
            "−1 is used as an index: it selects the last document, which is then excluded":
                edit("!= source", "!= source % len(index)"),
            "the list is truncated before the source and the removed documents are excluded, so it is too short":
                edit("[:top_k]", "", "in best", "in best[:top_k]"),
            "only one more document is taken, to replace the source; the removed documents need replacing too":
                edit("in best", "in best[:top_k + 1]"),
            "documents with the score −∞ are returned if too few others are left":
                edit("return [", "return ([", "][:top_k]", "] + sorted({source, *removed} - {-1}))[:top_k]"),
            "the indices are those among the remaining documents: return the indices in the whole index":
                edit("[number for number in best if number != source and number not in removed]", "best", "index @",
                     "index[[z for z in range(len(index)) if z not in [source, *removed]]] @"),
            "documents with equal scores are in reverse order: flipping an ascending sort reverses ties too":
                edit("descending=True, stable=True)", "stable=True).flip(0)"),
            "the worst documents come first: argsort and sorted are ascending by default":
                edit("descending=True, ", ""),
            "the scores are cosine similarities: the vectors are divided by their norms; use the inner product":
                edit("(index @ query)", "torch.cosine_similarity(index, query[None])"),
        },
        hints=(
            "The fifth input: list the six documents by score, the best first. Where in that list are the source and "
            "the two that are removed? What is left if the list is truncated to two and those three are then "
            "excluded? What is left if they are excluded first?",
            "Sort all indices by score, exclude those that must not be retrieved, and truncate at the end. Compare "
            "document indices, not ranks: the source may have any rank, and −1 is not a document, although "
            "as an index into a tensor it selects the last row.",
            "index @ query gives all scores at once. argsort(descending=True, stable=True) gives indices, and keeps "
            "ties in their order, which topk does not guarantee. .tolist() gives a list, and [… for z in … if …] "
            "filters it.",
        ),
    ),
    Exercise(
        "16.6", "the probability of an answer", answer_log_prob, draw_bodies,
        mistakes={
            "only the first span that matches the answer counts; sum the probabilities of all of them":
                edit("~matches", "~matches | (matches.cumsum(0) > 1)"),
            "only the most probable matching span counts; sum the probabilities of all of them":
                edit("logsumexp", "amax"),
            "the last position is not compared: body[i:j] ends before j, but position j belongs to the span":
                edit("j + 1]", "j]"),
            "the softmax runs over the whole matrix, including entries that are not spans":
                edit("range(i, min(i + longest, len(body)))", "range(len(body))"),
            "spans of any length are included: `longest` is ignored": edit("min(i + longest, len(body))", "len(body)"),
            "spans are one position too long: `longest` counts both ends": edit("i + longest", "i + longest + 1"),
            "each start has its own softmax, over its ends; compute one softmax over all spans":
                edit("torch.stack([scores[span] for span in spans]).log_softmax(0)",
                     "torch.cat([row[i:i + longest].log_softmax(0) for i, row in enumerate(scores)])"),
            "if no span matches the answer, there is nothing to stack, which is an error; the log should be −∞":
                edit('log_probs.masked_fill(~matches, float("-inf"))', "torch.stack([*log_probs[matches]])"),
            "exp overflows for a large score, and underflows to 0 for a small one: use log_softmax and logsumexp":
                edit("torch.stack(", "by_exp(torch.stack(", ".log_softmax(0)", ", 0).log()"),
            "the log of a probability that underflows to 0 is −∞: use log_softmax and logsumexp":
                edit("log_softmax(0)", "softmax(0).log()"),
        },
        hints=(
            "For the first input, write down all spans of one or two positions. How many are there, and which entries "
            "of the matrix are their scores? Which entries are never used?",
            "Compute two sums of e^score: over all spans, and over the spans that match the answer. The probability is "
            "the second divided by the first. Go through all spans once, and compare the "
            "tokens of each with the answer.",
            "body[i:j + 1] are the tokens from i to j, and lists can be compared with ==. torch.stack makes a tensor "
            "of a list of scalar tensors. .log_softmax(0), then −∞ for the others by masked_fill, then .logsumexp(0), "
            "which gives −∞ if all are −∞.",
        ),
    ),
)
