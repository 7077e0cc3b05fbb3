"""Slips that people make in the exercises 16.5 and 16.6, written as they write them: each is named as what it is; and
the same ways without a slip, which are right."""

from math import exp, inf, log

import pytest
import torch
from torch.nn import functional as F

from plmlab.exercises import check

# 16.5

def both(source, removed):
    return [*removed, source] if source >= 0 else removed


def marked(score=lambda query, index: index @ query, mark=both, cut=lambda most: most, real=True,
           rank=lambda scores: scores.argsort(descending=True, stable=True)):
    """The scores of those that may not be found become −∞."""
    def answer(query, index, source, removed, most):
        scores = score(query, index)
        for number in mark(source, removed):
            scores[number] = -inf
        best = rank(scores)[:cut(most)]
        return [number for number in best.tolist() if not real or scores[number] > -inf]
    return answer


def struck(best, source, removed):
    return [number for number in best if number != source and number not in removed]


def listed(key=lambda score, number: (-score, number), reverse=False, strike=struck,
           first=lambda best, most: best[:most], early=lambda best, most: best):
    """Pairs, sorted by Python."""
    def answer(query, index, source, removed, most):
        scores = [float((row * query).sum()) for row in index]
        best = sorted(range(len(scores)), key=lambda number: key(scores[number], number), reverse=reverse)
        return first(strike(early(best, most), source, removed), most)
    return answer


def of_the_rest(query, index, source, removed, most):
    keep = torch.ones(len(index), dtype=torch.bool)
    keep[both(source, removed)] = False
    return (index[keep] @ query).argsort(descending=True, stable=True)[:most].tolist()


def in_order(query, index):
    """topk breaks ties as it likes, so a little is taken from each score by its number."""
    return (index @ query).double() - torch.arange(len(index)) * 1e-9


def by_topk(query, index, source, removed, most):
    best = in_order(query, index).topk(most + len(removed) + 1).indices.tolist()
    return struck(best, source, removed)[:most]


def by_topk_of_marked(query, index, source, removed, most):
    scores = in_order(query, index)
    for number in both(source, removed):
        scores[number] = -inf
    return [number for number in scores.topk(most).indices.tolist() if scores[number] > -inf]


def popped(best, source, removed):
    best = [number for number in best if number not in removed]
    return best[1:]


def popped_first(best, source, removed):
    return [number for number in best[1:] if number not in removed]


def popped_if_any(best, source, removed):
    best = best[1:] if source != -1 else best
    return [number for number in best if number not in removed]


def deleted(best, source, removed):
    best = list(best)
    if source >= 0:
        del best[source]
    return [number for number in best if number not in removed]


# 16.6

def tabled(keep=lambda i, j, longest: (j >= i) & (j < i + longest), softmax=lambda x: x - x.flatten().logsumexp(0),
           spells=lambda body, answer, i, j: body[i:j + 1] == answer, end=lambda some: some.logsumexp(0), none=-inf):
    """The whole table, −∞ where there is no span."""
    def answer(scores, body, wanted, longest):
        place = torch.arange(len(body))
        there = keep(place[:, None], place, longest)
        table = softmax(scores.masked_fill(~there, -inf))
        some = [table[i, j] for i in range(len(body)) for j in range(len(body))
                if there[i, j] and spells(body, wanted, i, j)]
        return end(torch.stack(some)) if some else torch.tensor(none)
    return answer


def by_starts(cost=lambda scores, i, n: scores[i, i + n - 1], find=lambda starts: starts, some=lambda x: x.logsumexp(0),
              every=lambda scores, longest: torch.cat([scores.diagonal(k) for k in range(min(longest, len(scores)))]),
              short=lambda n, longest: n <= longest, join=lambda right, every: right - every.logsumexp(0), none=-inf):
    """The places where the answer begins; the spans diagonal by diagonal."""
    def answer(scores, body, wanted, longest):
        n = len(wanted)
        starts = find([i for i in range(len(body) - n + 1) if body[i:i + n] == wanted])
        if not starts or not short(n, longest):
            return torch.tensor(none)
        return join(some(torch.stack([cost(scores, i, n) for i in starts])), every(scores, longest))
    return answer


def walking(starts):
    """Text search that goes on behind what it has found."""
    return [i for place, i in enumerate(starts) if place == 0 or i != starts[place - 1] + 1]


def in_python(scores, body, answer, longest):
    right = whole = 0.0
    for i in range(len(body)):
        for j in range(i, min(len(body), i + longest)):
            whole += exp(scores[i, j])
            right += exp(scores[i, j]) if body[i:j + 1] == answer else 0.0
    return torch.tensor(log(right / whole) if right else -inf)


def found_first(scores, body, answer, longest):
    spans = [(i, j) for i in range(len(body)) for j in range(i, min(i + longest, len(body)))]
    logs = torch.stack([scores[span] for span in spans]).log_softmax(0)
    for span, one in zip(spans, logs, strict=True):
        if body[span[0]:span[1] + 1] == answer:
            return one
    return torch.tensor(-inf)


def never_empty(scores, body, answer, longest):
    spans = [(i, j) for i in range(len(body)) for j in range(i, min(i + longest, len(body)))]
    right = torch.stack([scores[i, j] for i, j in spans if body[i:j + 1] == answer])
    return right.logsumexp(0) - torch.stack([scores[span] for span in spans]).logsumexp(0)


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("16.5", marked(mark=lambda source, removed: removed), "he source is not left out"),
    ("16.5", marked(mark=lambda source, removed: [source] if source >= 0 else []), "emoved documents are found"),
    ("16.5", marked(mark=lambda source, removed: []), "either the source nor"),
    ("16.5", marked(mark=lambda source, removed: [source, *removed]), " −1 is used as an index: it is"),
    ("16.5", marked(mark=lambda source, removed: [source, *removed], real=False), "−1 is used as an index, and"),
    ("16.5", marked(real=False), "Documents with the score −∞ are given where"),
    ("16.5", marked(score=lambda query, index: F.normalize(index, dim=1) @ F.normalize(query, dim=0)), "are cosines"),
    ("16.5", marked(score=lambda query, index: -torch.cdist(index, query[None])[:, 0]), "nearest vectors"),
    ("16.5", marked(score=lambda query, index: (index @ query).abs()), "not its sign"),
    ("16.5", marked(cut=lambda most: most + 1), "ne document too many"),
    ("16.5", listed(reverse=True, key=lambda score, number: (score, number)), "higher number comes first"),
    ("16.5", listed(key=lambda score, number: score), "he worst come first"),
    ("16.5", listed(early=lambda best, most: best[:most]), "is cut before"),
    ("16.5", listed(early=lambda best, most: best[:most + 1]), "to make up for the source"),
    ("16.5", listed(strike=popped), "not removed is left out as if it were the source"),
    ("16.5", listed(strike=popped_first), "go by its number, not by its place"),
    ("16.5", listed(strike=popped_if_any), "best one is left out where there is a source"),
    ("16.5", listed(strike=deleted), "taken for a place in the ranked list"),
    ("16.5", listed(first=lambda best, most: sorted(best[:most])), "he numbers are sorted"),
    ("16.5", of_the_rest, "numbers count the documents that are left"),
    ("16.5", by_topk, "`most` and all that is struck out"),
    ("16.5", by_topk_of_marked, "asked for more than there are"),
    ("16.6", tabled(keep=lambda i, j, longest: j >= i), "`longest` is forgotten"),
    ("16.6", tabled(keep=lambda i, j, longest: j < i + longest), "end before they start"),
    ("16.6", tabled(keep=lambda i, j, longest: (i >= 0) & (j >= 0)), "over the whole table"),
    ("16.6", tabled(keep=lambda i, j, longest: (j >= i) & (j - i <= longest)), "one slot too long"),
    ("16.6", tabled(keep=lambda i, j, longest: (j >= i) & (j - i < longest - 1)), "one slot too short"),
    ("16.6", tabled(keep=lambda i, j, longest: (i >= j) & (i < j + longest),
                    spells=lambda body, answer, i, j: body[j:i + 1] == answer), "ows and columns are exchanged"),
    ("16.6", tabled(softmax=lambda x: x.log_softmax(1)), "ach start has a softmax"),
    ("16.6", tabled(softmax=lambda x: x), "softmax over spans is missing"),
    ("16.6", tabled(softmax=lambda x: x.flatten().softmax(0).log().view_as(x)), "chance that is rounded to 0"),
    ("16.6", tabled(spells=lambda body, answer, i, j: body[i:j] == answer), "last slot is not compared"),
    ("16.6", tabled(spells=lambda body, answer, i, j: {*body[i:j + 1]} == {*answer} and j + 1 - i == len(answer)),
     "in any order"),
    ("16.6", tabled(end=torch.max), "nly the likeliest span"),
    ("16.6", tabled(end=torch.sum), "at at once"),
    ("16.6", tabled(end=torch.sum, none=0.0), "which makes 0 where no span"),
    ("16.6", tabled(end=lambda some: some.exp().sum(), none=0.0), "log is missing: this is the chance"),
    ("16.6", by_starts(find=lambda starts: starts[:1]), "nly the first span"),
    ("16.6", by_starts(find=lambda starts: starts[-1:]), "nly the last span"),
    ("16.6", by_starts(find=walking), "overlap with one before"),
    ("16.6", by_starts(some=torch.mean), "mean of logs"),
    ("16.6", by_starts(short=lambda n, longest: True), "longer than `longest` is pointed at"),
    ("16.6", by_starts(every=lambda scores, longest: scores.flatten()), "over the whole table"),
    ("16.6", by_starts(none=0.0), "that is the log of 1"),
    ("16.6", by_starts(join=lambda right, every: every.logsumexp(0) - right, none=inf),
     "minus makes a loss of it; asked is log p(y|z,x)"),
    ("16.6", by_starts(join=lambda right, every: (right.exp() / every.exp().sum()).log()), "xp of a large score"),
    ("16.6", found_first, "nly the first span"),
    ("16.6", never_empty, "nothing to stack"),
    ("16.6", in_python, "too large for a float of Python's"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer"), [
    ("16.5", marked()), ("16.5", listed()), ("16.6", tabled()), ("16.6", by_starts())])
def test_without_its_slip_each_of_these_ways_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)
