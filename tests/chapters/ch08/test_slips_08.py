"""Slips that people make in the exercises of chapter 08, written as they write them: each is named as what it is."""

import pytest
import torch
from torch.nn import functional as F

from plmlab.exercises import check

# 08.1

def corrupt(below=lambda dice: dice < 0.8, random=lambda dice: (dice >= 0.8) & (dice < 0.9)):
    def answer(tokens, selected, dice, random_words, mask):
        shown = tokens.clone()
        shown[selected & below(dice)] = mask
        shown[selected & random(dice)] = random_words[selected & random(dice)]
        return shown, tokens.masked_fill(~selected, -100)
    return answer


def corrupt_first(tokens, selected, dice, random_words, mask):
    """In place, and before the targets are taken."""
    tokens[selected & (dice < 0.8)] = mask
    swapped = selected & (dice >= 0.8) & (dice < 0.9)
    tokens[swapped] = random_words[swapped]
    return tokens, tokens.masked_fill(~selected, -100)


# 08.2

def of_logits(loss):
    """The loss of (logits [slots vocab], ids [slots]) over the slots that are asked."""
    return lambda hidden, embedding, bias, targets: loss(
        (hidden @ embedding.T + bias)[targets != -100], targets[targets != -100])


def by_hand(logits, ids):
    chances = torch.exp(logits) / torch.exp(logits).sum(-1, keepdim=True)
    return -torch.log(chances[torch.arange(len(ids)), ids]).mean()


def largest_so_far(logits, ids):
    losses = []
    for row, token in zip(logits, ids, strict=True):
        largest = torch.tensor(0.0)
        for logit in row:
            largest = max(largest, logit)
        losses.append((row - largest).exp().sum().log() + largest - row[token])
    return sum(losses) / len(losses)


def by_a_view(hidden, embedding, bias, targets):
    logits = hidden @ embedding.T + bias
    return F.cross_entropy(logits.view(len(logits), logits.shape[2], -1), targets)


def above_zero(hidden, embedding, bias, targets):
    asked = targets > 0
    return F.cross_entropy(hidden[asked] @ embedding.T + bias, targets[asked])


# 08.3

def embed(norm, positions=lambda tokens: torch.arange(len(tokens)), turned=False):
    def answer(first, second, cls, sep, E_token, E_position, E_segment):
        cls, sep = (sep, cls) if turned else (cls, sep)
        tokens = torch.tensor([cls, *first, sep, *second, sep])
        segments = torch.tensor([0] * (len(first) + 2) + [1] * (len(second) + 1))
        return norm(E_token[tokens] + E_position[positions(tokens)] + E_segment[segments])
    return answer


def norm(x):
    return F.layer_norm(x, x.shape[-1:], eps=1e-12)


def without_brackets(x):
    return x - x.mean(-1, keepdim=True) / (x.var(-1, keepdim=True, correction=0) + 1e-12).sqrt()


def joined_in_place(first, second, cls, sep, *tables):
    first.insert(0, cls)
    first.append(sep)
    tokens, segments = first + second + [sep], [0] * len(first) + [1] * (len(second) + 1)
    token, position, segment = tables
    return norm(token[tokens] + position[:len(tokens)] + segment[segments])


def tokens_normed(first, second, cls, sep, token, position, segment):
    tokens = [cls, *first, sep, *second, sep]
    which = [0] * (len(first) + 2) + [1] * (len(second) + 1)
    return norm(token[tokens]) + position[:len(tokens)] + segment[which]


# 08.4

def in_loops(begin, largest=0.0):
    def answer(start, end, first, longest):
        best, span = largest, begin(first)
        for i in range(first, len(start)):
            for j in range(i, min(i + longest, len(start))):
                if start[i] + end[j] > best:
                    best, span = start[i] + end[j], (i, j)
        return span
    return answer


def never_given(start, end, first, longest):
    best = 0
    for i in range(first, len(start)):
        for j in range(i, min(i + longest, len(start))):
            if start[i] + end[j] > best:
                best, found = start[i] + end[j], (i, j)
    return found


def masked_table(start, end, first, longest):
    slots = torch.arange(len(start))
    i, j = slots[:, None], slots
    table = (start[:, None] + end) * ((i >= first) & (i <= j) & (j < i + longest))
    return divmod(int(table.argmax()), len(start))


def cut_table(start, end, first, longest):
    table = torch.triu(start[first:, None] + end[first:])
    i, j = divmod(int(torch.tril(table, longest - 1).argmax()), len(table))
    return first + i, first + j


def without_the_last(start, end, first, longest):
    spans = [(i, j) for i in range(first, len(start) - 1) for j in range(i, min(i + longest, len(start) - 1))]
    return max(spans, key=lambda s: float(start[s[0]] + end[s[1]]))


# 08.5

def lost(divergence):
    def answer(joint):
        product = joint.sum(1, keepdim=True) * joint.sum(0, keepdim=True)
        return product, divergence(joint, product)
    return answer


def summed(cell):
    return lost(lambda joint, product: cell(joint[joint > 0], product[joint > 0]).sum())


def filled_in_place(joint):
    joint[joint == 0] = 1e-12
    product = joint.sum(1, keepdim=True) * joint.sum(0, keepdim=True)
    return product, (joint * (joint / product).log()).sum()


# 08.6

def heads(divide):
    def answer(weights, special, links):
        found = torch.zeros(weights.shape[1])
        for text, query, key in links.tolist():
            row = weights[text, :, query].clone()
            row[:, special[text]] = 0
            row[:, query] = 0
            found += row.argmax(-1) == key
        return found / divide(weights, links)
    return answer


@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize(("number", "answer", "words"), [
    ("08.1", corrupt(random=lambda dice: dice < 0.9), "andom words overwrite [MASK]"),
    ("08.1", corrupt(below=lambda dice: dice <= 0.8, random=lambda dice: (dice > 0.8) & (dice < 0.9)), "0.8 exactly"),
    ("08.1", corrupt(random=lambda dice: dice >= 0.8), "o slot keeps its token"),
    ("08.1", corrupt(random=lambda dice: dice < 0), "o slot shows a random word"),
    ("08.1", corrupt_first, "he targets are what is shown"),
    ("08.1", corrupt_first, "Besides, `tokens` is changed in place."),
    ("08.2", of_logits(lambda x, ids: F.cross_entropy(x.softmax(-1), ids)), "he softmax is taken twice"),
    ("08.2", of_logits(lambda x, ids: F.nll_loss(x.softmax(-1), ids)), "he logarithm is missing"),
    ("08.2", of_logits(lambda x, ids: x.softmax(-1)[range(len(ids)), ids].mean()), "this is the mean probability"),
    ("08.2", of_logits(lambda x, ids: F.nll_loss(x, ids)), "he softmax is missing"),
    ("08.2", of_logits(lambda x, ids: -x.log_softmax(-1)[:, ids].mean()), "of all slots; it has one of its own"),
    ("08.2", of_logits(lambda x, ids: -(F.one_hot(ids, x.shape[-1]) * x.log_softmax(-1)).mean()), "whole vocabulary"),
    ("08.2", of_logits(lambda x, ids: F.cross_entropy(x, ids).exp()), "perplexity"),
    ("08.2", of_logits(by_hand), "of one far below 0 it is 0: take .log_softmax"),
    ("08.2", of_logits(lambda x, ids: (x.exp().sum(-1).log() - x[range(len(ids)), ids]).mean()), ".logsumexp"),
    ("08.2", of_logits(largest_so_far), " maximum that starts at 0"),
    ("08.2", by_a_view, "mixes slots and tokens"),
    ("08.2", above_zero, "oken 0 is left out too"),
    ("08.2", lambda h, e, b, t: F.nll_loss(((h @ e.T).log_softmax(-1) + b).transpose(1, 2), t), "bias comes after"),
    ("08.3", embed(without_brackets), "needs its brackets"),
    ("08.3", tokens_normed, "it comes after the sum"),
    ("08.3", embed(lambda x: F.layer_norm(x, x.shape, eps=1e-12)), "over all slots at once"),
    ("08.3", embed(lambda x: (x - x.mean(0)) / x.std(0, correction=0)), "over the slots, not over each"),
    ("08.3", embed(lambda x: (x - x.mean(-1, True)) / x.std(-1, keepdim=True)), "one less than the width"),
    ("08.3", embed(norm, positions=lambda tokens: tokens), "with the ids of the tokens"),
    ("08.3", embed(norm, turned=True), "[CLS] and [SEP] have changed places"),
    ("08.3", joined_in_place, "`first` is changed in place"),
    ("08.4", in_loops(lambda first: (0, 0)), " is more than any sum where all logits are negative"),
    ("08.4", in_loops(lambda first: (first, first)), "only the first slot of the text"),
    ("08.4", in_loops(lambda first: None), "and the answer is None"),
    ("08.4", in_loops(lambda first: (-1, -1)), "and the answer is −1, −1"),
    ("08.4", in_loops(lambda first: (0, 0), largest=-100.0), "all logits are negative"),
    ("08.4", never_given, "never gets a value"),
    ("08.4", masked_table, "or fill a table with −∞"),
    ("08.4", cut_table, "must be −∞"),
    ("08.4", without_the_last, "he last slot is never tried"),
    ("08.5", summed(lambda p, q: p * p / q), "he logarithm is missing"),
    ("08.5", summed(lambda p, q: p * p.log() / q.log()), "logarithm is divided by the other"),
    ("08.5", lost(lambda joint, product: F.kl_div(product, joint, reduction="sum")), "wants the logarithm"),
    ("08.5", lost(lambda joint, product: F.kl_div(product.log(), joint, reduction="batchmean")), "number of rows"),
    ("08.5", lost(lambda joint, product: F.kl_div(product.log(), joint)), "pairs are averaged"),
    ("08.5", lost(lambda joint, product: F.kl_div(product.log(), joint, reduction="sum")), "NaN to kl_div"),
    ("08.5", lost(lambda joint, product: (joint * (joint / product).log()).sum()), " · ln 0 is NaN"),
    ("08.5", summed(lambda p, q: p * torch.log2(p / q)), "hese are bits"),
    ("08.5", lambda joint: (torch.outer(joint.sum(0), joint.sum(1)), torch.xlogy(
        joint, joint / torch.outer(joint.sum(0), joint.sum(1))).sum()), "lies on its side"),
    ("08.5", lambda joint: (torch.outer(joint.mean(1), joint.mean(0)), torch.xlogy(
        joint, joint / torch.outer(joint.mean(1), joint.mean(0))).nansum()), "are averaged, not added up"),
    ("08.5", filled_in_place, "`joint` is changed in place"),
    ("08.6", heads(lambda weights, links: len(weights)), "by the number of texts"),
    ("08.6", heads(lambda weights, links: 1), "he links are counted"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


def test_the_span_that_only_negative_logits_show_is_shown_there() -> None:
    told = repr(check("08.4", in_loops(lambda first: (0, 0))))
    assert "(all logits are negative)" in told and 'case("08.4", 6)' in told


@pytest.mark.parametrize(("number", "answer"), [
    ("08.4", in_loops(lambda first: None, largest=float("-inf"))),
    ("08.5", summed(lambda p, q: p * (p.log() - q.log()))),
    ("08.6", heads(lambda weights, links: len(links))),
    ("08.2", of_logits(F.cross_entropy)), ("08.3", embed(norm)), ("08.1", corrupt()),
])
def test_without_its_slip_each_of_these_ways_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)
