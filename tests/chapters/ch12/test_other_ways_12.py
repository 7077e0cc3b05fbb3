"""Other right ways to solve the exercises of chapter 12, which are not refused."""

from itertools import product
from math import exp, log

import pytest
import torch
from torch.nn import functional as F

from plmlab.exercises import check


def mask_in_loops(source, target):
    time = source + target
    return torch.tensor([[k < source or source <= k <= q for k in range(time)] for q in range(time)])


def mask_by_columns(source, target):
    mask = torch.ones(source + target, source + target, dtype=torch.bool).tril()
    mask[:, :source] = True
    return mask


def mask_by_blocks(source, target):
    top = torch.cat([torch.ones(source, source), torch.zeros(source, target)], dim=1)
    bottom = torch.cat([torch.ones(target, source), torch.tril(torch.ones(target, target))], dim=1)
    return torch.cat([top, bottom]).bool()


def mask_by_moved_triangle(source, target):
    mask = torch.zeros(source + target, source + target, dtype=torch.bool)
    mask[:source, :source] = True
    mask[source:] = torch.ones(target, source + target, dtype=torch.bool).tril(diagonal=source)
    return mask


def mask_by_sums(source, target):
    """Of each slot, how many target slots there are up to it: a key is seen where there are no more."""
    sums = torch.tensor([0] * source + [1] * target).cumsum(0)
    return sums[None, :] <= sums[:, None]


def kinds_in_loops(segments):
    texts, time = segments.shape
    out = torch.zeros(texts, time, time, dtype=torch.bool)
    for b, q, k in product(range(texts), range(time), range(time)):
        asks, asked = segments[b, q].item(), segments[b, k].item()
        if asks != -1 and asked != -1:
            out[b, q, k] = (asked in (0, 1, 4) or (asked == 3 and k >= q)
                            or (asked == 2 and k <= q) or (asked == 5 and asks == 5 and k <= q))
    return out


def kinds_by_text(segments):
    masks = []
    for text in segments:
        time, real = len(text), text >= 0
        triangle = torch.ones(time, time).tril().bool()
        kind = text.max()
        if kind <= 1:
            mask = torch.ones(time, time, dtype=torch.bool)
        elif kind == 2:
            mask = triangle
        elif kind == 3:
            mask = triangle.mT
        else:
            mask = triangle | (text == 4)
        masks.append(mask & real & real[:, None])
    return torch.stack(masks)


def kinds_by_table(segments):
    """A mask for each segment; of each key, the column of that of its segment. Row −1 of the table is padding's."""
    time = segments.shape[1]
    ones = torch.ones(time, time, dtype=torch.bool)
    table = torch.stack([ones, ones, ones.tril(), ones.triu(), ones, ones.tril(), ~ones])
    columns = torch.stack([table[text, :, torch.arange(time)].T for text in segments])
    return columns & (segments != -1).unsqueeze(-1)


def kinds_by_where(segments):
    q, k = segments.unsqueeze(2), segments.unsqueeze(1)
    i = torch.arange(segments.size(1))
    left = (i.unsqueeze(1) >= i).expand(len(segments), -1, -1)
    seen = torch.where((k == 2) | (k == 5), left, torch.where(k == 3, left.mT, torch.tensor(True)))
    return seen.logical_and(q.ne(-1)).logical_and(k.ne(-1))


def said_in_place(logits, source, target):
    """The whole target stands there; what comes behind the [MASK] is not seen."""
    text, first = [2, *source, 3, *target, 3], len(source) + 2
    segments = [4] * first + [5] * (len(text) - first)
    return sum(logits([*text[:t], 4, *text[t + 1:]], segments)[t].log_softmax(-1)[text[t]] for t in
               range(first, len(text)))


def said_by_cross_entropy(logits, source, target):
    tokens, loss = [2, *source, 3], 0.0
    for word in [*target, 3]:
        asked = [*tokens, 4]
        segments = torch.tensor([4] * (len(source) + 2) + [5] * (len(asked) - len(source) - 2))
        loss += F.cross_entropy(logits(torch.tensor(asked), segments)[-1:], torch.tensor([word])).item()
        tokens = [*tokens, word]
    return -loss


def said_by_hand(logits, source, target):
    found = []
    for t in range(len(target) + 1):
        tokens = [2, *source, 3, *target[:t], 4, 3]
        row = logits(tokens, [4 if i < len(source) + 2 else 5 for i in range(len(tokens))])[len(source) + 2 + t]
        row = row - row.max()
        found.append(row[target[t] if t < len(target) else 3] - torch.log(torch.exp(row).sum()))
    return torch.stack(found).sum()


def said_by_recursion(logits, source, target):
    def say(words, before):
        if not words:
            return 0.0
        tokens = [2, *source, 3, *before, 4]
        row = torch.log_softmax(logits(tokens, [4] * (2 + len(source)) + [5] * (len(before) + 1)), dim=1)[-1]
        return row[words[0]].item() + say(words[1:], [*before, words[0]])
    return say([*target, 3], [])


def never_by_log(slots, rate, readings):
    asked = round(rate * slots) or 1
    if asked == slots:
        return 1.0, 0.0 if readings else float(slots)
    return asked / slots, exp(log(slots) + readings * log(1 - asked / slots))


def never_by_loop(slots, rate, readings):
    asked = max(int(rate * slots + 0.5), 1)
    left = slots
    for _ in range(readings):
        left = left - left * asked / slots
    return [asked / slots, left]


def never_by_tensors(slots, rate, readings):
    asked = torch.tensor(rate * slots).round().clamp(min=1)
    return asked / slots, ((slots - asked) / slots).expand(slots).pow(readings).sum()


@pytest.mark.parametrize(("number", "answer"), [
    ("12.1", mask_in_loops), ("12.1", mask_by_columns), ("12.1", mask_by_blocks), ("12.1", mask_by_moved_triangle),
    ("12.1", mask_by_sums),
    ("12.2", kinds_in_loops), ("12.2", kinds_by_text), ("12.2", kinds_by_table), ("12.2", kinds_by_where),
    ("12.3", said_in_place), ("12.3", said_by_cross_entropy), ("12.3", said_by_hand), ("12.3", said_by_recursion),
    ("12.4", never_by_log), ("12.4", never_by_loop), ("12.4", never_by_tensors),
])
def test_another_right_way_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)
