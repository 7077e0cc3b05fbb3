"""Wrong answers to the exercise 16.5, the search, under the names of their mistakes."""

from collections.abc import Callable

from torch import Tensor
from torch.nn import functional as F

from plmlab.exercises.mistakes import Mistakes

Numbers = list[int]
Answer = Callable[[Tensor, Tensor, int, Numbers, int], Numbers]


def inner(query: Tensor, index: Tensor) -> Tensor:
    """The inner product of each document with the query."""
    return index @ query


def ranked(scores: Tensor) -> Numbers:
    """All numbers, the largest score first, of equal ones the lower number."""
    return scores.argsort(descending=True, stable=True).tolist()


def allowed(best: Numbers, source: int, removed: Numbers, most: int) -> Numbers:
    """The first that may be found."""
    return [number for number in best if number not in (source, *removed)][:most]


def searching(
    choose: Callable[[Numbers, int, Numbers, int], Numbers] = allowed, *,
    score: Callable[[Tensor, Tensor], Tensor] = inner, rank: Callable[[Tensor], Numbers] = ranked,
) -> Answer:
    """The exercise's function with another choice from the ranked numbers, another score, or another ranking."""
    return lambda query, index, source, removed, most: choose(rank(score(query, index)), source, removed, most)


right = searching()


def higher_first(scores: Tensor) -> Numbers:
    """The largest score first, of equal ones the higher number."""
    return sorted(range(len(scores)), key=lambda number: (float(scores[number]), number), reverse=True)


def without_place(best: Numbers, source: int, removed: Numbers, most: int) -> Numbers:
    """The list without what stands at the place ``source``; the whole where that is none."""
    return allowed([*best[:source], *best[source + 1:]] if source >= 0 else best, -1, removed, most)


def by_last(wanted: Callable[[int, Numbers], Numbers]) -> Callable[[Numbers, int, Numbers, int], Numbers]:
    """The choice where −1 stands for the last document, of those that are ``wanted`` out."""
    return lambda best, source, removed, most: [
        number for number in best if number not in {out % len(best) for out in wanted(source, removed)}][:most]


def at_the_end(last: bool) -> Callable[[Numbers, int, Numbers, int], Numbers]:
    """The choice where those that may not be found have the score −∞, and are given if there are no others. With
    ``last``, −1 stands for the last document."""
    def choose(best: Numbers, source: int, removed: Numbers, most: int) -> Numbers:
        out = {number % len(best) if last else number for number in (source, *removed)}
        return [*(number for number in best if number not in out),
                *(number for number in range(len(best)) if number in out)][:most]
    return choose


def renumbered(query: Tensor, index: Tensor, source: int, removed: Numbers, most: int) -> Numbers:
    """The numbers among the documents that are left."""
    left = [number for number in range(len(index)) if number not in (source, *removed)]
    return ranked(inner(query, index[left]))[:most]


def without_its_equals(query: Tensor, index: Tensor, source: int, removed: Numbers, most: int) -> Numbers:
    """Whoever scores as the source does is left out with it."""
    scores = inner(query, index)
    return [number for number in right(query, index, source, removed, len(index))
            if source < 0 or scores[number] != scores[source]][:most]


def only_positive(query: Tensor, index: Tensor, source: int, removed: Numbers, most: int) -> Numbers:
    """Whoever scores above 0."""
    scores = inner(query, index)
    return [number for number in right(query, index, source, removed, most) if scores[number] > 0]


def zeroed(query: Tensor, index: Tensor, source: int, removed: Numbers, most: int) -> Numbers:
    """Whoever may not be found scores 0."""
    scores = inner(query, index)
    scores[[number for number in (source, *removed) if number >= 0]] = 0.0
    return ranked(scores)[:most]


def of_left(best: Numbers, removed: Numbers) -> Numbers:
    """Those that are not removed."""
    return [number for number in best if number not in removed]


def by_topk(asked: Callable[[int, Numbers], int]) -> Answer:
    """An error where there are fewer documents than topk is ``asked`` for."""
    def answer(query: Tensor, index: Tensor, source: int, removed: Numbers, most: int) -> Numbers:
        inner(query, index).topk(asked(most, removed))
        return right(query, index, source, removed, most)
    return answer


SEARCH: Mistakes = {
    "the source is not left out: the reader sees what stands in the gap": searching(
        lambda best, source, removed, most: allowed(best, -1, removed, most)),
    "removed documents are found": searching(lambda best, source, removed, most: allowed(best, source, [], most)),
    "neither the source nor the removed are left out": searching(
        lambda best, source, removed, most: best[:most]),
    "source 0 is taken for none: `if source` is false for 0, and 0 is a number": searching(
        lambda best, source, removed, most: allowed(best, source or -1, removed, most)),
    "what may not be found has the score 0: negative scores come behind it": zeroed,
    "the best one is left out as if it were the source: go by its number, not by its place": searching(
        lambda best, source, removed, most: allowed(best[1:], -1, removed, most)),
    "the best one is left out where there is a source: the source may stand anywhere in the list": searching(
        lambda best, source, removed, most: allowed(best[1:] if source >= 0 else best, -1, removed, most)),
    "the best one that is not removed is left out as if it were the source: go by the number of the source": searching(
        lambda best, source, removed, most: of_left(best, removed)[1:most + 1]),
    "the best one that is not removed is left out where there is a source: go by the number of the source": searching(
        lambda best, source, removed, most: of_left(best, removed)[source >= 0:][:most]),
    "`source` is taken for a place in the ranked list; it is a number": searching(without_place),
    "a −1 is used as an index: it is the last document, which is then left out": searching(
        by_last(lambda source, removed: [source, *removed])),
    "the list is cut before the source and the removed are struck out, and so it is too short": searching(
        lambda best, source, removed, most: allowed(best[:most], source, removed, most)),
    "one more than is asked for is taken, to make up for the source; each removed one is missing, too": searching(
        lambda best, source, removed, most: allowed(best[:most + 1], source, removed, most)),
    "documents with the score −∞ are given where too few others are left": searching(at_the_end(last=False)),
    "a −1 is used as an index, and documents with the score −∞ are given where too few others are left": searching(
        at_the_end(last=True)),
    "the numbers count the documents that are left: give those that they have in the whole index": renumbered,
    "documents that score as the source does are left out with it: compare numbers, not scores": without_its_equals,
    "of equal scores the higher number comes first: reverse=True turns the ties, too": searching(rank=higher_first),
    "the worst come first: argsort and sorted begin with the smallest, if they are not told otherwise": searching(
        rank=lambda scores: scores.argsort(stable=True).tolist()),
    "the scores are cosines: the vectors are divided by their lengths; asked is the inner product": searching(
        score=lambda query, index: F.cosine_similarity(index, query[None])),
    "the nearest vectors are found; asked is the largest inner product": searching(
        score=lambda query, index: -(index - query).norm(dim=1)),
    "the size of the score counts, and not its sign": searching(score=lambda query, index: (index @ query).abs()),
    "the axes are not added up: only the largest product of two numbers counts": searching(
        score=lambda query, index: (index * query).amax(1)),
    "only scores above 0 count; all may be negative": only_positive,
    "the numbers are sorted; the best comes first": searching(
        lambda best, source, removed, most: sorted(allowed(best, source, removed, most))),
    "one document too many: `most` counts from 1": searching(
        lambda best, source, removed, most: allowed(best, source, removed, most + 1)),
    "only the first of the removed is left out": searching(
        lambda best, source, removed, most: allowed(best, source, removed[:1], most)),
    "topk stops with an error where it is asked for more than there are: sort, then cut": by_topk(
        lambda most, removed: most),
    "topk stops with an error where `most` and all that is struck out are more than there are: sort, then cut": by_topk(
        lambda most, removed: most + len(removed) + 1),
}
