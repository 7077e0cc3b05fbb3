"""Slips that people make in the exercises 05.1, 05.2 and 05.3, as they write them: each is named as what it is."""

import math

import pytest
import torch
from torch.nn import functional as F

from plmlab.exercises import check

# 05.1

def spell(codes=lambda word: [b + 1 for b in word.encode("utf-8")], cut=lambda codes, n: codes[:n - 2],
          begin=(259,), end=(260,), fill=lambda codes, n, word: codes + (n - len(codes)) * [261]):
    def answer(word, longest):
        return torch.tensor(fill([*begin, *cut(codes(word), longest), *end], longest, word))
    return answer


def end_cut_off(word, longest):
    codes = [259] + [b + 1 for b in word.encode()] + [260]
    while len(codes) < longest:
        codes.append(261)
    return torch.tensor(codes[:longest])


def end_written_last(word, longest):
    codes = [259] + [b + 1 for b in word.encode()] + [260] + [261] * longest
    codes = codes[:longest]
    codes[-1] = 260
    return torch.tensor(codes)


def cut_before_the_bytes(word, longest):
    return spell(cut=lambda codes, n: codes)(word[:longest - 2], longest)


def cut_where_a_character_ends(word, longest):
    while len(word.encode()) > longest - 2:
        word = word[:-1]
    return spell()(word, longest)


def in_a_tensor_of(value):
    def answer(word, longest):
        out = torch.full((longest,), value)
        codes = [259, *[b + 1 for b in word.encode()][:longest - 2], 260]
        out[:len(codes)] = torch.tensor(codes)
        return out
    return answer


def end_at_the_last_place(word, longest):
    out = torch.full((longest,), 261)
    codes = [b + 1 for b in word.encode()][:longest - 2]
    out[0], out[-1] = 259, 260
    out[1:1 + len(codes)] = torch.tensor(codes)
    return out


# 05.2

def windows(letters, size, last=1, step=1):
    return [letters[:, p:p + size] for p in range(0, letters.shape[1] - size + last, step)]


def find(product=lambda x, f: (x[:, None] * f).sum((-2, -1)), bias=lambda sums, b: sums + b[:, None],
         pool=lambda sums: sums.max(-1).values, act=torch.relu, after=lambda out, b: out, last=1, step=lambda size: 1,
         pad=lambda size: (0, 0)):
    def answer(letters, filters, b):
        size = filters.shape[1]
        letters = F.pad(letters, (0, 0, *pad(size)))
        sums = torch.stack([product(x, filters) for x in windows(letters, size, last, step(size))], -1)
        return after(act(pool(bias(sums, b))), b)
    return answer


def conv(letters=lambda x: x.transpose(1, 2), filters=lambda f: f.transpose(1, 2), **how):
    return lambda x, f, b: torch.conv1d(letters(x), filters(f), b, **how).amax(-1).relu()


def as_view(x):
    return x.contiguous().view(x.shape[0], x.shape[2], x.shape[1])


def largest_so_far(start, after_bias=False, last=1):
    def answer(letters, filters, b):
        best = torch.full((len(letters), len(filters)), start)
        for x in windows(letters, filters.shape[1], last):
            sums = torch.einsum("nsw,ksw->nk", x, filters) + (0 if after_bias else b)
            best = torch.maximum(best, sums)
        return (best + b if after_bias else best).relu()
    return answer


def by_unfold(spec):
    return lambda x, f, b: (torch.einsum(spec, x.unfold(1, f.shape[1], 1), f) + b).amax(1).relu()


def pooled_by_f(letters, filters, b):
    sums = F.conv1d(letters.transpose(1, 2), filters.transpose(1, 2), b)
    return F.relu(F.max_pool1d(sums, sums.shape[-1]).squeeze())


def relu_in_place(letters, filters, b):
    b *= 1.5
    return find()(letters, filters, b / 1.5)


# 05.3

def both(left=lambda x, s, e: (x[:-1], x[1:]), right=lambda x, s, e: (x.flip(0)[:-1], x.flip(0)[1:])):
    def answer(tokens, start, end):
        x = torch.cat([torch.tensor([start]), tokens, torch.tensor([end])])
        return (*left(x, start, end), *right(x, start, end))
    return answer


def joined(*parts):
    return torch.tensor([int(token) for part in parts for token in torch.as_tensor(part).view(-1)])


def same_function_twice(tokens, start, end):
    def causal(x):
        return joined(start, x), joined(x, end)
    return (*causal(tokens), *causal(tokens.flip(0)))


def rolled(tokens, start, end):
    left, right = joined(start, tokens), joined(end, tokens.flip(0))
    return left, left.roll(-1), right, right.roll(-1)


def ends_left_out(tokens, start, end):
    turned = tokens.flip(0)
    return tokens[:-1], tokens[1:], turned[:-1], turned[1:]


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("05.1", spell(lambda word: [ord(c) + 1 for c in word]), "hese are characters, by ord, not bytes: in UTF-8"),
    ("05.1", spell(lambda word: [ord(c) for c in word]), "by ord, not bytes, and 1 is not added"),
    ("05.1", spell(lambda word: list(word.encode())), "he bytes are not shifted"),
    ("05.1", spell(lambda word: [b - 1 for b in word.encode()]), "1 is taken away"),
    ("05.1", spell(lambda word: [b + 1 for b in word.encode("latin1")]), "which has no Chinese"),
    ("05.1", spell(lambda word: [b + 1 for b in word.encode("utf-16")]), "UTF-16"),
    ("05.1", spell(lambda word: [ord(c) - 96 for c in word]), "numbered from a = 1"),
    ("05.1", lambda word, longest: spell(lambda w: list(w.encode()))(word, longest) + 1, "added to 259, 260 and 261"),
    ("05.1", spell(begin=()), "he begin of the word, 259, is missing"),
    ("05.1", spell(end=()), "he end of the word, 260, is missing"),
    ("05.1", spell(begin=(260,), end=(259,)), "have changed places: 259 begins"),
    ("05.1", end_cut_off, "he end of a long word is cut off"),
    ("05.1", end_written_last, "260 is written over the last code"),
    ("05.1", spell(cut=lambda codes, n: codes, fill=lambda codes, n, word: codes), "ong words are not cut, and short"),
    ("05.1", spell(cut=lambda codes, n: codes), "he bytes of a long word are not cut"),
    ("05.1", spell(cut=lambda codes, n: codes[:n]), "no room left for 259 and 260"),
    ("05.1", spell(cut=lambda codes, n: codes[:n - 1]), "ne byte too many"),
    ("05.1", spell(cut=lambda codes, n: codes[:n - 3]), "ne byte too few"),
    ("05.1", spell(cut=lambda codes, n: codes[-(n - 2):]), "he first bytes of a long word"),
    ("05.1", cut_before_the_bytes, "haracters are cut, not bytes"),
    ("05.1", cut_where_a_character_ends, "cut in two is left out"),
    ("05.1", spell(fill=lambda codes, n, word: codes), "is not filled up"),
    ("05.1", in_a_tensor_of(0), "filled up with 0"),
    ("05.1", lambda word, n: F.pad(spell(fill=lambda c, n, w: c)(word, n), (0, n))[:n], "filled up with 0"),
    ("05.1", lambda word, n: (lambda c: F.pad(c, (n - len(c), 0), value=261))(
        spell(fill=lambda c, n, w: c)(word, n)), "he filler stands before the word"),
    ("05.1", end_at_the_last_place, "between the word and its end"),
    ("05.1", spell(fill=lambda codes, n, word: codes + [261] * n), "behind each word"),
    ("05.1", spell(fill=lambda codes, n, word: codes + [261] * (n - len(word.encode()))), "wo fillers too many"),
    ("05.1", spell(fill=lambda codes, n, word: codes + [261] * (n - 2 - len(word))), "by the characters of the word"),
    ("05.2", find(act=lambda x: x), "he ReLU is missing"),
    ("05.2", find(act=torch.tanh), "A tanh stands"),
    ("05.2", find(act=torch.sigmoid), "A sigmoid stands"),
    ("05.2", find(pool=lambda x: x.mean(-1)), "mean over the places; it is the largest"),
    ("05.2", find(pool=lambda x: x.relu().mean(-1)), "after the ReLU; it is the largest"),
    ("05.2", find(pool=lambda x: x.sum(-1)), "sum over the places"),
    ("05.2", find(pool=lambda x: x.min(-1).values), "he smallest place"),
    ("05.2", find(pool=lambda x: x.max(1).values), "over the filters"),
    ("05.2", find(pool=lambda x: x.max(0).values), "over the words"),
    ("05.2", find(pool=torch.max), "maximum is taken of everything"),
    ("05.2", find(pool=lambda x: x), "over the places is missing"),
    ("05.2", find(pool=lambda x: x.max(-1)[1], act=lambda x: x), "(argmax)"),
    ("05.2", find(lambda x, f: (x[:, None] * f.flip(1)).sum((-2, -1))), "he filter is turned round"),
    ("05.2", find(last=0), "he last place is left out, so that a word just as long"),
    ("05.2", largest_so_far(-math.inf, last=0), "he last place is left out: a word has"),
    ("05.2", largest_so_far(0.0, last=0), "he last place is left out: a word has"),
    ("05.2", conv(padding="same"), "padding=\"same\""),
    ("05.2", find(pad=lambda size: (size // 2, size // 2)), "padding=size // 2"),
    ("05.2", find(pad=lambda size: (size - 1, size - 1)), "padding=size - 1"),
    ("05.2", find(step=lambda size: size), "(stride)"),
    ("05.2", find(bias=lambda sums, b: sums), "he bias is missing"),
    ("05.2", find(bias=lambda sums, b: sums + b), "he bias lies along the places"),
    ("05.2", lambda x, f, b: F.conv1d(x.mT, f.mT, b).relu().max(-1), ".max(-1) gives two tensors"),
    ("05.2", lambda x, f, b: torch.conv1d(x.mT, f.mT).amax(-1).relu() + b, "he bias is added after the ReLU"),
    ("05.2", find(bias=lambda sums, b: sums, after=lambda out, b: out + b), "he bias is added after the ReLU"),
    ("05.2", largest_so_far(0.0, after_bias=True), "he maximum starts at 0 before the bias"),
    ("05.2", find(lambda x, f: (x[:, None] * f).sum((-2, -1)), after=lambda out, b: out,
                  bias=lambda sums, b: sums + 2 * b[:, None]), "he bias is added twice"),
    ("05.2", lambda x, f, b: find(lambda w, g: ((w[:, None] * g).sum(-1) + b[:, None]).sum(-1),
                                  bias=lambda sums, b: sums)(x, f, b), "for each letter under the filter"),
    ("05.2", find(lambda x, f: (x[:, None] * f).mean((-2, -1))), "he products are averaged"),
    ("05.2", find(lambda x, f: (x[:, None] * f).sum(-1).mean(-1)), "averaged over its letters"),
    ("05.2", lambda x, f, b: (torch.einsum("npw,ksw->nkp", x, f) + b[:, None]).amax(-1).relu(), "order is lost"),
    ("05.2", conv(letters=as_view), "etters have been brought to"),
    ("05.2", conv(filters=as_view), "ilters have been brought to"),
    ("05.2", conv(as_view, as_view), "etters and filters have been turned by view"),
    ("05.2", conv(letters=lambda x: x), "he letters are not turned"),
    ("05.2", conv(filters=lambda f: f), "he filters are not turned"),
    ("05.2", conv(lambda x: x, lambda f: f), "etters and filters are not turned"),
    ("05.2", by_unfold("npsw,ksw->npk"), "he letters of a window come last"),
    ("05.2", pooled_by_f, ".squeeze() takes away every axis"),
    ("05.2", lambda x, f, b: F.relu(F.adaptive_max_pool1d(F.conv1d(x.mT, f.mT, b), 1)), "n axis of size 1 is left"),
    ("05.2", lambda x, f, b: conv()(x, f, b).T, "on its side"),
    ("05.2", relu_in_place, "The answer is right, but `bias` is changed in place"),
    ("05.3", both(lambda x, s, e: (x[:-1], x[:-1]), lambda x, s, e: (x.flip(0)[:-1], x.flip(0)[:-1])),
     "that it has just read, so that it only copies"),
    ("05.3", both(lambda x, s, e: (x[:-1], x[:-1])), "rom the left each slot says the token that it has just read"),
    ("05.3", both(right=lambda x, s, e: (x.flip(0)[:-1],) * 2), "rom the right each slot says the token that it"),
    ("05.3", both(lambda x, s, e: (x[1:], x[1:]), lambda x, s, e: (x.flip(0)[1:],) * 2), "he ends are not read"),
    ("05.3", both(lambda x, s, e: (x, x), lambda x, s, e: (x.flip(0), x.flip(0))), "oth ends are read and both are"),
    ("05.3", both(lambda x, s, e: (x, x[1:]), lambda x, s, e: (x.flip(0), x.flip(0)[1:])), "oth ends are read: the"),
    ("05.3", both(lambda x, s, e: (x[:-1], x), lambda x, s, e: (x.flip(0)[:-1], x.flip(0))), "oth ends are said: the"),
    ("05.3", rolled, "comes round the end"),
    ("05.3", both(right=lambda x, s, e: (joined(e, x[1:-1]), joined(x[1:-1], s))), "text is not turned round"),
    ("05.3", both(right=lambda x, s, e: (x[:-1], x[1:])), "oth sides are the same"),
    ("05.3", both(right=lambda x, s, e: (x[1:], x[:-1])), "stand in the order of the text"),
    ("05.3", both(right=lambda x, s, e: (x[:-1].flip(0), x[1:].flip(0))), "each row from the left, turned round"),
    ("05.3", same_function_twice, "reads [START] first and says [END] last"),
    ("05.3", both(right=lambda x, s, e: (joined(s, x[1:-1].flip(0)), x.flip(0)[1:])), "reads [START] first; it begins"),
    ("05.3", both(right=lambda x, s, e: (x.flip(0)[:-1], joined(x[1:-1].flip(0), e))), "says [END] last; it ends"),
    ("05.3", lambda x, s, e: both()(x, e, s), "[START] and [END] have changed places"),
    ("05.3", both(lambda x, s, e: (x[1:], x[:-1]), lambda x, s, e: (x.flip(0)[1:], x.flip(0)[:-1])),
     "n both sides, what is read and what is said"),
    ("05.3", lambda *args: (lambda a, b, c, d: (c, d, a, b))(*both()(*args)), "he two sides have changed places"),
    ("05.3", lambda *args: (lambda a, b, c, d: (a, c, b, d))(*both()(*args)), "oth rows that are read come first"),
    ("05.3", ends_left_out, "he ends are missing"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("05.1", lambda word, longest: torch.tensor(word.encode() + 1), "can't concat int to bytes"),
    ("05.1", lambda word, longest: torch.tensor([259, *word, 260]), "Print"),
    ("05.2", find(pool=lambda sums: sums.max(-1)), "must be Tensor, not torch.return_types.max"),
    ("05.3", lambda tokens, start, end: torch.cat([start, tokens]), "expected Tensor"),
    ("05.3", lambda tokens, start, end: (*both()(tokens, start, end)[:2], tokens[::-1], tokens), "step"),
])
def test_what_cannot_run_is_shown_with_its_error(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "error" and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer"), [
    ("05.1", spell()), ("05.1", in_a_tensor_of(261)), ("05.2", find()), ("05.2", conv()),
    ("05.2", largest_so_far(-math.inf)), ("05.2", largest_so_far(0.0)), ("05.2", by_unfold("npws,ksw->npk")),
    ("05.3", both()),
])
def test_without_its_slip_each_of_these_ways_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)
