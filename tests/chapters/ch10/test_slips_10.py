"""Slips that people make in the exercises of chapter 10, written as they write them: each is named as what it is."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from plmlab.exercises import check

# 10.1

def remember(keep=lambda x, h, longest: x[:, max(0, x.shape[1] - longest):], dim=1):
    def answer(memory, h, longest):
        extended = torch.cat([memory.detach(), h], dim=dim)
        return extended, keep(extended, h, longest).detach()
    return answer


def never_detached(memory, h, longest):
    extended = torch.cat([memory, h], dim=1)
    return extended, extended[:, max(0, extended.shape[1] - longest):]


def all_detached(memory, h, longest):
    extended = torch.cat([memory, h], dim=1).detach()
    return extended, extended[:, max(0, extended.shape[1] - longest):]


def without_any_gradient(memory, h, longest):
    with torch.no_grad():
        extended = torch.cat([memory, h], dim=1)
        return extended, extended[:, max(0, extended.shape[1] - longest):]


def only_the_old_detached(memory, h, longest):
    extended = torch.cat([memory.detach(), h], dim=1)
    return extended, extended[:, max(0, extended.shape[1] - longest):]


def only_the_next_detached(memory, h, longest):
    extended = torch.cat([memory, h], dim=1)
    return extended, extended[:, max(0, extended.shape[1] - longest):].detach()


def rolling(memory, h, longest):
    """A buffer that is written over."""
    extended = torch.cat([memory.detach(), h], dim=1)
    with torch.no_grad():
        if memory.shape[1] == longest:
            memory.copy_(extended[:, extended.shape[1] - longest:])
            return extended, memory.detach()
    return extended, extended[:, max(0, extended.shape[1] - longest):].detach()


# 10.2

def shift(x, mask=True):
    head, query, key = x.shape
    x = F.pad(x, (1, 0)).view(head, key + 1, query)[:, 1:].reshape(head, query, key)
    return earlier(x) if mask else x


def earlier(x):
    return x.tril(x.shape[-1] - x.shape[-2])


def scores(content, position, finish=lambda x, q: x / q.shape[-1] ** 0.5, cover=earlier):
    def answer(q, k, r, u, v):
        return cover(finish(content(q, k, u) + position(q, r, v), q))
    return answer


def ac(q, k, u):
    return torch.matmul(q + u[:, None], k.transpose(-1, -2))


def bd(q, r, v):
    return shift(torch.matmul(q + v[:, None], r.transpose(-1, -2)), mask=False)


def four_loops(i_of=lambda i, query, key: key - query + i, sees=lambda i, j: j <= i):
    def answer(q, k, r, u, v):
        (head, query, width), key = q.shape, k.shape[1]
        out = torch.zeros(head, query, key)
        for n in range(head):
            for row in range(query):
                i = i_of(row, query, key)
                for j in range(key):
                    if sees(i, j):
                        far = r[n, key - 1 - (i - j)]
                        out[n, row, j] = (q[n, row] + u[n]) @ k[n, j] + (q[n, row] + v[n]) @ far
        return out / width ** 0.5
    return answer


def minus_infinity(x):
    look = earlier(torch.ones_like(x)).bool()
    return x.masked_fill(~look, float("-inf"))


# 10.3

def by_numpy(x):
    return torch.tensor(np.stack([np.roll(row, -(len(x) - 1 - i)) for i, row in enumerate(x.numpy())]))


def by_roll(steps, cover=earlier):
    return lambda x: cover(torch.stack([row.roll(steps(i, *x.shape)) for i, row in enumerate(x)]))


def by_view(pad=(1, 0), cut=lambda x: x[1:], cover=earlier):
    return lambda x: cover(cut(F.pad(x, pad).view(x.shape[1] + 1, x.shape[0])).reshape(x.shape))


def padded_and_turned(x):
    return earlier(F.pad(x, (1, 0)).transpose(0, 1)[1:].reshape(x.shape))


# 10.4

def farthest(step, floor=0):
    def answer(slot, layers, segment, memory):
        for _ in range(layers):
            slot = max(floor, step(slot, segment, memory))
        return slot
    return answer


def begin(slot, segment, memory):
    return slot // segment * segment - memory


# 10.5

def gain(baseline=lambda short: short.min(0).values, number=lambda n: max(1, round(n)), descending=True,
         cap=torch.minimum, measure=lambda f, after: 1 - (after.mean() - f.mean()).exp(), by=lambda base, long: base):
    def answer(short, long, share):
        base = baseline(short)
        hard = by(base, long).argsort(descending=descending)[:number(share * len(base))]
        return float(measure(base[hard], cap(base, long)[hard]))
    return answer


# 10.6

def mask(compare):
    return lambda query, memory: compare(torch.arange(query)[:, None], torch.arange(memory + query), memory)


def of_the_means(short: Tensor, long: Tensor, share: float) -> float:
    baseline = short.amin(0)
    hard = baseline.topk(max(1, round(share * len(baseline)))).indices
    f = baseline[hard].mean()
    return 1 - (torch.minimum(long[hard].mean(), f) - f).exp().item()


def sorted_apart(short: Tensor, long: Tensor, share: float) -> float:
    number = max(1, round(share * len(long)))
    f, after = (prices.sort().values[-number:].mean() for prices in (short.amin(0), torch.minimum(long, short.amin(0))))
    return 1 - (after - f).exp().item()


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("10.1", remember(lambda x, h, longest: x[:, -longest:]), "longest memory of 0 keeps everything"),
    ("10.1", remember(lambda x, h, longest: x[:, x.size(1) - longest:]), "the cut begins below 0"),
    ("10.1", remember(lambda x, h, longest: x[:, :longest]), "he first slots are kept"),
    ("10.1", remember(lambda x, h, longest: x[-longest:]), "last texts of the batch"),
    ("10.1", remember(lambda x, h, longest: h), "s many slots are remembered as the segment has"),
    ("10.1", remember(lambda x, h, longest: h[:, -longest:]), "nly slots of the segment are remembered, and all"),
    ("10.1", remember(lambda x, h, longest: h[:, max(0, h.shape[1] - longest):]), "where it is shorter than"),
    ("10.1", remember(lambda x, h, longest: x), "verything is remembered"),
    ("10.1", remember(lambda x, h, longest: x[:, -h.shape[1]:]), "as the segment has"),
    ("10.1", remember(dim=0), "along the batch"),
    ("10.1", remember(dim=-1), "along the width"),
    ("10.1", lambda memory, h, longest: remember()(h, memory, longest), "he memory stands behind the segment: "),
    ("10.1", lambda memory, h, longest: remember()(memory, h, longest)[::-1], "he next memory comes first"),
    ("10.1", rolling, "`memory` is changed in place"),
    ("10.2", scores(lambda q, k, u: ac(q, k, u), lambda q, r, v: (q + v[:, None]) @ r.mT), "othing is shifted"),
    ("10.2", lambda q, k, r, u, v: scores(ac, bd)(q, k, r, v, u), "vectors u and v have changed places"),
    ("10.2", scores(lambda q, k, u: q @ (k + u[:, None]).mT, bd), " is added to the keys;"),
    ("10.2", scores(lambda q, k, u: q @ (k + u[:, None]).mT,
                    lambda q, r, v: shift(q @ (r + v[:, None]).mT)), " is added to the keys and v to the distances"),
    ("10.2", lambda q, k, r, u, v: scores(ac, bd)(q + u[:, None] + v[:, None], k, r, 0 * u, 0 * v),
     "are both added to the query"),
    ("10.2", lambda q, k, r, u, v: scores(lambda *_: (q + u) @ k.mT, lambda *_: shift((q + v) @ r.mT))(q, k, r, u, v),
     "along the queries"),
    ("10.2", scores(ac, bd, finish=lambda x, q: x), "not divided by the root"),
    ("10.2", scores(ac, bd, finish=lambda x, q: x / (len(q) * q.shape[2]) ** 0.5), "the model's width"),
    ("10.2", scores(ac, bd, finish=lambda x, q: x / q.shape[-1] ** 1 / 2), "by the width and by 2"),
    ("10.2", scores(ac, bd, finish=lambda x, q: x * q.shape[-1] ** 0.5), "is multiplied by the root"),
    ("10.2", lambda q, k, r, u, v: (ac(q, k, u) + bd(q, r, v) / q.shape[-1] ** 0.5).tril(k.shape[1] - q.shape[1]),
     "nly the distances' part is divided"),
    ("10.2", scores(ac, lambda q, r, v: shift(q @ r.mT)), "erm (d) is left out"),
    ("10.2", scores(lambda q, k, u: q @ k.mT, bd), "erm (c) is left out"),
    ("10.2", scores(lambda q, k, u: u[:, None] @ k.mT, bd), "erm (a) is left out"),
    ("10.2", scores(ac, lambda q, r, v: shift((v[:, None] @ r.mT).repeat(1, q.shape[1], 1))), "erm (b) is left out"),
    ("10.2", scores(ac, bd, cover=lambda x: x), "numbers of the next row"),
    ("10.2", scores(ac, lambda q, r, v: shift((q + v[:, None]) @ r.mT), cover=lambda x: x), "of terms (a) and (c)"),
    ("10.2", scores(ac, bd, cover=torch.tril), "left out of the mask"),
    ("10.2", scores(ac, bd, cover=minus_infinity), "has the score −∞"),
    ("10.2", scores(ac, bd, cover=lambda x: minus_infinity(x).softmax(-1)), "hese are weights: "),
    ("10.2", scores(ac, bd, cover=lambda x: earlier(x).softmax(-1)), "hese are weights, over later"),
    ("10.2", scores(ac, lambda q, r, v: bd(q, r.flip(1), v)), "ounted from the front"),
    ("10.2", four_loops(i_of=lambda i, *_: i), "left out of distances and mask"),
    ("10.3", by_roll(lambda i, query, key: -i), "ow i moves by i columns"),
    ("10.3", by_roll(lambda i, query, key: query - 1 - i), "he rows move to the right"),
    ("10.3", by_roll(lambda i, query, key: 1 - query), "ll rows move by as much as the first"),
    ("10.3", by_roll(lambda i, query, key: i + 1 - query, cover=lambda x: x), "came in again on the right"),
    ("10.3", by_numpy, "came in again on the right"),
    ("10.3", by_roll(lambda i, query, key: i + 1 - query, cover=torch.tril), "left out of the mask"),
    ("10.3", by_view(cover=lambda x: x), "umbers of the next row"),
    ("10.3", by_view(pad=(0, 1)), "do the zeros stand behind"),
    ("10.3", by_view(cut=lambda x: x[:-1]), "he last of the new rows is left out, and"),
    ("10.3", by_view(pad=(0, 1), cut=lambda x: x[:-1]), "so that row i moves right by i"),
    ("10.3", by_view(cover=minus_infinity), "are −∞"),
    ("10.3", padded_and_turned, "he table is turned"),
    ("10.4", farthest(lambda slot, segment, memory: slot / segment * segment - memory), "nly the memory counts"),
    ("10.4", farthest(lambda slot, segment, memory: slot - memory), "nly the memory counts"),
    ("10.4", lambda slot, layers, segment, memory: max(0, (slot // segment - layers) * segment),
     "ne segment back, whatever the memory"),
    ("10.4", lambda slot, layers, segment, memory: max(0, slot // segment * segment - layers * memory),
     "nly the first layer goes"),
    ("10.4", farthest(begin, floor=-999), "t is below 0"),
    ("10.4", lambda slot, layers, *lengths: farthest(begin)(slot, layers - 1, *lengths), "ayer is missing"),
    ("10.4", lambda slot, layers, *lengths: farthest(begin)(slot, layers + 1, *lengths), "oo many"),
    ("10.4", farthest(lambda slot, segment, memory: -(-slot // segment) * segment - memory), "counted up, not down"),
    ("10.4", farthest(lambda slot, segment, memory: round(slot / segment) * segment - memory), "to the nearest"),
    ("10.4", farthest(lambda slot, segment, memory: (slot // segment - memory) * segment), "for a number of segments"),
    ("10.4", farthest(lambda slot, segment, memory: (slot // segment - memory // segment) * segment), "hole segments;"),
    ("10.4", farthest(lambda slot, segment, memory: slot // segment * segment), "he memory is left out"),
    ("10.5", gain(baseline=lambda short: short[0]), "he first system's price"),
    ("10.5", gain(baseline=lambda short: short.mean(0)), "he mean of the systems; it is the smallest"),
    ("10.5", gain(baseline=lambda short: short.max(0).values), "he largest price of any system"),
    ("10.5", gain(descending=False), "he easiest targets"),
    ("10.5", gain(by=lambda base, long: long), "by their price with the longer context"),
    ("10.5", gain(number=lambda n: None), "ll targets count"),
    ("10.5", gain(number=lambda n: max(1, int(n))), "is cut, not rounded"),
    ("10.5", gain(number=round), "o target is left"),
    ("10.5", gain(cap=lambda base, long: long), "may cost more than the baseline"),
    ("10.5", gain(measure=lambda f, after: f.mean() - after.mean()), "difference of the mean prices"),
    ("10.5", gain(measure=lambda f, after: 1 - after.exp().mean() / f.exp().mean()), "erplexities are averaged"),
    ("10.5", gain(measure=lambda f, after: 1 - (after - f).exp().mean()), "he gain of each target is averaged"),
    ("10.5", gain(measure=lambda f, after: f.mean().exp() / after.mean().exp() - 1), "with the longer context"),
    ("10.5", gain(measure=lambda f, after: f.mean().exp() - after.mean().exp()), "difference of the perplexities"),
    ("10.5", gain(measure=lambda f, after: 1 - after.mean() / f.mean()), "share of the price"),
    ("10.5", gain(measure=lambda f, after: 1 - 2 ** (after.mean() - f.mean())), "taken for bits"),
    ("10.5", lambda short, long, share: gain()(torch.cat([torch.zeros(1, len(long)), short]), long, share),
     "from 0 on"),
    ("10.5", of_the_means, "he lesser of the two means"),
    ("10.5", sorted_apart, "of the longer one apart"),
    ("10.6", mask(lambda i, j, memory: (j <= i + memory) & (j >= i)), "sees memory + 1 slots"),
    ("10.6", mask(lambda i, j, memory: (j <= i) & (j > i - memory)), "uery i is taken for key i; the memory"),
    ("10.6", mask(lambda i, j, memory: j <= i), "and sees all up to it"),
    ("10.6", mask(lambda i, j, memory: j > i), "sees what comes after it"),
    ("10.6", mask(lambda i, j, memory: j <= i + memory), "ll of the memory is seen"),
    ("10.6", mask(lambda i, j, memory: (j < i + memory) & (j > i)), "t is the last of the slots that it sees"),
    ("10.6", mask(lambda i, j, memory: (j < i + memory) & (j >= i)), "before it, and not itself"),
    ("10.6", mask(lambda i, j, memory: (j > i + memory) | (j <= i)), "True marks what is blocked"),
    ("10.6", lambda query, memory: torch.ones(query, query, dtype=torch.bool).tril(), "has the shape"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


@pytest.mark.parametrize(("answer", "words"), [
    (never_detached, "gradient flows back into the memory"),
    (only_the_next_detached, "gradient flows back into the memory"),
    (all_detached, "o gradient flows back into the segment"),
    (without_any_gradient, "o gradient flows back into the segment"),
    (only_the_old_detached, "gradient flows back through the next memory"),
])
def test_a_gradient_that_goes_astray_is_named_though_all_numbers_are_right(answer, words: str) -> None:
    feedback = check("10.1", answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer"), [
    ("10.1", remember()), ("10.2", scores(ac, bd)), ("10.2", four_loops()), ("10.3", by_view()),
    ("10.3", by_roll(lambda i, query, key: i + 1 - query)),
    ("10.4", farthest(begin)), ("10.5", gain()),
    ("10.6", mask(lambda i, j, memory: (j <= i + memory) & (j > i))),
])
def test_without_its_slip_each_of_these_ways_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)
