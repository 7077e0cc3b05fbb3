"""Exercise 16.5: the documents with the largest inner products, without those that may not be found."""

import torch
from jaxtyping import Float
from torch import Generator, Tensor, randn

from plmlab.chapters.ch16 import mistakes_search
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


EXERCISES = (
    Exercise(
        "16.5", "the search", retrieved, draw_indexes,
        mistakes=mistakes_search.SEARCH,
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
)
