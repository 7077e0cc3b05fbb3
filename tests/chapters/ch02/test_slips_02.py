"""Slips that people make in the exercises 02.1, 02.2 and 02.5, as they write them: each is named as what it is."""

import math

import pytest
import torch
from torch.nn import functional as F

from plmlab.exercises import check

# 02.1

def pairs(window=lambda i, r, n: range(max(0, i - r), min(n, i + r + 1)), keep=lambda i, j, words: i != j,
          row=lambda word, near: (word, near)):
    def answer(words, reach):
        out = []
        for i, r in enumerate(reach):
            for j in window(i, r, len(words)):
                if keep(i, j, words):
                    out.append(row(words[i], words[j]))
        return torch.tensor(out)
    return answer


def below_zero(words, reach):
    out = []
    for i, word in enumerate(words):
        for j in range(i - reach[i], i + reach[i] + 1):
            if j != i and j < len(words):
                out.append((word, words[j]))
    return torch.tensor(out)


def past_the_end_is_passed(words, reach):
    out = []
    for i in range(len(words)):
        for step in range(-reach[i], reach[i] + 1):
            if step == 0:
                continue
            try:
                out.append((words[i], words[i + step]))
            except IndexError:
                continue
    return torch.tensor(out)


def sliced(cut):
    def answer(words, reach):
        return torch.tensor([(word, near) for i, word in enumerate(words) for near in cut(words, i, reach[i])])
    return answer


def without_the_word(words, i, r):
    window = words[max(0, i - r):i + r + 1]
    window.remove(words[i])
    return window


def by_index(words, reach):
    out = []
    for word in words:
        i = words.index(word)
        for j in range(max(0, i - reach[i]), min(len(words), i + reach[i] + 1)):
            if i != j:
                out.append((word, words[j]))
    return torch.tensor(out)


def by_distance(words, reach):
    out = []
    for i in range(len(words)):
        for step in range(1, reach[i] + 1):
            if i - step >= 0:
                out.append((words[i], words[i - step]))
            if i + step < len(words):
                out.append((words[i], words[i + step]))
    return torch.tensor(out)


def side_by_side(words, reach):
    out = []
    for i in range(len(words)):
        out += [(words[i], words[i - step]) for step in range(1, reach[i] + 1) if i - step >= 0]
        out += [(words[i], words[i + step]) for step in range(1, reach[i] + 1) if i + step < len(words)]
    return torch.tensor(out)


def as_a_set(words, reach):
    return torch.tensor(sorted(set(map(tuple, pairs()(words, reach).tolist()))))


def padded_in_place(words, reach):
    """Whoever puts padding round the sentence has to take it off again."""
    told = pairs()(words, reach)
    words.append(0)
    return told


def past_the_end(words, reach):
    return torch.tensor([(words[i], words[j]) for i in range(len(words)) for j in range(i - reach[i], i + reach[i] + 1)
                         if i != j])


# 02.2

def plain(make):
    return lambda contexts, vectors, pad: make(vectors[contexts])


def masked(make):
    def answer(contexts, vectors, pad):
        mask = (contexts != pad).unsqueeze(-1).float()
        return make(vectors[contexts] * mask, mask)
    return answer


def row_by_row(contexts, vectors, pad):
    return torch.stack([vectors[row[row != pad]].mean(dim=0) for row in contexts])


def in_place(contexts, vectors, pad):
    vectors[pad] = 0
    return vectors[contexts].sum(1) / (contexts != pad).sum(1, keepdim=True).clamp(min=1)


def first_slots(contexts, vectors, pad):
    counts = (contexts != pad).sum(1).tolist()
    return torch.stack([vectors[row[:n]].sum(0) / max(n, 1) for row, n in zip(contexts, counts, strict=True)])


def bag_of_words(contexts, vectors, pad):
    """A table of zeros and ones."""
    bag = torch.zeros(len(contexts), len(vectors)).scatter(1, contexts, 1.0)
    bag[:, pad] = 0
    return bag @ vectors / bag.sum(1, keepdim=True).clamp(min=1)


def words_with_numbers(contexts, vectors, pad):
    near = vectors[contexts]
    return near.sum(1) / (near.abs().sum(-1, keepdim=True) > 0).sum(1).clamp(min=1)


# 02.5

def unit(vectors):
    return vectors / vectors.norm(dim=1, keepdim=True)


def found(ready=unit, query=lambda v, a, b, c: v[b] - v[a] + v[c], scores=lambda v, q: v @ q,
          out=lambda a, b, c: (a, b, c), hide=-math.inf, pick=torch.argmax):
    def answer(vectors, a, b, c):
        v = ready(vectors)
        told = scores(v, query(v, a, b, c))
        for row in out(a, b, c):
            told[row] = hide
        return pick(told)
    return answer


def largest_so_far(start, none, seen=lambda score, best: score > best):
    def answer(vectors, a, b, c):
        v = unit(vectors)
        best, row = start, none
        for i, score in enumerate((v @ (v[b] - v[a] + v[c])).tolist()):
            if i not in (a, b, c) and seen(score, best):
                best, row = score, i
        return row
    return answer


def rows_taken_out(vectors, a, b, c):
    v = unit(vectors)
    query = v[b] - v[a] + v[c]
    rest = torch.stack([v[i] for i in range(len(v)) if i not in (a, b, c)])
    return (rest @ query).argmax().item()


def made_unit_in_place(vectors, a, b, c):
    vectors /= vectors.norm(dim=1, keepdim=True)
    return found(ready=lambda v: v)(vectors, a, b, c)


def cosine(v, query):
    return F.cosine_similarity(v, query.unsqueeze(0), dim=1)


def cosines_multiplied(vectors, a, b, c):
    v = unit(vectors)
    to_a, to_b, to_c = ((1 + v @ v[row]) / 2 for row in (a, b, c))
    told = to_b * to_c / (to_a + 0.001)
    told[[a, b, c]] = 0
    return told.argmax().item()


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("02.1", pairs(keep=lambda i, j, words: True), "he word is paired with itself"),
    ("02.1", pairs(lambda i, r, n: range(i + 1, min(n, i + r + 1))), "nly the words to the right"),
    ("02.1", pairs(lambda i, r, n: range(max(0, i - r), i)), "nly the words to the left"),
    ("02.1", pairs(lambda i, r, n: range(max(0, i - r), min(n, i + r))), "he last word on the right is missing"),
    ("02.1", pairs(lambda i, r, n: range(max(0, i - r + 1), min(n, i + r + 1))), "he last word on the left is"),
    ("02.1", pairs(lambda i, r, n: range(max(0, i - r), min(n, i + r + 2))), "ne word too far to the right"),
    ("02.1", pairs(lambda i, r, n: [j for j in range(n) if abs(i - j) < r]), "just reach[i] away are missing"),
    ("02.1", pairs(lambda i, r, n: [i - r, i + r] if i - r >= 0 and i + r < n else [
        j for j in (i - r, i + r) if 0 <= j < n]), "nly the words that are just reach[i] away"),
    ("02.1", pairs(keep=lambda i, j, words: words[i] != words[j]), "qual words are left out"),
    ("02.1", pairs(row=lambda word, near: (near, word)), "he columns have changed places"),
    ("02.1", below_zero, " place below 0 counts from the end"),
    ("02.1", past_the_end_is_passed, " place below 0 counts from the end"),
    ("02.1", pairs(lambda i, r, n: [j % n for j in range(i - r, i + r + 1) if j != i], lambda i, j, words: True),
     "he sentence is a ring"),
    ("02.1", sliced(lambda words, i, r: words[i - r:i] + words[i + 1:i + r + 1]), "counts from the end and is empty"),
    ("02.1", sliced(lambda words, i, r: [near for j, near in list(enumerate(words))[i - r:i + r + 1] if j != i]),
     "and the window is lost"),
    ("02.1", sliced(without_the_word), ".remove takes away the first word"),
    ("02.1", sliced(lambda words, i, r: [near for near in words[max(0, i - r):i + r + 1] if near != words[i]]),
     "qual words are left out"),
    ("02.1", by_index, ".index gives the first place"),
    ("02.1", by_distance, "he nearest words come first"),
    ("02.1", side_by_side, "he left side is read backwards"),
    ("02.1", as_a_set, "a set forgets how often"),
    ("02.1", lambda words, reach: pairs()(words, [reach[0]] * len(words)), "very place has the first one's reach"),
    ("02.1", lambda words, reach: pairs()(words, [max(reach)] * len(words)), "very place has the largest reach"),
    ("02.1", lambda words, reach: pairs()(words, [1] * len(words)), "he words next to each word"),
    ("02.1", lambda words, reach: pairs()(words, [len(words)] * len(words)), "very word is paired with every other"),
    ("02.1", lambda words, reach: pairs()(list(range(len(words))), reach), "hese are places"),
    ("02.1", lambda words, reach: torch.tensor([(words[i], words[j]) for i in range(len(words)) for j in range(
        len(words)) if i != j and abs(i - j) <= reach[j]]), "his is the reach of the other place"),
    ("02.1", lambda words, reach: torch.tensor([(words[i], words[j]) for j in range(len(words)) for i in range(
        len(words)) if i != j and abs(i - j) <= reach[i]]), "in the order of j, and then of i"),
    ("02.1", lambda words, reach: torch.tensor(list(zip(*pairs()(words, reach).tolist(), strict=True))), "on its side"),
    ("02.1", padded_in_place, "The answer is right, but `words` is changed in place"),
    ("02.2", plain(lambda near: near.mean(1)), "adding's vector is in the mean"),
    ("02.2", lambda contexts, vectors, pad: F.embedding(contexts, vectors, padding_idx=pad).mean(1),
     "padding_idx only keeps that vector from being trained"),
    ("02.2", plain(lambda near: near.sum(1)), "hese are sums, and padding's vector is in them"),
    ("02.2", plain(lambda near: near.mean(-1)), "he mean is over the last axis"),
    ("02.2", plain(lambda near: near.mean(0)), "he mean is over the first axis"),
    ("02.2", plain(lambda near: near.reshape(len(near), -1)), "oined end to end; CBOW"),
    ("02.2", plain(lambda near: near.max(dim=1).values), "argest number over all slots"),
    ("02.2", masked(lambda near, mask: near.sum(1)), "hese are sums; a sum"),
    ("02.2", lambda contexts, vectors, pad: F.embedding_bag(contexts, vectors, mode="sum", padding_idx=pad),
     "hese are sums; a sum"),
    ("02.2", masked(lambda near, mask: near.mean(1)), "adding counts in the mean"),
    ("02.2", masked(lambda near, mask: near.sum(1) / mask.sum(1)), "0 divided by 0 is NaN"),
    ("02.2", masked(lambda near, mask: near.sum(1) / mask.sum()), "umber of words in the whole batch"),
    ("02.2", masked(lambda near, mask: near.sum(1) / (mask.sum(1) + 1)), "ne more than the number of words"),
    ("02.2", masked(lambda near, mask: near.flatten(1)), "with zeros for padding"),
    ("02.2", masked(lambda near, mask: F.normalize(near.sum(1), dim=-1)), "rought to length 1"),
    ("02.2", row_by_row, "0 divided by 0 is NaN"),
    ("02.2", in_place, "The answer is right, but `vectors` is changed in place"),
    ("02.2", first_slots, "s taken to stand behind the words"),
    ("02.2", bag_of_words, " word that comes twice counts once"),
    ("02.2", words_with_numbers, " vector of zeros is taken for padding"),
    ("02.2", lambda contexts, vectors, pad: masked(lambda near, mask: near.sum(1) / mask.sum(1).clamp(min=1))(
        contexts, vectors, 0), "adding is taken to be 0"),
    ("02.2", lambda contexts, vectors, pad: vectors[contexts[contexts != pad]].mean(0), "his is one vector"),
    ("02.5", found(out=lambda a, b, c: ()), "he three words are not left out"),
    ("02.5", found(out=lambda a, b, c: (c,)), "nly c is left out"),
    ("02.5", found(out=lambda a, b, c: (a, b)), "ne of the three, c, is not left out"),
    ("02.5", found(hide=0), "he three get the score 0"),
    ("02.5", largest_so_far(0, None), " maximum that starts at 0"),
    ("02.5", largest_so_far(0.0, 0), "and row 0 is given"),
    ("02.5", found(ready=lambda v: v), "prefer long vectors"),
    ("02.5", found(ready=lambda v: v / v.norm()), "prefer long vectors"),
    ("02.5", found(ready=lambda v: v, scores=cosine), "made of the raw vectors"),
    ("02.5", found(ready=F.normalize, query=lambda v, a, b, c: v[a] - v[b] + v[c]), "this is a − b + c"),
    ("02.5", found(query=lambda v, a, b, c: v[c] - (v[b] - v[a])), "this is a − b + c"),
    ("02.5", found(query=lambda v, a, b, c: v[b] - v[c] + v[a]), "this is a + b − c"),
    ("02.5", found(query=lambda v, a, b, c: v[b] - v[a]), "+ c is missing"),
    ("02.5", found(ready=lambda v: F.normalize(v, dim=0)), "he columns are brought to length 1"),
    ("02.5", found(ready=lambda v: v / (v ** 2).sum(1, keepdim=True)), "he root is missing"),
    ("02.5", found(ready=lambda v: v / v.abs().sum(1, keepdim=True)), "numbers without signs"),
    ("02.5", found(ready=lambda v: v, scores=lambda v, q: (v - q).norm(dim=1), hide=math.inf, pick=torch.argmin),
     "nearest by distance, of raw vectors"),
    ("02.5", found(hide=math.inf, pick=torch.argmin), "his is the smallest cosine"),
    ("02.5", found(scores=lambda v, q: (v @ q).abs()), "largest cosine without its sign"),
    ("02.5", rows_taken_out, "from which three rows were taken out"),
    ("02.5", found(out=lambda a, b, c: (), pick=lambda told: told.topk(4).indices[3]), "his is the fourth of all"),
    ("02.5", found(out=lambda a, b, c: (), pick=lambda told: told.topk(2).indices[1]), "his is the second of all"),
    ("02.5", found(scores=cosine, pick=torch.max), "his is the largest cosine; asked is the row"),
    ("02.5", found(pick=torch.max), "his is the largest dot product"),
    ("02.5", cosines_multiplied, "3CosMul"),
    ("02.5", made_unit_in_place, "The answer is right, but `vectors` is changed in place"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer", "error"), [
    ("02.1", past_the_end, "list index out of range"),
    ("02.1", lambda words, reach: torch.tensor([[words[j] for j in range(len(words)) if abs(i - j) <= reach[i]]
                                                for i in range(len(words))] + [[0]]), "expected sequence of length"),
    ("02.2", lambda contexts, vectors, pad: vectors[contexts] * (contexts != pad), "must match the size of tensor b"),
    ("02.2", lambda contexts, vectors, pad: vectors @ contexts, "size mismatch"),
    ("02.5", found(out=lambda a, b, c: (), pick=lambda told: told.index(told.max())), "no attribute 'index'"),
])
def test_what_cannot_run_is_shown_with_its_error_and_a_way_to_go_on(number: str, answer, error: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "error" and error in repr(feedback) and "\nPrint " in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer"), [
    ("02.1", pairs()), ("02.2", masked(lambda near, mask: near.sum(1) / mask.sum(1).clamp(min=1))),
    ("02.5", found()), ("02.5", largest_so_far(-math.inf, None)),
])
def test_without_its_slip_each_of_these_ways_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)
