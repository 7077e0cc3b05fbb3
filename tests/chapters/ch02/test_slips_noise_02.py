"""Slips that people make in the exercises 02.3, 02.4 and 02.6, as they write them: each is named as what it is."""

import math

import pytest
import torch
from torch.nn import functional as F

from plmlab.exercises import check

# 02.3

def raised_in_place(counts, power):
    counts **= power
    return counts / counts.sum()


# 02.4

def loss(near=lambda w, c: (w * c).sum(-1), far=lambda w, n: torch.einsum("bd,bkd->bk", w, n),
         join=lambda near, far: -(F.logsigmoid(near) + F.logsigmoid(-far).sum(-1)).mean()):
    return lambda word, context, negatives: join(near(word, context), far(word, negatives))


def joined(join):
    return loss(join=join)


def labelled(cost, *arguments, **options):
    """All scores, the right one first, and labels for them."""
    def answer(word, context, negatives):
        scores = torch.einsum("bd,bkd->bk", word, torch.cat([context.unsqueeze(1), negatives], dim=1))
        labels = torch.zeros_like(scores)
        labels[:, 0] = 1
        return cost(scores, labels, *arguments, **options)
    return answer


def sigmoid(x):
    return 1 / (1 + torch.exp(-x))


# 02.6

def pmi(words=lambda p, power: p.sum(1, keepdim=True), noise=lambda p, power: p.sum(0) ** power / (
        p.sum(0) ** power).sum(), shift=lambda told, k: told - math.log(k), log=torch.log,
        joint=lambda counts: counts / counts.sum(), end=lambda told, counts: told.masked_fill(counts == 0, -math.inf)):
    def answer(counts, k, power):
        p = joint(counts)
        q = counts / counts.sum()
        return end(shift(log(p / (words(q, power) * noise(q, power))), k), counts)
    return answer


def untouched(told, counts):
    return told


def little_in_place(counts, k, power):
    told = pmi()(counts, k, power)
    counts[counts == 0] = 1e-9
    return told


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("02.3", lambda counts, power: counts / counts.sum(), "he power does nothing"),
    ("02.3", lambda counts, power: counts * power / (counts * power).sum(), "counts * power is no power"),
    ("02.3", lambda counts, power: (counts / counts.sum()) ** power, "aised after they were made to add up to 1"),
    ("02.3", lambda counts, power: counts ** power, "hese are powers"),
    ("02.3", lambda counts, power: counts ** power / counts.sum(), "ivided by the sum of the counts"),
    ("02.3", lambda counts, power: counts / counts.sum() * power, "** is the power, * is not"),
    ("02.3", lambda counts, power: counts ** (3 / 4) / (counts ** (3 / 4)).sum(), "he power is always 3/4"),
    ("02.3", lambda counts, power: counts ** (3 // 4) / (counts ** (3 // 4)).sum(), "3 // 4 is 0"),
    ("02.3", lambda counts, power: counts ** (4 / 3) / (counts ** (4 / 3)).sum(), "yours is"),
    ("02.3", lambda counts, power: counts ** (1 / power) / (counts ** (1 / power)).sum(), "he power stands on its"),
    ("02.3", lambda counts, power: torch.softmax(counts, 0), "his is a softmax of the counts"),
    ("02.3", lambda counts, power: (counts ** power).softmax(-1), "his is a softmax of the powers"),
    ("02.3", lambda counts, power: counts.log() / counts.log().sum(), "ogarithms of the counts in the place"),
    ("02.3", lambda counts, power: torch.log1p(counts) / torch.log1p(counts).sum(), "ogarithms of the counts and 1"),
    ("02.3", lambda counts, power: (counts + 1) ** power / ((counts + 1) ** power).sum(), "1 is added to every count"),
    ("02.3", lambda counts, power: F.normalize(counts ** power, dim=0), "rought to length 1"),
    ("02.3", lambda counts, power: (counts ** power).cumsum(0) / (counts ** power).sum(), "as a table to draw from"),
    ("02.3", lambda counts, power: counts ** power // (counts ** power).sum(), "// leaves whole numbers"),
    ("02.3", raised_in_place, "The answer is right, but `counts` is changed in place"),
    ("02.4", joined(lambda near, far: -(F.logsigmoid(near) + F.logsigmoid(-far).mean(-1)).mean()), "averaged over k"),
    ("02.4", joined(lambda near, far: -F.logsigmoid(near).mean() - F.logsigmoid(-far).mean()), "averaged over k"),
    ("02.4", joined(lambda near, far: -F.logsigmoid(near).sum() - F.logsigmoid(-far).sum()), "he batch is added up"),
    ("02.4", joined(lambda near, far: -F.logsigmoid(near) - F.logsigmoid(-far).sum(-1)), "ne loss for each pair"),
    ("02.4", joined(lambda near, far: (F.logsigmoid(near) + F.logsigmoid(-far).sum(-1)).mean()), "he sign is wrong"),
    ("02.4", joined(lambda near, far: -(F.logsigmoid(near) + F.logsigmoid(far).sum(-1)).mean()), "are drawn near"),
    ("02.4", joined(lambda near, far: -F.logsigmoid(near).mean() + F.logsigmoid(-far).sum(-1).mean()), "s taken away"),
    ("02.4", joined(lambda near, far: -(torch.log(torch.sigmoid(near)) + torch.log(torch.sigmoid(-far)).sum(
        -1)).mean()), "log 0 is −∞"),
    ("02.4", joined(lambda near, far: -(torch.log(sigmoid(near)) + torch.log(1 - sigmoid(far)).sum(-1)).mean()),
     "log 0 is −∞"),
    ("02.4", joined(lambda near, far: torch.log(1 + torch.exp(-near)).mean() + torch.log(1 + torch.exp(far)).sum(
        1).mean()), "log 0 is −∞"),
    ("02.4", joined(lambda near, far: -(sigmoid(near).log() + sigmoid(-far).log().mean(-1)).mean()), "averaged over k"),
    ("02.4", joined(lambda near, far: -(torch.sigmoid(near) + torch.sigmoid(-far).sum(-1)).mean()), "he logarithm is"),
    ("02.4", joined(lambda near, far: -(F.logsigmoid(near) - (1 - F.logsigmoid(far)).sum(-1)).mean()), "1 − log σ(w"),
    ("02.4", joined(lambda near, far: -(F.logsigmoid(torch.sigmoid(near)) + F.logsigmoid(1 - torch.sigmoid(far)).sum(
        -1)).mean()), "1 − σ, and logsigmoid of it"),
    ("02.4", joined(lambda near, far: F.cross_entropy(torch.cat([near[:, None], far], 1), torch.zeros(
        len(near), dtype=torch.long))), "his is a softmax"),
    ("02.4", labelled(F.binary_cross_entropy_with_logits), "he mean over pairs and negatives alike"),
    ("02.4", labelled(F.binary_cross_entropy_with_logits, reduction="sum"), "he batch is added up"),
    ("02.4", labelled(lambda scores, labels: F.binary_cross_entropy(
        scores.sigmoid(), labels, reduction="sum") / len(scores)), "cuts every logarithm off at −100"),
    ("02.4", loss(near=lambda w, c: w @ c.T), "ach word is scored with every pair's context"),
    ("02.4", loss(far=lambda w, n: w @ n.transpose(1, 2), join=lambda near, far: -F.logsigmoid(
        near).mean() - F.logsigmoid(-far).sum(-1).mean()), "eets the negatives of all pairs"),
    ("02.4", loss(far=lambda w, n: (w * n).sum(-1)), "gives each word to its own"),
    ("02.4", loss(far=lambda w, n: w @ n.sum(1).T, join=lambda near, far: -(F.logsigmoid(near) + F.logsigmoid(
        -far.diag())).mean()), "are added before the sigmoid"),
    ("02.4", loss(far=lambda w, n: (w * n.mean(1)).sum(-1, keepdim=True)), "are averaged before the sigmoid"),
    ("02.4", lambda word, context, negatives: loss()(context, word, negatives), "he context is scored with the"),
    ("02.4", lambda word, context, negatives: loss()(*(
        F.normalize(part, dim=-1) for part in (word, context, negatives))), "he scores are cosines"),
    ("02.4", lambda word, context, negatives: -(F.logsigmoid(word * context).sum(-1) + F.logsigmoid(
        -word[:, None] * negatives).sum(-1).sum(-1)).mean(), "ach number has a sigmoid; a"),
    ("02.6", pmi(shift=lambda told, k: told), "he shift is missing"),
    ("02.6", pmi(shift=lambda told, k: told + math.log(k)), "he shift has the wrong sign"),
    ("02.6", pmi(shift=lambda told, k: told - k), "he shift is k itself"),
    ("02.6", pmi(end=lambda told, counts: F.relu(told.nan_to_num(0))), "the positive one"),
    ("02.6", pmi(end=lambda told, counts: torch.clamp(told, min=0)), "the positive one"),
    ("02.6", pmi(shift=lambda told, k: told, end=lambda told, counts: told.nan_to_num(0).clamp(min=0)), "trix, PPMI"),
    ("02.6", pmi(end=untouched), "0 divided by 0 is NaN"),
    ("02.6", pmi(end=lambda told, counts: told.masked_fill(counts == 0, 0)), "as if it came as often as by chance"),
    ("02.6", pmi(end=lambda told, counts: told.nan_to_num(-math.inf)), "unless neginf says otherwise"),
    ("02.6", pmi(end=lambda told, counts: torch.nan_to_num(told)), "unless nan and neginf say otherwise"),
    ("02.6", pmi(end=lambda told, counts: torch.where(told.isnan(), 0.0, told)), " context never comes there is 0"),
    ("02.6", pmi(end=lambda told, counts: told.nan_to_num(0, neginf=0)), "as if it came as often as by chance"),
    ("02.6", pmi(noise=lambda p, power: p.sum(0)), "he power is missing"),
    ("02.6", pmi(noise=lambda p, power: p.sum(0) ** power), "do not add up to 1 any more"),
    ("02.6", pmi(noise=lambda p, power: p.sum(0) ** 0.75 / (p.sum(0) ** 0.75).sum()), "he power is always 3/4"),
    ("02.6", pmi(noise=lambda p, power: (p ** power).sum(0) / (p ** power).sum()), "ach count is raised before"),
    ("02.6", pmi(lambda p, power: p.sum(1, keepdim=True) ** power / (p.sum(1) ** power).sum()), "on words and con"),
    ("02.6", pmi(lambda p, power: p.sum(0), lambda p, power: p.sum(1, keepdim=True) ** power / (
        p.sum(1) ** power).sum()), "he power is on the words"),
    ("02.6", pmi(lambda p, power: p.sum(1)), "needs keepdim=True"),
    ("02.6", pmi(lambda p, power: 1), "he words' chances are missing"),
    ("02.6", pmi(noise=lambda p, power: 1), "how likely a context is beside its word"),
    ("02.6", pmi(joint=lambda counts: counts), "he pairs' counts are not divided"),
    ("02.6", lambda counts, k, power: (counts / (counts.sum(1, keepdim=True) * counts.sum(0) ** power)).log(
        ).masked_fill(counts == 0, -math.inf) - math.log(k), "he contexts' powers are not divided"),
    ("02.6", pmi(log=torch.log2), "he logarithm to base 2 meets"),
    ("02.6", pmi(log=torch.log2, shift=lambda told, k: told - math.log2(k)), "ogarithms to base 2; log"),
    ("02.6", pmi(log=torch.log10, shift=lambda told, k: told - math.log10(k)), "ogarithms to base 10; log"),
    ("02.6", pmi(log=lambda ratio: ratio), "nly k has one"),
    ("02.6", lambda counts, k, power: pmi()(counts + 1, k, power), "1 is added to every count"),
    ("02.6", little_in_place, "The answer is right, but `counts` is changed in place"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer", "error"), [
    ("02.3", lambda counts, power: counts ** power / power.sum(), "no attribute 'sum'"),
    ("02.4", loss(far=lambda w, n: n @ w), "matmul: Input operand 1 has a mismatch"),
    ("02.6", pmi(shift=lambda told, k: told - torch.log(k)), "log(): argument 'input'"),
])
def test_what_cannot_run_is_shown_with_its_error_and_a_way_to_go_on(number: str, answer, error: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "error" and error in repr(feedback) and "\nPrint " in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer"), [
    ("02.4", loss()), ("02.6", pmi()),
    ("02.6", pmi(end=lambda told, counts: told.nan_to_num(-math.inf, neginf=-math.inf))),
])
def test_without_its_slip_each_of_these_ways_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)
