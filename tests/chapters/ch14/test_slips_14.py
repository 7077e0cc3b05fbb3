"""Slips that people make in the exercises 14.1 and 14.2, written as they write them: each is named as what it is."""

from math import log

import pytest
import torch
from torch.nn import functional as F

from plmlab.exercises import check

# 14.1

def weighed(logp=lambda logits: logits.log_softmax(dim=0), weight=lambda k: 1 / k, cost=lambda gt, logp: -(
            gt[gt > 0] * logp[gt > 0]).sum(), none=(0,), more=()):
    """A row of weights, and the sum of its products."""
    def answer(logits, targets):
        if not targets:
            targets = [slot % len(logits) for slot in none]
        gt = torch.zeros_like(logits)
        gt[[*more, *targets]] = weight(len({*more, *targets})) if targets else 0.0
        return cost(gt, logp(logits))
    return answer


def looped(begin=0.0, add=lambda total, cost: total + cost, end=lambda total, k: total / k, none=(0,),
           cost=lambda logits, target: F.cross_entropy(logits[None], torch.tensor([target]))):
    """Target by target."""
    def answer(logits, targets):
        targets = targets if targets else list(none)
        total = torch.tensor(begin)
        for target in targets:
            total = add(total, cost(logits, target))
        return end(total, len(targets))
    return answer


def soft_targets(logits, targets):
    """cross_entropy with probabilities multiplies padding's −∞ by 0."""
    gt = torch.zeros(len(logits))
    gt[targets or [0]] = 1 / len(targets or [0])
    return F.cross_entropy(logits, gt)


def divergence(logits, targets):
    gt = torch.zeros(len(logits))
    gt[targets or [0]] = 1 / len(targets or [0])
    asked = gt > 0
    return F.kl_div(logits.log_softmax(0)[asked], gt[asked], reduction="sum")


def early_zero(logits, targets):
    if not targets:
        return torch.tensor(0.0)
    return looped()(logits, targets)


def mean_of_none(logits, targets):
    return -logits.log_softmax(0)[targets].mean()


def marginal(logits, targets):
    p = logits.double().softmax(0)
    return -torch.log(p[targets or [0]].mean()).float()


def among_targets(logits, targets):
    return -logits[targets or [0]].log_softmax(0).mean()


def yes_or_no(logits, targets):
    wanted = torch.zeros(len(logits))
    wanted[targets or [0]] = 1
    return F.binary_cross_entropy_with_logits(logits, wanted)


# 14.2

def by_topk(most=lambda most, starts: min(most, len(starts)), floor=lambda starts, ends: starts[0],
            above=torch.gt, piece=lambda ends, start, longest: ends[start:start + longest],
            end=lambda start, place: start + place + 1, largest=True, skip=(), finish=lambda spans, most: spans):
    """The K largest starts, one after the other."""
    def answer(starts, ends, given, longest):
        spans = []
        for start in starts.topk(most(given, starts), largest=largest).indices.tolist():
            if start not in skip and above(starts[start], floor(starts, ends)):
                spans.append((start, end(start, int(piece(ends, start, longest).argmax()))))
        return finish(spans, given)
    return answer


def along_the_text(rank=lambda i, j, s, e: s[i], first=1, above=lambda s, i: s[i] > s[0], best=float("-inf"),
                   begin=lambda i: i, reach=lambda i, longest: i + longest, behind=1,
                   cut=lambda spans, most: spans[:most], reverse=True):
    """Slot by slot, in plain Python; sorted in the end."""
    def answer(starts, ends, most, longest):
        s, e, spans = starts.tolist(), ends.tolist(), []
        for i in range(first, len(s)):
            if above(s, i):
                high, last = best, i
                for j in range(begin(i), min(reach(i, longest), len(e))):
                    if e[j] > high:
                        high, last = e[j], j
                spans.append((rank(i, last, s, e), i, last + behind))
        spans.sort(key=lambda span: span[0], reverse=reverse)
        return [(i, j) for _, i, j in cut(spans, most)]
    return answer


def zipped(starts, ends, most, longest):
    k = min(most, len(starts))
    pairs = zip(starts.topk(k).indices.tolist(), ends.topk(k).indices.tolist(), strict=True)
    return [(start, end + 1) for start, end in pairs if starts[start] > starts[0]]


def without_cls(starts, ends, most, longest):
    """[CLS] is cut off, and so the slots move."""
    cls, starts, ends = starts[0], starts[1:], ends[1:]
    order = starts.argsort(descending=True)[:most].tolist()
    return [(i, i + ends[i:i + longest].argmax().item() + 1) for i in order if starts[i] > cls]


def one_only(starts, ends, most, longest):
    start = int(starts.argmax())
    if starts[start] <= starts[0]:
        return []
    return [(start, start + int(ends[start:start + longest].argmax()) + 1)]


def first_of_the_text(starts, ends, most, longest):
    slots = torch.nonzero(starts > starts[0]).flatten()[:most]
    slots = slots[starts[slots].argsort(descending=True)]
    return [(i, i + int(ends[i:i + longest].argmax()) + 1) for i in slots.tolist()]


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("14.1", weighed(weight=lambda k: 1), "ach target has the weight 1"),
    ("14.1", weighed(cost=lambda gt, logp: -(gt[gt > 0] * logp[gt > 0]).sum() / len(gt)), ".mean() over all slots"),
    ("14.1", weighed(cost=lambda gt, logp: -(gt * logp).mean()), ".mean() over all slots"),
    ("14.1", weighed(cost=lambda gt, logp: -(gt * logp).sum()), "0 times −∞ is NaN"),
    ("14.1", soft_targets, "0 times −∞ is NaN"),
    ("14.1", weighed(cost=lambda gt, logp: (gt[gt > 0] * logp[gt > 0]).sum()), "minus is missing"),
    ("14.1", weighed(logp=lambda logits: logits.softmax(0)), "log is missing"),
    ("14.1", weighed(logp=lambda logits: logits), "softmax is missing"),
    ("14.1", weighed(logp=lambda logits: logits.softmax(0).log_softmax(0)), "softmax is done twice"),
    ("14.1", weighed(logp=lambda logits: logits.softmax(0).log()), "og after softmax"),
    ("14.1", weighed(logp=lambda logits: (logits.exp() / logits.exp().sum()).log()), "xp of a large logit"),
    ("14.1", weighed(logp=lambda logits: logits.log_softmax(0) / log(2)), "log2 counts bits"),
    ("14.1", weighed(logp=lambda logits: logits.softmax(0).log2()), "log2 counts bits"),
    ("14.1", weighed(none=range(40)), "all slots are targets"),
    ("14.1", weighed(none=(-1,)), "the last slot is the target"),
    ("14.1", weighed(more=(0,)), "is a target beside the others"),
    ("14.1", early_zero, "the loss is 0; there [CLS]"),
    ("14.1", weighed(none=()), "the loss is 0; there [CLS]"),
    ("14.1", mean_of_none, "the mean of no number is NaN"),
    ("14.1", marginal, "−log of the mean of the chances"),
    ("14.1", among_targets, "runs over the targets alone"),
    ("14.1", yes_or_no, "question of yes or no by itself"),
    ("14.1", divergence, "Kullback–Leibler"),
    ("14.1", looped(end=lambda total, k: total), "ach target has the weight 1"),
    ("14.1", looped(add=lambda total, cost: cost, end=lambda total, k: total), "nly the last target counts"),
    ("14.1", looped(begin=9e9, add=torch.minimum, end=lambda total, k: total), "nly the likeliest of the targets"),
    ("14.1", looped(begin=-9e9, add=torch.maximum, end=lambda total, k: total), "nly the unlikeliest of the targets"),
    ("14.1", looped(none=[-1], cost=lambda logits, t: -logits.log_softmax(0)[t]), "the last slot is the target"),
    ("14.1", looped(cost=lambda logits, t: F.cross_entropy(logits.softmax(0), torch.tensor(t))), "done twice"),
    ("14.1", lambda logits, targets: F.cross_entropy(logits, torch.tensor((targets or [0])[0])), "nly the first tar"),
    ("14.2", by_topk(most=lambda most, starts: most), "opk stops with an error"),
    ("14.2", by_topk(above=torch.ge), "so [CLS] starts a span itself: > for >="),
    ("14.2", by_topk(above=torch.ge, skip=(0,), most=lambda most, starts: min(most + 1, len(starts)),
                     finish=lambda spans, most: spans[:most]), "it must be above: > for >="),
    ("14.2", by_topk(above=lambda start, floor: True), "may start a span itself; only"),
    ("14.2", by_topk(floor=lambda starts, ends: 0), "tarts above 0 count; what"),
    ("14.2", by_topk(floor=lambda starts, ends: ends[0]), "compared with the *end* of [CLS]"),
    ("14.2", by_topk(floor=lambda starts, ends: starts.mean()), "tarts above the mean count"),
    ("14.2", by_topk(piece=lambda ends, start, longest: ends, end=lambda start, place: place + 1),
     "in the whole text, and may stand before the start"),
    ("14.2", by_topk(piece=lambda ends, start, longest: ends[start:]), "`longest` is forgotten"),
    ("14.2", by_topk(piece=lambda ends, start, longest: ends[start:start + longest + 1]), "one slot too long"),
    ("14.2", by_topk(piece=lambda ends, start, longest: ends[start:max(start + 1, start + longest - 1)]),
     "no room for its last slot"),
    ("14.2", by_topk(piece=lambda ends, start, longest: ends[:longest], end=lambda start, place: place + 1),
     "in the first slots of the text"),
    ("14.2", by_topk(piece=lambda ends, start, longest: ends[start + 1:start + longest],
                     end=lambda start, place: start + place + 2), "may be one slot, which is its start and its end"),
    ("14.2", by_topk(end=lambda start, place: place + 1), "end counts from the start: argmax"),
    ("14.2", by_topk(end=lambda start, place: place), "end counts from the start, and is the last slot"),
    ("14.2", by_topk(end=lambda start, place: start + place), "ast slot is given for the one behind"),
    ("14.2", by_topk(largest=False), "mallest starts are taken: sort"),
    ("14.2", by_topk(most=lambda most, starts: len(starts)), "ll starts above [CLS] are taken, and not only"),
    ("14.2", by_topk(finish=lambda spans, most: sorted(spans)), "in the order of the text; the largest"),
    ("14.2", by_topk(finish=lambda spans, most: spans[::-1]), "right order turned round"),
    ("14.2", along_the_text(cut=lambda spans, most: spans), "ll starts above [CLS] are taken, and not only"),
    ("14.2", along_the_text(above=lambda s, i: s[i] >= s[0]), "it must be above: > for >="),
    ("14.2", along_the_text(above=lambda s, i: s[i] >= s[0], first=0), "so [CLS] starts a span itself"),
    ("14.2", along_the_text(above=lambda s, i: True), "so many spans are given, however small"),
    ("14.2", along_the_text(above=lambda s, i: s[i] > 0), "tarts above 0 count, [CLS] left out"),
    ("14.2", along_the_text(best=0), "ooked for from 0 up"),
    ("14.2", along_the_text(rank=lambda i, j, s, e: s[i] + e[j]), "by start and end together"),
    ("14.2", along_the_text(rank=lambda i, j, s, e: e[j]), "sorted by their ends"),
    ("14.2", along_the_text(rank=lambda i, j, s, e: 0), "first starts of the text are taken, in place"),
    ("14.2", along_the_text(reverse=False), "he smallest first; the largest are asked for"),
    ("14.2", along_the_text(behind=0), "ast slot is given for the one behind"),
    ("14.2", along_the_text(reach=lambda i, longest: i + longest + 1), "one slot too long"),
    ("14.2", along_the_text(reach=lambda i, longest: 999), "`longest` is forgotten"),
    ("14.2", along_the_text(begin=lambda i: 0, reach=lambda i, longest: 999), "may stand before the start"),
    ("14.2", zipped, "k-th start is paired with the k-th end"),
    ("14.2", without_cls, "counted without [CLS]"),
    ("14.2", one_only, "nly the best span"),
    ("14.2", first_of_the_text, "first starts of the text are taken, and only then sorted"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer"), [
    ("14.1", weighed()), ("14.1", looped()), ("14.2", by_topk()), ("14.2", along_the_text())])
def test_without_its_slip_each_of_these_ways_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)
