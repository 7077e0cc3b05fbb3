"""Slips that people make in the exercises 12.3 and 12.4, written as they write them: each is named as what it is."""

import math

import pytest
import torch
from torch.nn import functional as F

from plmlab.exercises import check

# 12.3

def say(text=lambda source, said: [2, *source, 3, *said, 4], segment=lambda i, first, tokens: 5 if i >= first else 4,
        row=lambda table, source, t: table[-1].log_softmax(-1), end=(3,), give=sum, grow=lambda word, row: word):
    """A loop that lets the text grow by what was said."""
    def answer(logits, source, target):
        said, found = [], []
        for t, word in enumerate([*target, *end]):
            tokens = text(source, said)
            segments = [segment(i, len(source) + 2, tokens) for i in range(len(tokens))]
            logprobs = row(logits(tokens, segments), source, t)
            found.append(logprobs[word].item())
            said.append(grow(word, logprobs))
        return give(found)
    return answer


def at_once(logits, source, target):
    tokens = [2, *source, 3, *[4] * (len(target) + 1)]
    table = logits(tokens, [4] * (len(source) + 2) + [5] * (len(target) + 1)).log_softmax(-1)
    return table[len(source) + 2:].gather(1, torch.tensor([*target, 3])[:, None]).sum()


def as_gpt(logits, source, target):
    tokens = [2, *source, 3, *target, 3]
    table = logits(tokens, [4] * (len(source) + 2) + [5] * (len(target) + 1)).log_softmax(-1)
    return table[len(source) + 1:-1].gather(1, torch.tensor([*target, 3])[:, None]).sum()


def unmasked(logits, source, target):
    tokens = [2, *source, 3, *target, 3]
    table = logits(tokens, [4] * (len(source) + 2) + [5] * (len(target) + 1)).log_softmax(-1)
    return table[len(source) + 2:].gather(1, torch.tensor([*target, 3])[:, None]).sum()


def masks_stay(logits, source, target):
    tokens, total = [2, *source, 3], 0.0
    for word in [*target, 3]:
        tokens.append(4)
        segments = [4] * (len(source) + 2) + [5] * (len(tokens) - len(source) - 2)
        total += logits(tokens, segments)[-1].log_softmax(-1)[word].item()
        tokens.append(word)
    return total


def masks_all_stay(logits, source, target):
    """The word is never put in the place of its [MASK]."""
    tokens, total = [2, *source, 3], 0.0
    for word in [*target, 3]:
        tokens.append(4)
        segments = [4] * (len(source) + 2) + [5] * (len(tokens) - len(source) - 2)
        total += logits(tokens, segments)[-1].log_softmax(-1)[word].item()
    return total


def mean_loss(logits, source, target):
    rows = []
    for t in range(len(target) + 1):
        tokens = [2, *source, 3, *target[:t], 4]
        rows.append(logits(tokens, [4] * (len(source) + 2) + [5] * (t + 1))[-1])
    return F.cross_entropy(torch.stack(rows), torch.tensor([*target, 3]))


def of_probabilities(logits, source, target):
    rows = []
    for t in range(len(target) + 1):
        tokens = [2, *source, 3, *target[:t], 4]
        rows.append(logits(tokens, [4] * (len(source) + 2) + [5] * (t + 1))[-1].softmax(-1))
    return -F.cross_entropy(torch.stack(rows), torch.tensor([*target, 3]), reduction="sum")


def returned_early(logits, source, target):
    total = 0.0
    for t, word in enumerate([*target, 3]):
        tokens = [2, *source, 3, *target[:t], 4]
        total += logits(tokens, [4] * (len(source) + 2) + [5] * (t + 1))[-1].log_softmax(-1)[word].item()
        return total


# 12.4

def amounts(count=lambda slots, rate: max(1, round(rate * slots)), left=lambda n, p, k: n * (1 - p) ** k,
            give=lambda share, left: (share, left)):
    def answer(slots, rate, readings):
        asked = count(slots, rate)
        return give(asked / slots, left(slots, asked / slots, readings))
    return answer


def in_turn(slots, rate, readings):
    asked = max(1, round(rate * slots))
    left = slots
    for _ in range(readings):
        left = max(0, left - asked)
    return asked / slots, left


def whole_division(slots, rate, readings):
    asked = max(1, round(rate * slots))
    return asked // slots, slots * (1 - asked / slots) ** readings


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("12.3", at_once, "ll the [MASK]s stand in one text"),
    ("12.3", masks_all_stay, "ll the [MASK]s stand in one text"),
    ("12.3", as_gpt, "as in GPT"),
    ("12.3", unmasked, "sees the word that it says"),
    ("12.3", masks_stay, "[MASK]s stay in the text"),
    ("12.3", say(row=lambda table, source, t: table[-2].log_softmax(-1)), "as in GPT"),
    ("12.3", say(text=lambda source, said: [2, *source, 3, *said]), "as in GPT"),
    ("12.3", say(end=()), "that ends the target is not counted"),
    ("12.3", say(row=lambda table, source, t: table[t].log_softmax(-1)), "counted from the text's beginning"),
    ("12.3", say(row=lambda table, source, t: table[len(source) + t].log_softmax(-1)), "without [CLS] and [SEP]"),
    ("12.3", say(row=lambda table, source, t: table[len(source) + 1 + t].log_softmax(-1)), "as in GPT"),
    ("12.3", say(row=lambda table, source, t: table[0].log_softmax(-1)), "taken from the first slot, [CLS]"),
    ("12.3", say(row=lambda table, source, t: table.log_softmax(0)[-1]), "runs over the slots"),
    ("12.3", say(row=lambda table, source, t: table[-1]), "softmax is missing"),
    ("12.3", say(row=lambda table, source, t: table[-1].softmax(-1)), "robabilities are added up"),
    ("12.3", say(row=lambda table, source, t: table[-1].softmax(-1), give=math.prod), "is the probability; asked"),
    ("12.3", say(row=lambda table, source, t: table[-1].softmax(-1).log()), "robability underflows to 0, and"),
    ("12.3", say(row=lambda table, source, t: table[-1].softmax(-1), give=lambda found: sum(map(math.log, found))),
     "robability underflows to 0, which"),
    ("12.3", say(row=lambda table, source, t: (e := table[-1].exp()).div(e.sum()).log()), "and of one far below 0 it"),
    ("12.3", say(row=lambda table, source, t: table[-1] - table[-1].exp().sum().log()), ".logsumexp knows how"),
    ("12.3", of_probabilities, "softmax is taken twice"),
    ("12.3", mean_loss, "his is the loss: minus the mean"),
    ("12.3", say(give=lambda found: -sum(found)), "sign is wrong"),
    ("12.3", say(give=lambda found: sum(found) / len(found)), "mean over the words; asked"),
    ("12.3", say(give=lambda found: sum(found) / math.log(2)), "hese are bits"),
    ("12.3", say(give=math.prod), "og-probabilities are multiplied"),
    ("12.3", say(give=lambda found: found[-1]), "nly the last word counts"),
    ("12.3", returned_early, "nly the first word counts"),
    ("12.3", say(text=lambda source, said: [*source, 3, *said, 4]), "but the segments are counted with it"),
    ("12.3", say(text=lambda source, said: [2, *source, *said, 4]), "but the segments are counted with it"),
    ("12.3", say(text=lambda source, said: [2, *source, *said, 4], segment=lambda i, first, tokens: 4 + (
        i >= first - 1)), "here is no [SEP] between"),
    ("12.3", say(segment=lambda i, first, tokens: 4), "verything is of segment 4"),
    ("12.3", say(segment=lambda i, first, tokens: 5), "verything is of segment 5"),
    ("12.3", say(segment=lambda i, first, tokens: int(i >= first)), "0 and 1 are those of both directions"),
    ("12.3", say(segment=lambda i, first, tokens: 4 + (i >= first - 1)), "source's [SEP] is of segment 5"),
    ("12.3", say(segment=lambda i, first, tokens: 4 + (i >= first - 2)), "ends two slots too early"),
    ("12.3", say(segment=lambda i, first, tokens: 5 - (i >= first)), "egments 4 and 5 have changed places"),
    ("12.3", say(segment=lambda i, first, tokens: 4 if i < first or i == len(tokens) - 1 else 5), "[MASK] is of seg"),
    ("12.3", say(grow=lambda word, row: int(row.argmax())), "comes the likeliest word, not the target's"),
    ("12.3", say(text=lambda source, said: [2, *source, 3, *said[-1:], 4]), "nly the word said just before"),
    ("12.3", say(text=lambda source, said: [2, *source, 3, 4]), "words said before are not read"),
    ("12.4", amounts(count=lambda slots, rate: rate * slots), "rate is taken for the share"),
    ("12.4", amounts(count=lambda slots, rate: max(1, int(rate * slots))), "number is cut, not rounded"),
    ("12.4", amounts(count=lambda slots, rate: max(1, rate * slots // 1)), "number is cut, not rounded"),
    ("12.4", amounts(count=lambda slots, rate: math.ceil(rate * slots)), "number is rounded up"),
    ("12.4", amounts(count=lambda slots, rate: round(rate * slots)), "one slot at least"),
    ("12.4", amounts(count=lambda slots, rate: max(1, round(rate * (slots - 1)))), "words without the [SEP]"),
    ("12.4", amounts(left=lambda n, p, k: (1 - p) ** k), "is the chance of one slot"),
    ("12.4", amounts(left=lambda n, p, k: 1 - (1 - p) ** k), "chance that a slot is asked at least once"),
    ("12.4", amounts(left=lambda n, p, k: n - n * (1 - p) ** k), "slots which are asked at least once"),
    ("12.4", amounts(left=lambda n, p, k: n * p ** k), "which every reading asks"),
    ("12.4", amounts(left=lambda n, p, k: n * (1 - p) * k), "multiplied by the number of readings"),
    ("12.4", amounts(left=lambda n, p, k: n * (1 - p * k)), "until less than none is left"),
    ("12.4", amounts(left=lambda n, p, k: (n * (1 - p)) ** k), "raised to the power too"),
    ("12.4", amounts(left=lambda n, p, k: n * 1 - p ** k), "needs parentheses: ** binds before −"),
    ("12.4", amounts(left=lambda n, p, k: n * (1 - p ** k)), "and is taken off from 1"),
    ("12.4", amounts(left=lambda n, p, k: n * math.exp(-p * k)), "nly where the share is small"),
    ("12.4", amounts(left=lambda n, p, k: n * (1 - 1 / n) ** (round(p * n) * k)), "and to put each back"),
    ("12.4", amounts(give=lambda share, left: (left, share)), "numbers have changed places"),
    ("12.4", amounts(give=lambda share, left: (1 - share, left)), "share that is left out"),
    ("12.4", in_turn, "ask other slots than those before; it"),
    ("12.4", whole_division, "art 1 of the output, yours is 0"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


def test_a_power_written_as_in_a_formula_is_told() -> None:
    told = repr(check("12.4", amounts(left=lambda n, p, k: n * (1 - p) ^ k)))
    assert "^ is no power" in told


@pytest.mark.parametrize(("number", "answer"), [
    ("12.3", say()), ("12.4", amounts()),
])
def test_without_its_slip_each_of_these_ways_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)
