"""Slips that people make in the exercises 05.4, 05.5 and 05.6, as they write them: each is named as what it is."""

from collections import Counter

import pytest
import torch
from torch.nn import functional as F

from plmlab.exercises import check

# 05.4

def mixed(shares=lambda w, g: w.softmax(0), join=lambda s, h: (s[:, None, None, None] * h).sum(0),
          scale=lambda x, g: g * x):
    return lambda layers, w, gamma: scale(join(shares(w, gamma), layers), gamma)


def by_hand(w, gamma):
    return w.exp() / w.exp().sum()


def from_zero(w, gamma):
    largest = 0.0
    for number in w.tolist():
        largest = max(largest, number)
    return by_hand(w - largest, gamma)


def scaled_in_place(layers, w, gamma):
    layers *= w.softmax(0)[:, None, None, None]
    return gamma * layers.sum(0)


# 05.5

def sense(centre=lambda known: known.mean(0), scores=lambda x, c: F.cosine_similarity(x[:, None], c[None], dim=2),
          best=lambda table: table.argmax(1), name=lambda names, places, senses: names[places]):
    def answer(vectors, known, senses):
        names = torch.tensor(sorted(set(senses.tolist())))
        centres = torch.stack([centre(known[senses == n]) for n in names])
        return name(names, best(scores(vectors, centres)), senses)
    return answer


def of_the_nearest(scores):
    return lambda vectors, known, senses: senses[scores(vectors, known).argmax(1)]


def in_a_dict(vectors, known, senses):
    last = dict(zip(senses.tolist(), known, strict=True))
    return torch.tensor([max(sorted(last), key=lambda n: float(F.cosine_similarity(x, last[n], dim=0)))
                         for x in vectors])


def running(known):
    mean = None
    for vector in known:
        mean = vector if mean is None else (mean + vector) / 2
    return mean


def the_commonest(vectors, known, senses):
    counts = Counter(senses.tolist())
    return torch.tensor([min(counts, key=lambda n: (-counts[n], n))] * len(vectors))


def total_cosines(reduce):
    def answer(vectors, known, senses):
        table = F.cosine_similarity(vectors[:, None], known, dim=-1)
        names = senses.unique()
        return names[torch.stack([reduce(table[:, senses == n]) for n in names], 1).argmax(1)]
    return answer


def averages_of(numbers):
    def answer(vectors, known, senses):
        centres = torch.stack([known[senses == n].mean(dim=0) for n in numbers(senses)])
        return F.cosine_similarity(vectors.unsqueeze(1), centres.unsqueeze(0), dim=2).argmax(1)
    return answer


def one_length(x, c):
    return (x / x.norm()) @ (c / c.norm()).T


# 05.6

def count(fits=lambda s, suffix: s[len(s) - len(suffix):] == suffix, word=lambda read, n: read[-n - 1],
          read=lambda s: [0, *s], add=lambda sums, w, p: sums[w] + p, divide=lambda sums: sums / sums.sum()):
    def answer(sentences, chances, suffix, size):
        sums = torch.zeros(size)
        for s, p in zip(sentences, chances, strict=True):
            if fits(s, suffix):
                w = word(read(s), len(suffix))
                sums[w] = add(sums, w, p)
        return divide(sums)
    return answer


def anywhere(sentences, chances, suffix, size):
    sums = torch.zeros(size)
    for s, p in zip(sentences, chances, strict=True):
        read = [0, *s]
        for i in range(1, len(read)):
            if read[i:i + len(suffix)] == suffix:
                sums[read[i - 1]] += p
        if not suffix:
            sums[read[-1]] += p
    return sums / sums.sum()


def start_inserted_in_place(sentences, chances, suffix, size):
    for s in sentences:
        s.insert(0, 0)
    return count(read=lambda s: s)(sentences, chances, suffix, size)


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("05.4", mixed(lambda w, g: w), "he softmax is missing"),
    ("05.4", mixed(lambda w, g: w / w.sum()), "numbers w are divided by their sum"),
    ("05.4", mixed(lambda w, g: w.sigmoid()), "A sigmoid of w"),
    ("05.4", mixed(lambda w, g: w.log_softmax(0)), "he logarithm of the shares"),
    ("05.4", mixed(by_hand), "xp of a large w is infinite"),
    ("05.4", mixed(from_zero), "A maximum that starts at 0"),
    ("05.4", mixed(lambda w, g: w[:, None].softmax(-1)[:, 0]), "over an axis of size 1"),
    ("05.4", lambda h, w, g: g * (w.view(-1, 1, 1, 1).softmax(-1) * h).sum(0), "over an axis of size 1"),
    ("05.4", mixed(lambda w, g: w, lambda w, h: (w.view(-1, 1, 1, 1) * h.softmax(0)).sum(0)),
     "over the layers' vectors"),
    ("05.4", mixed(lambda w, g: (g * w).softmax(0), scale=lambda x, g: x), "γ stands inside the softmax; it mul"),
    ("05.4", mixed(lambda w, g: (g * w).softmax(0)), "and outside too"),
    ("05.4", mixed(lambda w, g: (w / g).softmax(0), scale=lambda x, g: x), "numbers w are divided by γ"),
    ("05.4", mixed(scale=lambda x, g: x), "γ is forgotten"),
    ("05.4", mixed(scale=lambda x, g: x + g), "γ is added to the sum"),
    ("05.4", lambda h, w, g: g * h.mean(0), "mean of the layers: w is not used"),
    ("05.4", lambda h, w, g: h.mean(0), "mean of the layers: w and γ"),
    ("05.4", lambda h, w, g: h.sum(0), "sum of the layers: w and γ"),
    ("05.4", lambda h, w, g: g * h[0], "he lowest layer alone"),
    ("05.4", lambda h, w, g: g * h[-1], "he highest layer alone"),
    ("05.4", mixed(lambda w, g: F.one_hot(w.argmax(), len(w))), "nly the layer with the largest w"),
    ("05.4", mixed(join=lambda s, h: (s[:, None, None, None] * h).mean(0)), "divided by the number of layers"),
    ("05.4", mixed(join=lambda s, h: torch.cat(list(s[:, None, None, None] * h), -1)), "side by side, each times"),
    ("05.4", lambda h, w, g: g * torch.cat(list(h), -1), "side by side, as they are"),
    ("05.4", mixed(join=lambda s, h: s[:, None, None, None] * h), "he layers are not added up"),
    ("05.4", mixed(join=lambda s, h: torch.einsum("l,lbtw->ltw", s, h)), "he sum runs over the texts"),
    ("05.4", mixed(join=lambda s, h: (s * h).sum(0)), "along the numbers of a vector"),
    ("05.4", mixed(join=lambda s, h: (s[:, None] * h).sum(0)), "along the slots"),
    ("05.4", mixed(join=lambda s, h: (s[:, None, None] * h).sum(0)), "along the texts"),
    ("05.4", mixed(join=lambda s, h: (s[:, None, None, None] * h).sum(0, keepdim=True)), "n axis of size 1 is left"),
    ("05.4", mixed(join=lambda s, h: (s[:, None, None, None] * h).sum(0).squeeze()), ".squeeze() takes away"),
    ("05.4", scaled_in_place, "The answer is right, but `layers` is changed in place"),
    ("05.5", sense(scores=lambda x, c: x @ c.T), "he inner products are not divided"),
    ("05.5", sense(scores=one_length), "he inner products are not divided"),
    ("05.5", sense(scores=lambda x, c: F.normalize(x, dim=1) @ c.T), "he inner products are not divided"),
    ("05.5", sense(scores=torch.cdist, best=lambda table: table.argmin(1)), "he smallest Euclidean distance"),
    ("05.5", sense(lambda known: known.sum(0), lambda x, c: x @ c.T), "frequent senses win"),
    ("05.5", of_the_nearest(lambda x, k: F.cosine_similarity(x[:, None], k, dim=-1)),
     "he nearest known vector decides"),
    ("05.5", of_the_nearest(lambda x, k: x @ k.T), "with the largest inner product decides"),
    ("05.5", of_the_nearest(lambda x, k: -torch.cdist(x, k)), "at the smallest distance decides"),
    ("05.5", total_cosines(lambda some: some.mean(1)), "are averaged: average the vectors first"),
    ("05.5", total_cosines(lambda some: some.sum(1)), "are added up: average the vectors first"),
    ("05.5", sense(lambda known: F.normalize(known, dim=1).mean(0)), "scaled to the length 1 before"),
    ("05.5", sense(scores=lambda x, c: (x / x.norm(dim=0)) @ (c / c.norm(dim=0)).T), "along the wrong axis"),
    ("05.5", sense(lambda known: known[0]), "nly the first known vector"),
    ("05.5", in_a_dict, "nly the last known vector"),
    ("05.5", sense(running), "is no average"),
    ("05.5", the_commonest, "the most frequent sense"),
    ("05.5", sense(best=lambda table: table.argmin(1)), "he sense with the lowest cosine"),
    ("05.5", sense(scores=torch.cdist), "at the largest distance"),
    ("05.5", sense(scores=lambda x, c: F.cosine_similarity(x[:, None], c, dim=-1).abs()), "he sign of the cosine"),
    ("05.5", sense(name=lambda names, places, senses: places), "his is the place of the sense among"),
    ("05.5", sense(name=lambda names, places, senses: senses[places]), "looked up in `senses`"),
    ("05.5", lambda x, k, s: F.cosine_similarity(x[:, None], k, dim=-1).argmax(1), "he place of the nearest known"),
    ("05.5", averages_of(lambda senses: range(max(senses.tolist()) + 1)), "he senses are taken for 0, 1, 2"),
    ("05.5", averages_of(lambda senses: range(len(set(senses.tolist())))), "he senses are taken for 0, 1, 2"),
    ("05.5", sense(best=lambda table: table.argmax(0), name=lambda n, places, s: places), "runs over the vectors"),
    ("05.5", sense(best=lambda table: table, name=lambda n, table, s: table), "hese are the cosines themselves"),
    ("05.5", sense(best=lambda table: table.max(1)[0], name=lambda n, table, s: table), "the highest cosines; asked"),
    ("05.5", sense(best=lambda table: table.argmax(1, keepdim=True)), "n axis of size 1 is left"),
    ("05.6", anywhere, "may stand anywhere"),
    ("05.6", count(lambda s, suffix: s[:len(suffix)] == suffix, lambda read, n: read[n], lambda s: [*s, 0]),
     "taken for the first"),
    ("05.6", count(divide=lambda sums: sums), "not divided by their sum"),
    ("05.6", count(divide=lambda sums: sums / sums.max()), "divided by the largest"),
    ("05.6", count(divide=lambda sums: sums.softmax(0)), "A softmax is taken"),
    ("05.6", count(add=lambda sums, w, p: sums[w] + 1), "entences are counted"),
    ("05.6", count(add=lambda sums, w, p: sums[w] + 1, divide=lambda sums: sums), "and the counts are not divided"),
    ("05.6", count(lambda s, suffix: suffix in s), "o sentence fits"),
    ("05.6", count(lambda s, suffix: tuple(s[len(s) - len(suffix):]) == suffix), "o sentence fits"),
    ("05.6", count(add=lambda sums, w, p: p), "written over"),
    ("05.6", count(lambda s, suffix: len(s) > len(suffix) and s[len(s) - len(suffix):] == suffix),
     "[START] is left out"),
    ("05.6", count(read=lambda s: s), "put 0, [START], before each sentence"),
    ("05.6", count(word=lambda s, n: s[len(s) - n - 1], read=lambda s: s), "words[-1] is the last word"),
    ("05.6", count(lambda s, suffix: s[-len(suffix):] == suffix), "n empty suffix fits nowhere"),
    ("05.6", count(lambda s, suffix: s[::-1][:len(suffix)] == suffix), "is read from the right"),
    ("05.6", count(lambda s, suffix: not suffix or (s[-1] == suffix[-1] and len(s) >= len(suffix))),
     "nly the last word of the suffix"),
    ("05.6", count(lambda s, suffix: len(s) >= len(suffix) and (not suffix or s[len(s) - len(suffix)] == suffix[0])),
     "nly the first word of the suffix is compared"),
    ("05.6", count(lambda s, suffix: len(s) >= len(suffix)), "ll sentences count"),
    ("05.6", count(word=lambda read, n: [*read, 0][len(read) - n]), "ne place too far to the right"),
    ("05.6", start_inserted_in_place, "`sentences` is changed in place"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("05.4", lambda h, w, g: g * (w.softmax(0) @ h), "Print the shape"),
    ("05.5", sense(scores=lambda x, c: F.cosine_similarity(x, c, dim=-1)), "Print the shape"),
    ("05.6", count(word=lambda read, n: read[-n - 1], divide=lambda sums: sums / sum(sums) ** "1"), "unsupported"),
])
def test_what_cannot_run_is_shown_with_its_error(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "error" and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer"), [("05.4", mixed()), ("05.5", sense()), ("05.6", count())])
def test_without_its_slip_each_of_these_ways_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)
