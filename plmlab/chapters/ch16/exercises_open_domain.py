"""Exercises 16.5 and 16.6, open-domain question answering: maximum inner product search with excluded documents, and
the probability of an answer span wherever it occurs in a document."""

import torch
from jaxtyping import Float
from torch import Generator, Tensor, randn

from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def retrieved(
    query: Float[Tensor, "width"], index: Float[Tensor, "doc width"], source: int, removed: list[int], most: int,
) -> list[int]:
    """The numbers of the ``most`` best documents for a text, the best first.

    Row z of ``index`` is the vector of document number z, and ``query`` is the vector of the text. The
    score of a document is its inner product with the query. Of documents with equal scores, the one with
    the lower number comes first.
    The document that the text was cut from, number ``source``, must not be found: it says what stands in
    the gap. ``source`` is −1 if the text comes from no document; then nothing is left out for it. The
    documents ``removed`` have been taken out of the index, and must not be found either. If fewer
    documents are left than are asked for, give them all.
    """
    best = (index @ query).argsort(descending=True, stable=True).tolist()
    return [number for number in best if number != source and number not in removed][:most]


def draw_indexes(rng: Generator) -> Probes:
    """Inputs for 16.5: name → (query, index, source, removed, most)."""
    def told(query: list[float], index: list[list[float]], source: int, removed: list[int], most: int,
             ) -> tuple[object, ...]:
        return torch.tensor(query), torch.tensor(index), source, removed, most

    def drawn(docs: int, axes: int, source: int, removed: list[int], most: int) -> tuple[object, ...]:
        return randn(axes, generator=rng), randn(docs, axes, generator=rng), source, removed, most

    def on_one_axis(*scores: float) -> list[list[float]]:
        return [[score, float(number)] for number, score in enumerate(scores, 1)]

    return {
        "four documents, and the source is the best": told(
            [1.0, 0.0], [[1.0, 2.0], [2.0, -1.0], [4.0, 0.0], [3.0, 1.0]], 2, [], 2),
        "the source is not among the best": told([1.0, 0.0], on_one_axis(5.0, 1.0, 4.0, 3.0, 2.0), 1, [], 3),
        "the text comes from no document": told([1.0, 0.0], on_one_axis(2.0, 3.0, 1.0, 4.0), -1, [], 3),
        "the text comes from no document, and all are asked for": told(
            [1.0, 0.0], on_one_axis(2.0, 3.0, 4.0), -1, [], 3),
        "two are removed": told([1.0, 0.0], on_one_axis(5.0, 3.0, 6.0, 4.0, 1.0, 2.0), 3, [2, 0], 2),
        "equal scores": told([1.0, 0.0], on_one_axis(2.0, 3.0, 2.0, 3.0, 2.0, 3.0, 1.0), 3, [], 4),
        "all scores are negative": told([-1.0, 0.0], on_one_axis(4.0, 2.0, 5.0, 1.0, 3.0), 3, [], 3),
        "a long vector that points elsewhere": told(
            [1.0, 1.0], [[0.5, 0.5], [6.0, 1.0], [1.0, 1.0], [-9.0, 3.0], [2.0, -1.0]], 2, [], 2),
        "fewer documents than are asked for": told([1.0, 0.0], on_one_axis(1.0, 3.0, 2.0), 1, [], 5),
        "the source is removed, too": told([1.0, 0.0], on_one_axis(2.0, 4.0, 3.0, 1.0), 1, [1, 3], 2),
        "nothing is left": told([1.0, 0.0], on_one_axis(2.0, 1.0), 0, [1], 1),
        "eleven documents": drawn(11, 5, 6, [9, 3], 4),
        "thirteen documents": drawn(13, 4, 0, [12], 6),
    }


def answer_log_chance(
    scores: Float[Tensor, "time time"], body: list[int], answer: list[int], longest: int,
) -> Float[Tensor, ""]:
    """log p(y|z,x): how likely a reader points at the answer y in the body of document z, in nats.

    ``body`` and ``answer`` are tokens, which are numbers. ``scores[i, j]`` is the reader's score of the
    span from position i of the body to position j, both included. A span is 1 to ``longest`` positions long. The
    other numbers of the table mean nothing: where j stands before i, or too far behind it.
    The softmax over all spans gives the chance of each. The chance of the answer is the sum over all
    spans that spell it, token by token, because an answer may occur in a body several times. If no span
    spells it, its chance is 0, and the logarithm is −∞.
    """
    spans = [(i, j) for i in range(len(body)) for j in range(i, min(i + longest, len(body)))]
    chances = torch.stack([scores[span] for span in spans]).log_softmax(0)
    right = torch.tensor([body[i:j + 1] == answer for i, j in spans])
    return chances.masked_fill(~right, float("-inf")).logsumexp(0)


def draw_bodies(rng: Generator) -> Probes:
    """Inputs for 16.6: name → (scores, body, answer, longest)."""
    def drawn(body: list[int], answer: list[int], longest: int, scale: float = 1.5, shift: float = 0.0,
              ) -> tuple[object, ...]:
        return scale * randn(len(body), len(body), generator=rng) + shift, body, answer, longest

    return {
        "three positions, the answer is the second": (
            torch.tensor([[1.0, 0.0, 3.0], [2.0, 2.0, 1.0], [0.5, 1.0, 0.0]]), [7, 8, 9], [8], 2),
        "the answer stands there twice": drawn([7, 9, 8, 7, 9], [7, 9], 3),
        "three times, one of them at the end": drawn([8, 7, 8, 9, 7, 8], [8], 2),
        "the answer overlaps with itself": drawn([7, 7, 7, 8], [7, 7], 2),
        "the first and the last token are right, the one between is not": drawn(
            [7, 8, 9, 7, 10, 9, 8], [7, 10, 9], 4),
        "the right tokens, in another order": drawn([9, 7, 8, 7, 9], [7, 9], 3),
        "the answer is not there": drawn([7, 8, 9, 8], [8, 7], 2),
        "the answer is longer than a span": drawn([7, 8, 9, 8], [8, 9, 8], 2),
        "the answer is as long as the longest span": drawn([9, 7, 8, 9, 10, 7, 8, 9], [7, 8, 9], 3),
        "the answer is the whole body": drawn([7, 8, 9], [7, 8, 9], 5),
        "one position": drawn([7], [7], 3),
        "scores in the hundreds, to both sides": drawn([8, 7, 9, 7, 8], [7], 3, 300.0),
        "another span has all the chance": (torch.tensor([[0.0, 150.0], [3.0, -120.0]]), [7, 8], [8], 2),
        "all scores below −200": drawn([8, 9, 7, 8, 9], [8, 9], 2, shift=-250.0),
    }


EXERCISES = (
    Exercise(
        "16.5", "the search", retrieved, draw_indexes,
        mistakes={
            "the source is not left out: the reader sees what stands in the gap": edit("number != source and ", ""),
            "source 0 is taken for none: `if source` is false for 0, and 0 is a number":
                edit("number != source", "(not source or number != source)"),
            "a −1 is used as an index: it is the last document, which is then left out":
                edit("!= source", "!= source % len(index)"),
            "the list is cut before the source and the removed are struck out, and so it is too short":
                edit("[:most]", "", "in best", "in best[:most]"),
            "one more than is asked for is taken, to make up for the source; each removed one is missing, too":
                edit("in best", "in best[:most + 1]"),
            "documents with the score −∞ are given where too few others are left":
                edit("return [", "return ([", "][:most]", "] + sorted({source, *removed} - {-1}))[:most]"),
            "the numbers count the documents that are left: give those that they have in the whole index":
                edit("[number for number in best if number != source and number not in removed]", "best", "index @",
                     "index[[z for z in range(len(index)) if z not in [source, *removed]]] @"),
            "of equal scores the higher number comes first: reverse=True turns the ties, too":
                edit("descending=True, stable=True)", "stable=True).flip(0)"),
            "the worst come first: argsort and sorted begin with the smallest, if they are not told otherwise":
                edit("descending=True, ", ""),
            "the scores are cosines: the vectors are divided by their lengths; asked is the inner product":
                edit("(index @ query)", "torch.cosine_similarity(index, query[None])"),
        },
        hints=(
            "The fifth input: which numbers have the six documents, from the best on? Where in that list are the "
            "source and the two that are removed? What is left if the list is cut to two numbers and those three are "
            "struck out then, and what if it is the other way round?",
            "Sort all numbers by score, strike out those that may not be found, and cut at the end. Compare numbers, "
            "not places: the source may stand anywhere, and −1 is nobody's number, but to a tensor it is the last "
            "place.",
            "index @ query has all scores at once. argsort(descending=True, stable=True) gives numbers, and leaves "
            "equal ones in their order, which topk does not promise. .tolist() makes a list, and [… for z in … if …] "
            "keeps some of it.",
        ),
    ),
    Exercise(
        "16.6", "the chance of an answer", answer_log_chance, draw_bodies,
        mistakes={
            "only the first span that spells the answer counts; all do, and their chances are added up":
                edit("~right", "~right | (right.cumsum(0) > 1)"),
            "only the likeliest span that spells the answer counts; all do, and their chances are added up":
                edit("logsumexp", "amax"),
            "the last position is not compared: body[i:j] ends before j, and position j belongs to the span":
                edit("j + 1]", "j]"),
            "the softmax runs over the whole table, and numbers in it that are no spans take their share":
                edit("range(i, min(i + longest, len(body)))", "range(len(body))"),
            "spans of any length take part: `longest` is forgotten": edit("min(i + longest, len(body))", "len(body)"),
            "spans are one position too long: `longest` counts both ends": edit("i + longest", "i + longest + 1"),
            "each start has a softmax of its own, over its ends; one softmax runs over all spans":
                edit("torch.stack([scores[span] for span in spans]).log_softmax(0)",
                     "torch.cat([row[i:i + longest].log_softmax(0) for i, row in enumerate(scores)])"),
            "where no span spells the answer, there is nothing to stack, and an error; there the log is −∞":
                edit('chances.masked_fill(~right, float("-inf"))', "torch.stack([*chances[right]])"),
            "exp of a large score is infinite, and exp of a very small one 0: log_softmax and logsumexp stay in "
            "logarithms": edit("torch.stack(", "by_exp(torch.stack(", ".log_softmax(0)", ", 0).log()"),
            "the log of a chance that is rounded to 0 is −∞: log_softmax and logsumexp do not leave the logarithms":
                edit("log_softmax(0)", "softmax(0).log()"),
        },
        hints=(
            "The first input: write down the spans of one and two positions. How many are they, and which numbers of "
            "the "
            "table are their scores? Which numbers of the table are never looked at?",
            "Two sums over spans, and one is a part of the other: e^score over all spans, and over those that spell "
            "the answer. The chance is the second divided by the first. Go through all spans once, and ask of each "
            "whether its tokens are the answer's.",
            "body[i:j + 1] are the tokens from i to j, and lists can be compared with ==. torch.stack makes a tensor "
            "of a list of numbers in tensors. .log_softmax(0), then −∞ for the others by masked_fill, then "
            ".logsumexp(0), which gives −∞ if all are −∞.",
        ),
    ),
)
