"""Wrong answers to the exercises 14.1 and 14.2, what System 1 is taught and what it points at, under the names of their
mistakes, and what holds of any right one."""

from collections.abc import Callable, Iterable
from math import log

import torch
from torch import Tensor
from torch.nn import functional as F

from plmlab.exercises.mistakes import Mistakes, Properties, by_exp

# 14.1, what System 1 is taught

Slots = list[int]


def pointing(
    cost: Callable[[Tensor, Slots], Tensor] = lambda logp, targets: -logp[targets].mean(), *,
    chances: Callable[[Tensor], Tensor] = lambda logits: logits.log_softmax(0),
    nothing: Callable[[Tensor], Slots] = lambda logits: [0],
) -> Callable[[Tensor, Slots], Tensor]:
    """The exercise's function with another cost, made from log-probabilities and targets; with something else in the
    place of the log-probabilities; or with other targets where there is nothing to point at."""
    return lambda logits, targets: cost(chances(logits), targets or nothing(logits))


def gold(logits: Tensor, targets: Slots) -> Tensor:
    """gt: 1/k at each of k targets, 0 elsewhere."""
    share = torch.zeros_like(logits)
    share[targets] = 1 / len(targets)
    return share


def as_zeros(logits: Tensor, targets: Slots) -> Tensor:
    """Nothing is lost where there is nothing to point at."""
    return pointing()(logits, targets) if targets else logits.new_zeros(())


def two_classes(logits: Tensor, targets: Slots) -> Tensor:
    """Each slot by itself, as a yes or no."""
    return F.binary_cross_entropy_with_logits(logits, (gold(logits, targets) > 0).float())


POINTING: Mistakes = {
    "each target has the weight 1, and the costs are added up: of k targets each weighs 1/k":
        pointing(lambda logp, targets: -logp[targets].sum()),
    "only the first target counts; each of k weighs 1/k": pointing(lambda logp, targets: -logp[targets[0]]),
    "only the last target counts: a loop begins anew with = where += adds up":
        pointing(lambda logp, targets: -logp[targets[-1]]),
    "only the likeliest of the targets counts; each of k weighs 1/k":
        pointing(lambda logp, targets: -logp[targets].max()),
    "only the unlikeliest of the targets counts; each of k weighs 1/k":
        pointing(lambda logp, targets: -logp[targets].min()),
    "the sum is divided by the number of slots: .mean() over all slots, where the weights 1/k need .sum()":
        pointing(lambda logp, targets: -logp[targets].mean() / len(logp)),
    "where there is nothing to point at, the loss is 0; there [CLS] is to be pointed at": as_zeros,
    "where there is nothing to point at, 0 is divided by 0 (the mean of no number is NaN); there [CLS] is the target":
        pointing(nothing=lambda logits: []),
    "where there is nothing to point at, all slots are targets; only [CLS] is":
        pointing(nothing=lambda logits: [*range(len(logits))]),
    "where there is nothing to point at, the last slot is the target; it is slot 0, [CLS]":
        pointing(nothing=lambda logits: [-1]),
    "[CLS] is a target beside the others; it is one only where there is no other":
        lambda logits, targets: pointing()(logits, [0, *targets]),
    "the softmax runs over the targets alone, so that one target costs nothing; it runs over all slots":
        lambda logits, targets: pointing()(logits[targets or [0]], [*range(len(targets) or 1)]),
    "this is −log of the mean of the chances; asked is the mean of −log of each":
        pointing(lambda logp, targets: log(len(targets)) - logp[targets].logsumexp(0)),
    "this is −log of the sum of the chances, so that one of the targets is enough; each of k weighs 1/k":
        pointing(lambda logp, targets: -logp[targets].logsumexp(0)),
    "the minus is missing": pointing(lambda logp, targets: logp[targets].mean()),
    "the log is missing: these are chances": pointing(lambda logp, targets: -logp[targets].exp().mean()),
    "the log2 counts bits; asked is the natural log, in nats": pointing(
        lambda logp, targets: -logp[targets].mean() / log(2)),
    "the softmax is missing: these are logits": pointing(chances=lambda logits: logits),
    "the softmax is done twice: log_softmax and cross_entropy take logits": pointing(
        chances=lambda logits: logits.softmax(0).log_softmax(0)),
    "exp of a large logit is infinite, and exp of a very small one 0: use log_softmax": pointing(
        chances=lambda logits: by_exp(logits).log()),
    "log after softmax: a chance that is rounded to 0 has the log −∞; use log_softmax": pointing(
        chances=lambda logits: logits.softmax(0).log()),
    "each slot is a question of yes or no by itself (a sigmoid, binary cross-entropy); one softmax runs over all slots":
        lambda logits, targets: two_classes(logits, targets or [0]),
    "this is the Kullback–Leibler divergence, which is less by log k": pointing(
        lambda logp, targets: -logp[targets].mean() - log(len(targets))),
    "0 times −∞ is NaN: pick the targets' log-probabilities, instead of multiplying all by gt": pointing(
        lambda logp, targets: -(gold(logp, targets) * logp).sum()),
}


def between_its_targets(loss: Tensor, logits: Tensor, targets: Slots) -> bool:
    """Whether a loss lies between those of the cheapest and the dearest target."""
    each = -logits.log_softmax(0)[targets or [0]]
    return bool(each.min() - 1e-3 <= loss <= each.max() + 1e-3)


OF_POINTING: Properties = {
    "the loss is less than that of the likeliest target, or more than that of the unlikeliest": between_its_targets,
}


# 14.2, the spans of a paragraph

Spans = list[tuple[int, int]]
Answer = Callable[[Tensor, Tensor, int, int], Spans]


def largest_first(numbers: Tensor, slots: Iterable[int]) -> Slots:
    """Slots, from that with the largest number on."""
    return sorted(slots, key=lambda slot: -float(numbers[slot]))


def above(starts: Tensor, floor: float | Tensor) -> Slots:
    """The slots whose start is above ``floor``, the largest first."""
    return [slot for slot in largest_first(starts, range(len(starts))) if starts[slot] > floor]


def right_starts(starts: Tensor, ends: Tensor, most: int) -> Slots:
    """Where spans start."""
    return above(starts, starts[0])[:most]


def right_end(ends: Tensor, start: int, longest: int) -> int:
    """The slot behind the last of a span."""
    return start + int(ends[start:start + longest].argmax()) + 1


def spanning(begin: Callable[[Tensor, Tensor, int], Slots] = right_starts,
             end: Callable[[Tensor, int, int], int] = right_end) -> Answer:
    """The exercise's function with other starts, made from both rows of logits and how many are asked for, or with
    another end for each."""
    return lambda starts, ends, most, longest: [(start, end(ends, start, longest))
                                                for start in begin(starts, ends, most)]


right = spanning()


def ending(among: Callable[[Tensor, int, int], tuple[int, int]]) -> Answer:
    """The exercise's function with an end that is the largest of other slots: from the first on, without the last."""
    def end(ends: Tensor, start: int, longest: int) -> int:
        first, behind = among(ends, start, longest)
        return first + int(ends[first:behind].argmax()) + 1
    return spanning(end=end)


def from_zero_up(ends: Tensor, start: int, longest: int) -> int:
    """The slot behind the last of a span, if its end is above 0; else the span is its first slot."""
    return right_end(ends, start, longest) if ends[start:start + longest].max() > 0 else start + 1


def by_ends(starts: Tensor, ends: Tensor, most: int, longest: int) -> Spans:
    """The spans whose ends are largest; of equal ends the first in the text."""
    every = sorted(right(starts, ends, len(starts), longest))
    return sorted(every, key=lambda span: -float(ends[span[1] - 1]))[:most]


def by_sum(starts: Tensor, ends: Tensor, most: int, longest: int) -> Spans:
    """The spans whose start and end together are largest."""
    every = right(starts, ends, len(starts), longest)
    return sorted(every, key=lambda span: -float(starts[span[0]] + ends[span[1] - 1]))[:most]


def in_pairs(starts: Tensor, ends: Tensor, most: int, longest: int) -> Spans:
    """The largest start with the largest end, the second with the second, and so on."""
    slots = largest_first(ends, range(len(ends)))
    return [(start, end + 1) for start, end in zip(right_starts(starts, ends, most), slots, strict=False)]


def apart(starts: Tensor, ends: Tensor, most: int, longest: int) -> Spans:
    """The spans that overlap with none that stands before them in the list."""
    kept: Spans = []
    for first, behind in right(starts, ends, most, longest):
        if all(behind <= begin or first >= end for begin, end in kept):
            kept.append((first, behind))
    return kept


def ends_above(starts: Tensor, ends: Tensor, most: int, longest: int) -> Spans:
    """The spans whose end, too, is above that of [CLS]."""
    return [(first, behind) for first, behind in right(starts, ends, most, longest) if ends[behind - 1] > ends[0]]


def topk_of_too_few(starts: Tensor, ends: Tensor, most: int, longest: int) -> Spans:
    """An error where there are fewer slots than are asked for."""
    starts.topk(most)
    return right(starts, ends, most, longest)


def last_slots(starts: Tensor, ends: Tensor, most: int, longest: int) -> Spans:
    """Each span with its last slot, in the place of the one behind it."""
    return [(first, behind - 1) for first, behind in right(starts, ends, most, longest)]


def words_of(starts: Tensor, ends: Tensor, most: int, longest: int) -> Spans:
    """The spans counted from the first slot behind [CLS]."""
    return [(first - 1, behind - 1) for first, behind in right(starts, ends, most, longest)]


SPANS: Mistakes = {
    "[CLS] is not asked: so many spans are given, however small their starts are; only starts above [CLS] count":
        spanning(lambda starts, ends, most: largest_first(starts, range(1, len(starts)))[:most]),
    "[CLS] is not asked, and may start a span itself; only starts above it count":
        spanning(lambda starts, ends, most: largest_first(starts, range(len(starts)))[:most]),
    "a start that is equal to [CLS] counts, and so [CLS] starts a span itself: > for >=":
        spanning(lambda starts, ends, most: [slot for slot in largest_first(starts, range(len(starts)))
                                             if starts[slot] >= starts[0]][:most]),
    "a start that is equal to [CLS] counts; it must be above: > for >=":
        spanning(lambda starts, ends, most: [slot for slot in largest_first(starts, range(1, len(starts)))
                                             if starts[slot] >= starts[0]][:most]),
    "starts above 0 count; what matters is whether they are above [CLS]":
        spanning(lambda starts, ends, most: above(starts, 0.0)[:most]),
    "starts above 0 count, [CLS] left out; what matters is whether they are above [CLS]":
        spanning(lambda starts, ends, most: [slot for slot in above(starts, 0.0) if slot][:most]),
    "the starts are compared with the *end* of [CLS]":
        spanning(lambda starts, ends, most: above(starts, ends[0])[:most]),
    "starts above the mean count; what matters is whether they are above [CLS]":
        spanning(lambda starts, ends, most: above(starts, starts.mean())[:most]),
    "all starts above [CLS] are taken, and not only the `most` largest":
        spanning(lambda starts, ends, most: above(starts, starts[0])),
    "only the best span is given; asked are up to `most`": spanning(lambda starts, ends, most: above(
        starts, starts[0])[:1]),
    "one span too many: `most` counts from 1": spanning(lambda starts, ends, most: above(
        starts, starts[0])[:most + 1]),
    "one span too few: the largest starts are taken with [CLS] among them, which is no span": spanning(
        lambda starts, ends, most: above(starts, starts[0])[:most - 1]),
    "the first starts of the text are taken, in place of the largest": spanning(
        lambda starts, ends, most: sorted(above(starts, starts[0]))[:most]),
    "the first starts of the text are taken, and only then sorted; the largest of all are asked for": spanning(
        lambda starts, ends, most: largest_first(starts, sorted(above(starts, starts[0]))[:most])),
    "the spans stand in the order of the text; the largest start comes first": spanning(
        lambda starts, ends, most: sorted(right_starts(starts, ends, most))),
    "the smallest starts are taken: sort and argsort begin with the smallest, if they are not told otherwise":
        spanning(lambda starts, ends, most: [slot for slot in above(starts, starts[0]) if slot in largest_first(
            -starts, range(len(starts)))[:most]][::-1]),
    "of the starts above [CLS] the smallest are taken, the smallest first; the largest are asked for": spanning(
        lambda starts, ends, most: above(starts, starts[0])[::-1][:most]),
    "the spans stand in the right order turned round: the largest start comes first": spanning(
        lambda starts, ends, most: right_starts(starts, ends, most)[::-1]),
    "the spans are chosen and sorted by their ends; the starts decide": by_ends,
    "the spans are chosen and sorted by start and end together; the starts alone decide": by_sum,
    "the k-th start is paired with the k-th end; each start has an end of its own, near it": in_pairs,
    "the end is looked for in the whole text, and may stand before the start":
        ending(lambda ends, start, longest: (0, len(ends))),
    "the end is looked for in all of the text behind the start, however far: `longest` is forgotten":
        ending(lambda ends, start, longest: (start, len(ends))),
    "a span is one slot too long: the start counts as one of the `longest`":
        ending(lambda ends, start, longest: (start, start + longest + 1)),
    "a span has no room for its last slot: ends[start:start + longest] has `longest` slots already":
        ending(lambda ends, start, longest: (start, start + max(1, longest - 1))),
    "the end is looked for behind the start; a span may be one slot, which is its start and its end":
        ending(lambda ends, start, longest: (start + 1, start + longest)),
    "the end is looked for in the first slots of the text; the piece begins at the start":
        ending(lambda ends, start, longest: (0, longest)),
    "the end counts from the start: argmax of a piece counts from where the piece begins":
        spanning(end=lambda ends, start, longest: int(ends[start:start + longest].argmax()) + 1),
    "the last slot is given for the one behind it: add 1": last_slots,
    "the end counts from the start, and is the last slot, not the one behind it":
        spanning(end=lambda ends, start, longest: int(ends[start:start + longest].argmax())),
    "the largest end is looked for from 0 up, and all may lie below 0": spanning(end=from_zero_up),
    "every span is as long as it may be: the ends are not asked": spanning(
        end=lambda ends, start, longest: start + longest),
    "spans that overlap are left out; they may": apart,
    "the end has to be above that of [CLS] too; only the start is asked": ends_above,
    "topk stops with an error where there are fewer slots than it is asked for: take min(most, len(starts))":
        topk_of_too_few,
    "the slots are counted without [CLS]: the first of the paragraph is 1": words_of,
}
