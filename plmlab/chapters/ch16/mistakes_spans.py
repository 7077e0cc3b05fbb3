"""Wrong answers to the exercise 16.6, the chance of an answer that a reader points at, under the names of their
mistakes."""

from collections.abc import Callable
from math import exp, inf, log

import torch
from torch import Tensor

from plmlab.exercises.mistakes import Mistakes

Tokens = list[int]
Spans = list[tuple[int, int]]
Answer = Callable[[Tensor, Tokens, Tokens, int], Tensor]


def within(time: int, longest: int) -> Spans:
    """The spans of at most so many slots, (first, last)."""
    return [(i, j) for i in range(time) for j in range(i, min(i + longest, time))]


def spelling(body: Tokens, answer: Tokens, spans: Spans) -> Spans:
    """The spans that spell the answer."""
    return [(i, j) for i, j in spans if body[i:j + 1] == answer]


def pointing(
    end: Callable[[Tensor, Tensor], Tensor] = lambda every, right: right.logsumexp(0) - every.logsumexp(0), *,
    spans: Callable[[int, int], Spans] = within,
    right: Callable[[Tokens, Tokens, Spans], Spans] = spelling, none: float = -inf,
) -> Answer:
    """The exercise's function with another end, made from the scores of all spans and of the right ones; with other
    spans; with others that are right; or with another number where ``none`` is."""
    def chance(scores: Tensor, body: Tokens, answer: Tokens, longest: int) -> Tensor:
        every = spans(len(body), longest)
        found = right(body, answer, every)
        of_all, of_right = (torch.stack([scores[span] for span in some]) if some else scores.new_zeros(0)
                            for some in (every, found))
        return end(of_all, of_right) if found else torch.tensor(none)
    return chance


def transposed(scores: Tensor, body: Tokens, answer: Tokens, longest: int) -> Tensor:
    """The end in the rows."""
    return pointing()(scores.T, body, answer, longest)


def stacked(scores: Tensor, body: Tokens, answer: Tokens, longest: int) -> Tensor:
    """An error where no span spells the answer."""
    torch.stack([scores[span] for span in spelling(body, answer, within(len(body), longest))])
    return pointing()(scores, body, answer, longest)


def by_rows(scores: Tensor, body: Tokens, answer: Tokens, longest: int) -> Tensor:
    """A softmax for each start, over the ends."""
    spans = torch.zeros_like(scores, dtype=torch.bool)
    for span in within(len(body), longest):
        spans[span] = True
    chances = scores.masked_fill(~spans, -inf).log_softmax(1)
    right = spelling(body, answer, within(len(body), longest))
    return torch.stack([chances[span] for span in right]).logsumexp(0) if right else torch.tensor(-inf)


def however_long(scores: Tensor, body: Tokens, answer: Tokens, longest: int) -> Tensor:
    """The answer in one piece, though no span may be so long."""
    right = spelling(body, answer, within(len(body), len(body)))
    every = torch.stack([scores[span] for span in within(len(body), longest)])
    return (torch.stack([scores[span] for span in right]).logsumexp(0) - every.logsumexp(0) if right
            else torch.tensor(-inf))


def as_long_as_it(scores: Tensor, body: Tokens, answer: Tokens, longest: int) -> Tensor:
    """A softmax over the spans that have as many slots as the answer."""
    return pointing(spans=lambda time, most: [(i, j) for i, j in within(time, most) if j + 1 - i == len(answer)])(
        scores, body, answer, longest)


def one_too_far(scores: Tensor, body: Tokens, answer: Tokens, longest: int) -> Tensor:
    """The score of a span is taken where a slice would end."""
    return pointing()(scores.roll(-1, 1), body, answer, longest)


def apart(body: Tokens, answer: Tokens, spans: Spans) -> Spans:
    """The spans that spell the answer and overlap with none before."""
    kept: Spans = []
    for first, last in spelling(body, answer, spans):
        if not kept or first > kept[-1][1]:
            kept.append((first, last))
    return kept


def whole_log(every: Tensor, right: Tensor) -> Tensor:
    """The log-probabilities of the right spans."""
    return right - every.logsumexp(0)


def by_floats(every: Tensor, right: Tensor) -> Tensor:
    """The same in Python's floats: an error where e^score is too large for one."""
    of_all, of_right = (sum(map(exp, some.tolist())) for some in (every, right))
    return torch.tensor(log(of_right / of_all))


def from_first_on(match: Callable[[Tokens, Tokens], bool]) -> Callable[[Tokens, Tokens, Spans], Spans]:
    """The spans that a ``match`` of their tokens with the answer's takes for right."""
    return lambda body, answer, spans: [(i, j) for i, j in spans if match(body[i:j + 1], answer)]


SPANS: Mistakes = {
    "only the first span that spells the answer counts; all do, and their chances are added up": pointing(
        right=lambda body, answer, spans: spelling(body, answer, spans)[:1]),
    "only the last span that spells the answer counts; all do, and their chances are added up": pointing(
        right=lambda body, answer, spans: spelling(body, answer, spans)[-1:]),
    "only the likeliest span that spells the answer counts; all do, and their chances are added up": pointing(
        lambda every, right: whole_log(every, right).max()),
    "the right spans' chances are averaged; they are added up": pointing(
        lambda every, right: whole_log(every, right).logsumexp(0) - log(len(right))),
    "the right spans' log-probabilities are added up, as if all had to be pointed at at once": pointing(
        lambda every, right: whole_log(every, right).sum()),
    "the right spans' log-probabilities are added up, which makes 0 where no span spells the answer": pointing(
        lambda every, right: whole_log(every, right).sum(), none=0.0),
    "the right spans' log-probabilities are averaged: this is a mean of logs, not the log of a sum": pointing(
        lambda every, right: whole_log(every, right).mean()),
    "spans that overlap with one before are not counted; they are": pointing(right=apart),
    "the last slot is not compared: body[i:j] ends before j, and slot j belongs to the span": pointing(
        right=lambda body, answer, spans: [(i, j) for i, j in spans if body[i:j] == answer]),
    "only the first token is compared, and the length": pointing(right=from_first_on(
        lambda span, answer: len(span) == len(answer) and span[0] == answer[0])),
    "only the first and the last token are compared, and the length": pointing(right=from_first_on(
        lambda span, answer: len(span) == len(answer) and (span[0], span[-1]) == (answer[0], answer[-1]))),
    "the tokens may stand in any order: a set, or a sorted list, forgets it": pointing(right=from_first_on(
        lambda span, answer: sorted(span) == sorted(answer))),
    "a longer span that holds the answer counts; a span must spell it and nothing more": pointing(right=from_first_on(
        lambda span, answer: any(span[i:i + len(answer)] == answer for i in range(len(span))))),
    "the softmax runs over the whole table, and numbers in it that are no spans take their share": pointing(
        spans=lambda time, longest: [(i, j) for i in range(time) for j in range(time)]),
    "spans that end before they start take part": pointing(
        spans=lambda time, longest: [(i, j) for i in range(time) for j in range(time) if j < i + longest]),
    "spans of any length take part: `longest` is forgotten": pointing(spans=lambda time, longest: within(time, time)),
    "spans are one slot too long: `longest` counts both ends": pointing(
        spans=lambda time, longest: within(time, longest + 1)),
    "spans are one slot too short: range ends before its end": pointing(
        spans=lambda time, longest: within(time, longest - 1)),
    "a span that is longer than `longest` is pointed at": however_long,
    "the softmax runs over spans as long as the answer; a reader does not know how long it is": as_long_as_it,
    "each start has a softmax of its own, over its ends; one softmax runs over all spans": by_rows,
    "rows and columns are exchanged: the start is the row": transposed,
    "the score of a span stands at its last slot, not one behind it: scores[i, j], and body[i:j + 1]": one_too_far,
    "the softmax over spans is missing: these are sums of e^score": pointing(lambda every, right: right.logsumexp(0)),
    "the log is missing: this is the chance": pointing(
        lambda every, right: whole_log(every, right).logsumexp(0).exp(), none=0.0),
    "the minus makes a loss of it; asked is log p(y|z,x)": pointing(
        lambda every, right: -whole_log(every, right).logsumexp(0), none=inf),
    "where no span spells the answer, 0 is given: that is the log of 1; the log of 0 is −∞": pointing(none=0.0),
    "where no span spells the answer, there is nothing to stack, and an error; there the log is −∞": stacked,
    "exp of a large score is infinite, and exp of a very small one 0: log_softmax and logsumexp stay in logarithms":
        pointing(lambda every, right: (right.exp().sum() / every.exp().sum()).log()),
    "e^score is too large for a float of Python's, and an error: logsumexp leaves out what is common to all scores":
        pointing(by_floats),
    "the log of a chance that is rounded to 0 is −∞: log_softmax and logsumexp do not leave the logarithms": pointing(
        lambda every, right: (right - every.logsumexp(0)).exp().sum().log()),
}
