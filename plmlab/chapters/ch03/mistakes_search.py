"""Wrong answers to the exercises 03.4, 03.5 and 03.6, the search for a likely text, under the names of their mistakes,
and what holds of any right one."""

from collections.abc import Callable
from heapq import heappop, heappush
from math import exp, inf

import torch
from torch import Tensor

from plmlab.exercises.mistakes import Mistakes, Properties

# 03.4, one step of beam search

Step = tuple[Tensor, Tensor, Tensor]


def summed(scores: Tensor, logprobs: Tensor) -> Tensor:
    """The log-probabilities of all ways to go on, [open vocab]."""
    return scores[:, None] + logprobs


def possible(sums: Tensor, width: int) -> int:
    """How many can be kept of a table of sums."""
    return min(width, int(sums.isfinite().sum()))


def best_of(sums: Tensor, width: int, most: Callable[[Tensor, int], int] = possible) -> Step:
    """The best of a table of sums [open vocab]: rows, tokens, sums."""
    best = sums.flatten().topk(most(sums, width))
    return best.indices // sums.shape[1], best.indices % sums.shape[1], best.values


def step(
    sums: Callable[[Tensor, Tensor], Tensor] = summed, most: Callable[[Tensor, int], int] = possible,
    give: Callable[..., Step] = lambda kept, scores, logprobs: kept,
) -> Callable[[Tensor, Tensor, int], Step]:
    """The exercise's function with other sums, another number of them that is kept, or with something else to give,
    ``give((rows, tokens, sums), scores, logprobs)``."""
    return lambda scores, logprobs, width: give(best_of(sums(scores, logprobs), width, most), scores, logprobs)


def in_order(order: Callable[[Step], Tensor]) -> Callable[..., Step]:
    """What was kept, in another order."""
    def give(kept: Step, *_: Tensor) -> Step:
        rows, tokens, sums = (part[order(kept)] for part in kept)
        return rows, tokens, sums
    return give


def from_each(scores: Tensor, logprobs: Tensor, width: int) -> Step:
    """The best ``width`` of each open text, one text after the other."""
    parts = [best_of(row[None], width) for row in summed(scores, logprobs)]
    rows = [part + row for row, (part, _, _) in enumerate(parts)]
    return torch.cat(rows), torch.cat([part[1] for part in parts]), torch.cat([part[2] for part in parts])


def once_each(scores: Tensor, logprobs: Tensor, width: int) -> Step:
    """Each open text with its best token only, the best of them."""
    sums = summed(scores, logprobs)
    return best_of(sums.where(sums == sums.amax(1, keepdim=True), -inf), width)


def of_the_best_text(scores: Tensor, logprobs: Tensor, width: int) -> Step:
    """The best tokens after the likeliest open text only."""
    sums = summed(scores, logprobs)
    return best_of(sums.where(torch.arange(len(scores))[:, None] == scores.argmax(), -inf), width)


def worst(scores: Tensor, logprobs: Tensor, width: int) -> Step:
    """The least likely steps, the least likely first."""
    sums = summed(scores, logprobs)
    rows, tokens, kept = best_of(sums.where(sums.isfinite(), inf).neg(), width)
    return rows, tokens, -kept


def added_across(scores: Tensor, logprobs: Tensor) -> Tensor:
    """The scores laid along the tokens: it runs where there are as many of both, or one."""
    return scores + logprobs


def sideways(scores: Tensor, logprobs: Tensor, width: int) -> Step:
    """Places of the table laid on its side, read as if it stood upright."""
    sums = summed(scores, logprobs)
    best = sums.T.flatten().topk(possible(sums, width))
    return best.indices // sums.shape[1], best.indices % sums.shape[1], best.values


def by_open(scores: Tensor, logprobs: Tensor, width: int) -> Step:
    """// and % by the number of open texts."""
    sums = summed(scores, logprobs)
    best = sums.flatten().topk(possible(sums, width))
    return best.indices // len(scores), best.indices % len(scores), best.values


BEAM: Mistakes = {
    "the best of each open text are taken, `width` of each; take the `width` best of all": from_each,
    "each open text goes on with its best token only; two that are kept may come from one text": once_each,
    "only the likeliest open text goes on; a text that is behind now may overtake it": of_the_best_text,
    "// and % have changed places: // by the vocabulary is the row, % is the token": step(
        give=lambda kept, *_: (kept[1], kept[0], kept[2])),
    "the places are divided by the number of open texts; a row of the table is as long as the vocabulary": by_open,
    "the table is laid on its side before it becomes one row, so that // and % find wrong places": sideways,
    "the places of the long row are given for rows; // by the vocabulary is the row": step(
        give=lambda kept, scores, logprobs: (kept[0] * logprobs.shape[1] + kept[1], kept[1], kept[2])),
    "the places of the long row are given for tokens; % by the vocabulary is the token": step(
        give=lambda kept, scores, logprobs: (kept[0], kept[0] * logprobs.shape[1] + kept[1], kept[2])),
    "log-probabilities are multiplied; chances are, and their logarithms are added":
        step(lambda scores, logprobs: scores[:, None] * logprobs),
    "the scores so far are left out: only the new token counts": step(lambda scores, logprobs: logprobs.clone()),
    "the scores so far are left out of the sums, though not of the choice": step(
        give=lambda kept, scores, logprobs: (kept[0], kept[1], logprobs[kept[0], kept[1]])),
    "the sums are those of the texts before: the new token is not added": step(
        give=lambda kept, scores, logprobs: (kept[0], kept[1], scores[kept[0]])),
    "the scores lie along the tokens; scores[:, None] gives each row its own": step(added_across),
    "the mean of score and token is taken; they are added": step(lambda scores, logprobs: summed(scores, logprobs) / 2),
    "chances are added, and log-probabilities are expected": step(lambda scores, logprobs: torch.logaddexp(
        scores[:, None].expand_as(logprobs), logprobs)),
    "these are chances; log-probabilities are expected": step(
        give=lambda kept, *_: (kept[0], kept[1], kept[2].exp())),
    "the chance of a long text underflows to 0: add logarithms, and never take exp of them": step(
        lambda scores, logprobs: (scores[:, None].exp() * logprobs.exp()).log(),
        lambda sums, width: min(width, sums.numel())),
    "the chance of a long text underflows to 0, so that none is left: add logarithms, and never take exp of them": step(
        lambda scores, logprobs: (scores[:, None].exp() * logprobs.exp()).log()),
    "the softmax is taken once more: what may not be written passes its share to no other token": step(
        lambda scores, logprobs: summed(scores, logprobs.log_softmax(-1))),
    "this is the least likely first, and the best are lost": worst,
    "the best are kept, but the least likely of them stands first": step(give=in_order(lambda kept: kept[2].argsort())),
    "the best are kept, but in the order of the texts; the best stands first": step(
        give=in_order(lambda kept: (kept[0] * 10 ** 6 + kept[1]).argsort())),
    "topk cannot give more than there are: ask for min(width, …)": step(most=lambda sums, width: width),
    "steps with a sum of −∞ are kept, which cannot be written": step(most=lambda sums, width: min(width, sums.numel())),
    "no more are kept than texts are open; `width` says how many": step(
        most=lambda sums, width: min(possible(sums, width), len(sums))),
    "no more are kept than there are tokens; all open texts together may go on in more ways": step(
        most=lambda sums, width: min(possible(sums, width), sums.shape[1])),
    "one too many is kept": step(most=lambda sums, width: possible(sums, width + 1)),
    "twice the width is kept": step(most=lambda sums, width: possible(sums, 2 * width)),
    "only the best of all is kept": step(most=lambda sums, width: possible(sums, 1)),
    "the sums come first; give rows, tokens, sums": step(give=lambda kept, *_: (kept[2], kept[0], kept[1])),
}


def there(out: Step, scores: Tensor, logprobs: Tensor) -> bool:
    """Whether all rows and tokens are in the table."""
    sizes = zip(out[:2], logprobs.shape, strict=True)
    return all(bool(((part >= 0) & (part < size)).all()) for part, size in sizes)


OF_A_STEP: Properties = {
    "a row or a token is not there: they are counted from 0": lambda out, scores, logprobs, width:
        there(out, scores, logprobs),
    "a sum is not the score of its row plus the log-probability of its token": lambda out, scores, logprobs, width:
        there(out, scores, logprobs) and torch.allclose(
            out[2].float(), summed(scores, logprobs)[out[0].long(), out[1].long()], atol=1e-3),
    "the sums are not in order: the largest comes first": lambda out, *_: bool((out[2].diff() <= 1e-4).all()),
}


# 03.5, the length penalty

Rank = tuple[Tensor, Tensor]


def sort(scores: Tensor) -> Rank:
    """The order and the scores in that order."""
    ordered, order = scores.sort(descending=True, stable=True)
    return order, ordered


def ranked(
    score: Callable[[Tensor, Tensor, float], Tensor], order: Callable[[Tensor], Rank] = sort,
    counted: Callable[[Tensor, int], Tensor] = torch.sub,
) -> Callable[[Tensor, Tensor, int, float], Rank]:
    """The exercise's function with another ``score(logprobs, written, alpha)``, another order, or tokens that are
    ``counted(lengths, prompt)`` otherwise."""
    return lambda logprobs, lengths, prompt, alpha: order(score(logprobs, counted(lengths, prompt), alpha))


def penalty(written: Tensor, alpha: float) -> Tensor:
    """What a log-probability is divided by (Wu et al. 2016, eq. 14)."""
    return ((5 + written) / 6) ** alpha


def normalised(logprobs: Tensor, written: Tensor, alpha: float) -> Tensor:
    """The exercise's own score."""
    return logprobs / penalty(written, alpha)


def by(order: Callable[[Tensor], Rank]) -> Callable[[Tensor, Tensor, int, float], Rank]:
    """The right scores in another order."""
    return ranked(normalised, order)


def backwards(scores: Tensor) -> Rank:
    """Sorted upwards, and then turned round: equal scores are turned round too."""
    ordered, order = scores.sort(stable=True)
    return order.flip(0), ordered.flip(0)


def upwards(scores: Tensor) -> Rank:
    """The worst first."""
    ordered, order = scores.sort(stable=True)
    return order, ordered


RANK: Mistakes = {
    "the log-probability is multiplied by the penalty: being below 0, it falls for a long text; divide":
        ranked(lambda logprobs, written, alpha: logprobs * penalty(written, alpha)),
    "the prompt's tokens are counted; only what was written counts":
        ranked(normalised, counted=lambda lengths, prompt: lengths),
    "the prompt's tokens are added once more; they are taken off": ranked(normalised, counted=torch.add),
    "the prompt alone is counted": ranked(normalised, counted=lambda lengths, prompt: torch.full_like(lengths, prompt)),
    "this is the mean for each token; the penalty is ((5 + n) / 6)**alpha":
        ranked(lambda logprobs, written, alpha: logprobs / written),
    "this is the mean for each token, the prompt's counted; the penalty is ((5 + n) / 6)**alpha":
        ranked(lambda logprobs, lengths, alpha: logprobs / lengths, counted=lambda lengths, prompt: lengths),
    "the penalty is n**alpha; it is ((5 + n) / 6)**alpha":
        ranked(lambda logprobs, written, alpha: logprobs / written ** alpha),
    "the penalty is lengths**alpha, with the prompt; it is ((5 + n) / 6)**alpha, without it":
        ranked(lambda logprobs, lengths, alpha: logprobs / lengths ** alpha, counted=lambda lengths, prompt: lengths),
    "the 5 is missing: the penalty is ((5 + n) / 6)**alpha":
        ranked(lambda logprobs, written, alpha: logprobs / (written / 6) ** alpha),
    "the 6 is missing: the penalty is ((5 + n) / 6)**alpha":
        ranked(lambda logprobs, written, alpha: logprobs / (5 + written) ** alpha),
    "alpha is missing: this is the penalty (5 + n) / 6": ranked(lambda logprobs, written, alpha: normalised(
        logprobs, written, 1.0)),
    "there is no penalty: these are the log-probabilities": ranked(lambda logprobs, written, alpha: logprobs.clone()),
    "alpha multiplies the penalty; it is a power, ** and not *": ranked(lambda logprobs, written, alpha: logprobs / (
        (5 + written) / 6 * alpha)),
    "alpha multiplies the score; it is a power, ** and not *, and that of the penalty": ranked(
        lambda logprobs, written, alpha: logprobs / ((5 + written) / 6) * alpha),
    "only the 6 is raised: ** binds tighter than /, so (5 + n) / 6 stands in parentheses of its own":
        ranked(lambda logprobs, written, alpha: logprobs / ((5 + written) / 6 ** alpha)),
    "only n is divided by 6: 5 + n stands in parentheses": ranked(lambda logprobs, written, alpha: logprobs / (
        5 + written / 6) ** alpha),
    "a / b / c is (a / b) / c: the penalty stands in parentheses of its own": ranked(lambda logprobs, written, alpha:
        logprobs / (5 + written) / 6 ** alpha),
    "the whole score is raised, and a number below 0 has no such power: only the penalty has":
        ranked(lambda logprobs, written, alpha: (logprobs / ((5 + written) / 6)) ** alpha),
    "the penalty is cut to whole numbers: // is not /": ranked(lambda logprobs, written, alpha: logprobs / (
        (5 + written) // 6) ** alpha),
    "the penalty is taken away; the log-probability is divided by it": ranked(lambda logprobs, written, alpha:
        logprobs - penalty(written, alpha)),
    "the penalty is added; the log-probability is divided by it": ranked(lambda logprobs, written, alpha:
        logprobs + penalty(written, alpha)),
    "the chances are divided; the log-probabilities are": ranked(lambda logprobs, written, alpha:
        logprobs.exp() / penalty(written, alpha)),
    "the sign is wrong: these scores are above 0, and the worst stands first": ranked(lambda logprobs, written, alpha:
        -normalised(logprobs, written, alpha)),
    "the worst stands first: a score nearer to 0 is better": by(upwards),
    "of equal texts the later stands first: a row that is turned round, .flip or [::-1], turns those round too":
        by(backwards),
    "the scores are not in that order: they stand as they were given": by(lambda scores: (sort(scores)[0], scores)),
    "the scores come first; give the order, and then the scores": by(lambda scores: sort(scores)[::-1]),
    "these are ranks, the place that each text comes to; asked is which text stands at each place":
        by(lambda scores: (sort(scores)[0].argsort(), sort(scores)[1])),
    "the order is counted from 1; the first place is 0": by(lambda scores: (sort(scores)[0] + 1, sort(scores)[1])),
    "the order is that of the log-probabilities; it is that of the scores": lambda logprobs, lengths, prompt, alpha: (
        sort(logprobs)[0], normalised(logprobs, lengths - prompt, alpha)[sort(logprobs)[0]]),
    "nothing is put in order": by(lambda scores: (torch.arange(len(scores)), scores)),
}

OF_A_RANK: Properties = {
    "the order does not name each text once": lambda out, logprobs, *_: torch.equal(
        out[0].sort().values.long(), torch.arange(len(logprobs))),
    "a score is above 0: a log-probability is below, and so is what it is divided to": lambda out, *_: bool(
        (out[1] <= 1e-4).all()),
    "the scores are not in order: the largest comes first": lambda out, *_: bool((out[1].diff() <= 1e-4).all()),
}


# 03.6, the likeliest text of all

Text = tuple[int, ...]
Asked = Callable[[Text], Tensor]
Found = tuple[Text, float]


def steps(ask: Asked, text: Text) -> list[tuple[int, float]]:
    """Each next token of a text with its log-probability."""
    return list(enumerate(ask(text).tolist()))


def deep(
    go: Callable[[float, float, float], bool] = lambda longer, before, best: longer > best,
    finished: Callable[[Text, int, int], bool] = lambda text, end, length: text[-1:] == (end,) or len(text) == length,
    counts: Callable[[Text, int], bool] = lambda text, end: True, least: Found = ((), -inf),
    longer: Callable[[float, float], float] = lambda total, logprob: total + logprob,
) -> Callable[[Asked, int, int], Found]:
    """A search into the depth with something in it otherwise: whether to ``go`` on, by the log-probabilities of the
    text with a token more, without it, and of the best so far; which texts are ``finished``, and of these which
    count; what the best begins with; what the ``longer`` text's log-probability is."""
    def answer(ask: Asked, end: int, length: int) -> Found:
        best = least

        def search(text: Text, total: float) -> None:
            nonlocal best
            if finished(text, end, length):
                if counts(text, end) and total > best[1]:
                    best = text, total
                return
            for token, logprob in steps(ask, text):
                if go(longer(total, logprob), total, best[1]):
                    search((*text, token), longer(total, logprob))

        search((), 0.0)
        return best
    return answer


def beam(width: int) -> Callable[[Asked, int, int], Found]:
    """Beam search: the best ``width`` of all open and finished texts are kept after each token."""
    def answer(ask: Asked, end: int, length: int) -> Found:
        kept: list[Found] = [((), 0.0)]
        for _ in range(length):
            grown = [found for found in kept if found[0][-1:] == (end,)]
            grown += [((*text, token), total + logprob) for text, total in kept if text[-1:] != (end,)
                      for token, logprob in steps(ask, text)]
            kept = sorted(grown, key=lambda found: -found[1])[:width]
        return kept[0]
    return answer


def piled(sign: int, early: bool) -> Callable[[Asked, int, int], Found]:
    """A search that goes on with the first of a pile, and stops ``early``, at the first finished text that is put on
    it; a ``sign`` of 1 puts the least likely first."""
    def answer(ask: Asked, end: int, length: int) -> Found:
        pile: list[tuple[float, Text]] = [(0.0, ())]
        while True:
            cost, text = heappop(pile)
            if text[-1:] == (end,) or len(text) == length:
                return text, sign * cost
            for token, logprob in steps(ask, text):
                if early and (token == end or len(text) == length - 1):
                    return (*text, token), sign * cost + logprob
                heappush(pile, (cost + sign * logprob, (*text, token)))
    return answer


def given_back(make: Callable[[Text, float, int], Found]) -> Callable[[Asked, int, int], Found]:
    """The right text and its log-probability, given back otherwise: ``make(text, logprob, end)``."""
    return lambda ask, end, length: make(*piled(-1, False)(ask, end, length), end)


LIKELIEST: Mistakes = {
    "the likeliest token is taken at each step; a likely beginning may have no likely end": beam(1),
    "this keeps two texts after each token: beam search, which may drop the beginning of the best": beam(2),
    "this keeps three texts after each token: beam search, which may drop the beginning of the best": beam(3),
    "this asks about texts that cannot win any more: a text that is less likely than a finished one only loses more":
        deep(lambda longer, before, best: longer > -inf),
    "the text before the new token is compared with the best; compare the one with it":
        deep(lambda longer, before, best: before > best),
    "the comparison stands on its head: a text that is likelier than the best is dropped":
        deep(lambda longer, before, best: longer <= best or best == -inf),
    "a maximum that starts at 0 finds nothing, for every log-probability is below 0: begin with −∞":
        deep(least=((), 0.0)),
    "the end at once is left out: it is a text as any other": deep(
        counts=lambda text, end: text != (end,)),
    "a text that is cut at its full length is left out: it is finished, too": deep(
        counts=lambda text, end: text[-1] == end),
    "only texts of the full length count; one with the end is finished, too": deep(
        finished=lambda text, end, length: len(text) == length),
    "a text of the full length is asked to go on: it is finished, and has no end to wait for": deep(
        finished=lambda text, end, length: text[-1:] == (end,)),
    "the text stops one token before the full length": deep(
        finished=lambda text, end, length: text[-1:] == (end,) or len(text) == max(1, length - 1)),
    "the end is taken to be 0; it is `end`": lambda ask, end, length: piled(-1, False)(ask, 0, length),
    "the log-probability of the last token is taken for that of the text: add them all up":
        deep(longer=lambda total, logprob: logprob),
    "log-probabilities are multiplied; chances are, and their logarithms are added":
        deep(longer=lambda total, logprob: total * logprob if total else logprob),
    "the first finished text that comes up is taken; a likelier one may still come": piled(-1, True),
    "heapq gives the smallest first, and that is the least likely: store minus the log-probability": piled(1, False),
    "the end is missing in the text: it is a token of it": given_back(lambda text, total, end: (
        text[:-1] if text[-1] == end else text, total)),
    "this is the chance of the text; asked is its log-probability": given_back(lambda text, total, end: (
        text, exp(total))),
    "the sign is wrong: a log-probability is below 0": given_back(lambda text, total, end: (text, -total)),
    "this is the mean for each token; asked is the sum": given_back(lambda text, total, end: (text, total / len(text))),
}
