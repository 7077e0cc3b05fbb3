"""Slips that people make in the exercises of chapter 04, as they write them: each is named as what it is."""

import math

import pytest
import torch
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from plmlab.chapters.ch04 import exercises as right
from plmlab.exercises import check

# 04.1

def turn(lengths=lambda tokens, pad: (tokens != pad).sum(1).tolist(), part=lambda row, n: row[:n].flip(0)):
    def answer(tokens, pad):
        out = tokens.clone()
        for i, n in enumerate(lengths(tokens, pad)):
            out[i, :n] = part(tokens[i], n)
        return out
    return answer


def turned_in_place(tokens, pad):
    for row in tokens:
        n = (row != pad).sum()
        row[:n] = row[:n].flip(0)
    return tokens


def all_words_at_once(tokens, pad):
    out, mask = tokens.clone(), tokens != pad
    out[mask] = tokens[mask].flip(0)
    return out


def padded(batch_first=False, value=lambda pad: 0):
    return lambda tokens, pad: pad_sequence([row[row != pad].flip(0) for row in tokens], batch_first, value(pad))


def written_into_zeros(tokens, pad):
    out = torch.zeros_like(tokens)
    for i, row in enumerate(tokens):
        words = row[row != pad]
        out[i, :len(words)] = words.flip(0)
    return out


def rolled(tokens, pad):
    return torch.stack([row.flip(0).roll(int((row == pad).sum())) for row in tokens])


# 04.2

def attend(score=lambda s, h: (s[:, None] * h).sum(-1), mask=lambda x, real: x.masked_fill(~real, -math.inf),
           softmax=lambda x: x.softmax(-1), after=lambda w, real: w, mix=lambda w, h: (w[..., None] * h).sum(1)):
    return lambda s, h, real: mix(after(softmax(mask(score(s, h), real)), real), h)


def by_matmul(dim=-1, mask=lambda x, real: x.masked_fill(~real[..., None], -math.inf)):
    """Scores [batch time 1]."""
    return lambda s, h, real: (mask(h @ s[..., None], real).softmax(dim) * h).sum(1)


def with_memory_emptied(s, h, real):
    return attend(mask=lambda x, real: x)(s, h * real.unsqueeze(-1), real)


def memory_emptied_in_place(s, h, real):
    context = attend()(s, h, real)
    h[~real] = 0
    return context


def exp_by_hand(x):
    return x.exp() / x.exp().sum(-1, keepdim=True)


def largest_so_far(x):
    largest = torch.zeros(len(x))
    for column in x.T:
        largest = torch.maximum(largest, column)
    return exp_by_hand(x - largest[:, None])


# 04.3

def compare(ours=lambda s, W: (s @ W.T)[:, None], theirs=lambda h, U: h @ U.T,
            join=lambda x, y: torch.tanh(x + y), vote=lambda x, v: x @ v):
    return lambda s, h, W, U, v: vote(join(ours(s, W), theirs(h, U)), v)


# 04.4

def rate(above=lambda a, s, p: len(a & s) + len(a & p), below=lambda a, s, p: len(a) + len(s)):
    return of_some(lambda a, s, p: 1 - above(a, s, p) / below(a, s, p))


def of_some(one):
    return lambda a, s, p: one(a, s, p) if a or s else 0.0


def f1(a, s, p):
    precision, recall = len(a & p) / len(a), len(a & s) / len(s)
    return 1 - 2 * precision * recall / (precision + recall)


def in_place(a, s, p):
    whole = len(a) + len(s)
    hits = len(a & p)
    a &= s
    return 1 - (len(a) + hits) / whole if whole else 0.0


# 04.5

def em(share=lambda t, f, e, source, target: t[f, e] / t[f, source].sum(), target_words=lambda text: text,
       source_words=lambda text: text, divide=lambda counts: counts / counts.sum(0),
       guard=lambda new, counts, t: torch.where(counts.sum(0) > 0, new, t)):
    def answer(sources, targets, t):
        counts = torch.zeros_like(t)
        for source, target in zip(map(source_words, sources), map(target_words, targets), strict=True):
            for f in target:
                for e in source:
                    counts[f, e] += share(t, f, e, list(source), list(target))
        return guard(divide(counts), counts, t)
    return answer


def as_it_is(new, counts, t):
    return new


def zeros_inside(sources, targets, t):
    for source, target in zip(sources, targets, strict=True):
        counts = torch.zeros_like(t)
        for f in target:
            for e in source:
                counts[f, e] += t[f, e] / t[f, source].sum()
    return torch.where(counts.sum(0) > 0, counts / counts.sum(0), t)


def return_inside(sources, targets, t):
    for source, target in zip(sources, targets, strict=True):
        return em()([source], [target], t)


def after_each_sentence(sources, targets, t):
    for source, target in zip(sources, targets, strict=True):
        t = em()([source], [target], t)
    return t


def hard(sources, targets, t):
    counts = torch.zeros_like(t)
    for source, target in zip(sources, targets, strict=True):
        for f in target:
            counts[f, source[t[f, source].argmax()]] += 1
    return torch.where(counts.sum(0) > 0, counts / counts.sum(0), t)


def by_index(sources, targets, t):
    counts = torch.zeros_like(t)
    for source, target in zip(sources, targets, strict=True):
        rows, columns = torch.meshgrid(torch.tensor(target), torch.tensor(source), indexing="ij")
        shares = t[rows, columns]
        counts[rows, columns] += shares / shares.sum(1, keepdim=True)
    return torch.where(counts.sum(0) > 0, counts / counts.sum(0), t)


def t_in_place(sources, targets, t):
    new = em()(sources, targets, t)
    t.zero_()
    return new


# 04.6

def schedule(keep=lambda draws, eps: draws < eps, guess=lambda inputs, guesses: F.pad(guesses, (1, 0))[:, :-1],
             start=True, pads=lambda inputs, pad: inputs == pad, swap=False):
    def answer(inputs, guesses, draws, epsilon, pad):
        pair = (inputs, guess(inputs, guesses))
        out = torch.where(keep(draws, epsilon) | pads(inputs, pad), *(pair[::-1] if swap else pair))
        return torch.cat([inputs[:, :1], out[:, 1:]], 1) if start else out
    return answer


def written_into_inputs(inputs, guesses, draws, epsilon, pad):
    change = (draws >= epsilon) & (inputs != pad)
    change[:, 0] = False
    inputs[change] = guesses.roll(1, 1)[change]
    return inputs


def unbound(inputs, guesses, draws, epsilon, pad):
    return torch.where(draws < epsilon | inputs == pad, inputs, guesses.roll(1, 1))


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("04.1", lambda tokens, pad: tokens.flip(1), "padding comes first; it stays"),
    ("04.1", lambda tokens, pad: torch.fliplr(tokens), "padding comes first; it stays"),
    ("04.1", lambda tokens, pad: tokens.flip(0), "he texts change places"),
    ("04.1", lambda tokens, pad: torch.stack(list(reversed(tokens))), "he texts change places"),
    ("04.1", lambda tokens, pad: torch.rot90(tokens, 2), "exts and slots are turned round both"),
    ("04.1", all_words_at_once, "they go from text to text"),
    ("04.1", turn(lambda tokens, pad: [int((tokens != pad).sum(1).max())] * len(tokens)), "as the longest has"),
    ("04.1", turn(lambda tokens, pad: [int((tokens[0] != pad).sum())] * len(tokens)), "as the first has"),
    ("04.1", turn(lambda tokens, pad: ((tokens != pad).sum(1) - 1).tolist()), "he last word of each text stays"),
    ("04.1", turn(lambda tokens, pad: ((tokens != pad).sum(1) + 1).tolist()), "ne slot too many"),
    ("04.1", turn(lambda tokens, pad: tokens.count_nonzero(1).tolist()), "0 is taken for padding"),
    ("04.1", turn(part=lambda row, n: torch.cat([row[:1], row[1:n].flip(0)])), "he first word of each text stays"),
    ("04.1", turn(part=lambda row, n: row[:n]), "othing is turned round"),
    ("04.1", written_into_zeros, "he rows are filled up with 0; "),
    ("04.1", padded(True, lambda pad: pad), "padding in all texts are gone; the shape"),
    ("04.1", padded(True), "filled up with 0, and slots"),
    ("04.1", padded(value=lambda pad: pad), "on its side: pad_sequence"),
    ("04.1", padded(), "on its side, filled up with 0"),
    ("04.1", rolled, "rolled to the wrong side"),
    ("04.1", turned_in_place, "The answer is right, but `tokens` is changed in place"),
    ("04.2", attend(lambda s, h: torch.einsum("bw,btw->bt", s, h) / math.sqrt(s.shape[-1])), "divided by √width"),
    ("04.2", attend(lambda s, h: (s[:, None] * h).mean(-1)), "he score is the mean"),
    ("04.2", attend(lambda s, h: F.cosine_similarity(s[:, None], h, dim=-1)), "(a cosine)"),
    ("04.2", attend(lambda s, h: (s * h).sum(-1)), "he states lie along the slots"),
    ("04.2", attend(lambda s, h: torch.einsum("bw,btw->t", s, h).repeat(len(s), 1)), "has lost its b"),
    ("04.2", attend(softmax=lambda x: x.softmax(0)), "over the texts (dim 0)"),
    ("04.2", by_matmul(), "over an axis of size 1"),
    ("04.2", by_matmul(0), "over the texts (dim 0)"),
    ("04.2", by_matmul(1, lambda x, real: x * real[..., None]), "adding gets the score 0"),
    ("04.2", attend(mask=lambda x, real: x.masked_fill(~real, 1e-9)), "adding gets the score 0"),
    ("04.2", with_memory_emptied, "set to 0 at padding, but its weight is not"),
    ("04.2", attend(mask=lambda x, real: x, after=lambda w, real: w.masked_fill(~real, 0)), "no longer add up to 1"),
    ("04.2", attend(mask=lambda x, real: x), "`real` is not used"),
    ("04.2", attend(mask=lambda x, real: x.masked_fill(real, -math.inf)), "the wrong way round"),
    ("04.2", attend(mask=lambda x, real: x + real), "added to the scores as 1 and 0"),
    ("04.2", attend(mask=lambda x, real: x.masked_fill(
        torch.arange(x.shape[1]) >= real.sum(1)[:, None], -math.inf)), "he first slots of a text"),
    ("04.2", attend(softmax=exp_by_hand), "xp of a large score is infinite"),
    ("04.2", attend(softmax=largest_so_far), " maximum that starts at 0"),
    ("04.2", attend(softmax=lambda x: x.log_softmax(-1)), "he logarithm of the weights"),
    ("04.2", attend(softmax=lambda x: F.one_hot(x.argmax(-1), x.shape[-1])), "nly the best slot"),
    ("04.2", attend(mask=lambda x, real: x * real, softmax=lambda x: x), "he softmax is missing: "),
    ("04.2", attend(mix=lambda w, h: (w[..., None] * h).mean(1)), "divided by the number of slots"),
    ("04.2", attend(mix=lambda w, h: (w[..., None] * h).sum(0)), "dded up over the texts"),
    ("04.2", attend(mix=lambda w, h: w.unsqueeze(-1) * h), "he slots are not added up"),
    ("04.2", attend(mix=lambda w, h: w), "hese are the weights"),
    ("04.2", attend(mix=lambda w, h: w.unsqueeze(1) @ h), "n axis of size 1 is left"),
    ("04.2", memory_emptied_in_place, "The answer is right, but `memory` is changed in place"),
    ("04.3", compare(join=lambda x, y: x + y), "he tanh is missing"),
    ("04.3", compare(join=lambda x, y: x + y, vote=lambda x, v: torch.tanh(x @ v)), "he tanh comes after v"),
    ("04.3", compare(join=lambda x, y: x.tanh() + y.tanh()), "each by itself"),
    ("04.3", compare(join=lambda x, y: x + y.tanh()), "of U h only"),
    ("04.3", compare(join=lambda x, y: torch.tanh(x * y)), "W s and U h are multiplied"),
    ("04.3", lambda s, h, W, U, v: torch.einsum("bw,btw->bt", s @ W.T, h @ U.T), "his is the inner product of W s"),
    ("04.3", compare(join=lambda x, y: torch.tanh(y)), "he state is left out"),
    ("04.3", compare(vote=lambda x, v: x.sum(-1)), "he vector v is left out: the numbers are added up"),
    ("04.3", compare(vote=lambda x, v: x * v), "he products with v are not added up"),
    ("04.3", compare(vote=lambda x, v: (x * v).mean(-1)), "mean of the products with v"),
    ("04.3", compare(join=lambda x, y: (x + y).sigmoid()), " sigmoid stands"),
    ("04.3", compare(join=lambda x, y: (x + y).relu()), " ReLU stands"),
    ("04.3", compare(join=lambda x, y: ((x + y).exp() - (-x - y).exp()) / ((x + y).exp() + (-x - y).exp())),
     "∞/∞ for large numbers"),
    ("04.3", compare(lambda s, W: s @ W.T), "he states lie along the slots"),
    ("04.3", compare(lambda s, W: (s @ W)[:, None]), "W lies on its side"),
    ("04.3", compare(theirs=lambda h, U: h @ U), "U lies on its side"),
    ("04.3", compare(lambda s, W: (s @ W)[:, None], lambda h, U: h @ U), "W and U lie on their sides"),
    ("04.3", lambda s, h, W, U, v: compare()(s, h, U, W, v), "W and U have changed places"),
    ("04.3", compare(vote=lambda x, v: (x @ v).softmax(-1)), "he softmax is taken already"),
    ("04.3", compare(vote=lambda x, v: (x @ v[:, None]).squeeze()), "takes away every axis of size 1"),
    ("04.4", of_some(lambda a, s, p: (len(a & s) + len(a & p)) / (len(a) + len(s))), "he 1 − is missing"),
    ("04.4", rate(lambda a, s, p: len(a & s) + len(a & (p - s))), " sure link counts once above"),
    ("04.4", rate(lambda a, s, p: len(a & (s | p))), " sure link counts once above"),
    ("04.4", of_some(lambda a, s, p: len(a ^ s) / (len(a) + len(s))), "P is not used"),
    ("04.4", rate(lambda a, s, p: 2 * len(a & p)), "P counts twice"),
    ("04.4", rate(below=lambda a, s, p: len(a) + len(p)), "divided by |A| + |P|"),
    ("04.4", rate(below=lambda a, s, p: len(a | s)), "|A ∪ S|; it is"),
    ("04.4", rate(lambda a, s, p: len(a & p), lambda a, s, p: len(a)), "his is 1 − the precision"),
    ("04.4", lambda a, s, p: len(a & p) / len(a), "his is the precision on P"),
    ("04.4", rate(lambda a, s, p: len(a & s), lambda a, s, p: len(s)), "his is 1 − the recall"),
    ("04.4", f1, "his is 1 − the F1 of precision and recall"),
    ("04.4", rate(lambda a, s, p: len(a | s) + len(a | p)), "| is what is in any"),
    ("04.4", of_some(lambda a, s, p: 1 - len(a & s) + len(a & p) / (len(a) + len(s))),
     "nly A ∩ P is divided: the sum above stands in parentheses."),
    ("04.4", of_some(lambda a, s, p: 1 - (len(a & s) + len(a & p)) / len(a) + len(s)), "|S| is added at the end"),
    ("04.4", of_some(lambda a, s, p: 1 - (len(a & s) + len(a & p)) // (len(a) + len(s))), "// is not /"),
    ("04.4", lambda a, s, p: rate()({(j, i) for i, j in a}, s, p), "he pairs of A are the wrong way round"),
    ("04.4", lambda a, s, p: 1 - (len(a & s) + len(a & p)) / (len(a) + len(s)), "0 / 0: if neither"),
    ("04.4", lambda a, s, p: 1 - (len(a & s) + len(a & p)) / max(len(a) + len(s), 1), "the rate is 0, not 1"),
    ("04.4", lambda a, s, p: rate()(a, s, p) if a else 0.0, "f A has no link"),
    ("04.4", in_place, "The answer is right, but `links` is changed in place"),
    ("04.5", em(divide=lambda counts: counts / counts.sum(1, keepdim=True),
                guard=lambda new, counts, t: torch.where(counts.sum(1, keepdim=True) > 0, new, t)),
     "he rows are divided by their sums"),
    ("04.5", em(divide=lambda counts: counts / counts.sum(), guard=as_it_is), "the sum of all"),
    ("04.5", em(divide=lambda counts: counts, guard=as_it_is), "hese are the counts"),
    ("04.5", em(lambda t, f, e, source, target: t[f, e]), " word gives t[f, e] itself"),
    ("04.5", em(lambda t, f, e, source, target: t[f, e] / t[target, e].sum()), "over the words of the target"),
    ("04.5", em(lambda t, f, e, source, target: t[f, e] / t[f].sum()), "over the whole vocabulary"),
    ("04.5", em(lambda t, f, e, source, target: 1 / len(source)), "get the same share"),
    ("04.5", em(lambda t, f, e, source, target: 1), "ach pair that meets counts 1"),
    ("04.5", hard, "he likeliest word of the source gets all"),
    ("04.5", em(target_words=set), "counted once, in the target"),
    ("04.5", em(source_words=set), "counted once, in the source"),
    ("04.5", em(target_words=set, source_words=set), "counted once, in source and target"),
    ("04.5", by_index, " place that comes twice is added to once"),
    ("04.5", zeros_inside, "nly the last sentence counts"),
    ("04.5", return_inside, "nly the first sentence counts"),
    ("04.5", after_each_sentence, "he table t changes after each sentence"),
    ("04.5", em(guard=as_it_is), "0 / 0 is NaN"),
    ("04.5", em(guard=lambda new, counts, t: new.nan_to_num()), "is set to 0; it stays"),
    ("04.5", em(divide=lambda counts: counts / counts.sum(0).clamp(min=1e-9), guard=as_it_is),
     "is set to 0; it stays"),
    ("04.5", em(source_words=lambda text: [0, *text]), "as NULL"),
    ("04.5", lambda sources, targets, t: em()(targets, sources, t), "ources and targets have changed places"),
    ("04.5", t_in_place, "The answer is right, but `t` is changed in place"),
    ("04.6", schedule(guess=lambda inputs, guesses: guesses), " slot reads its own guess, which"),
    ("04.6", schedule(guess=lambda inputs, guesses: guesses, start=False), " slot reads its own guess, and the first"),
    ("04.6", schedule(guess=lambda inputs, guesses: guesses.roll(-1, 1)), "shifted to the left"),
    ("04.6", schedule(guess=lambda inputs, guesses: guesses.roll(1, 1), start=False), "goes round the end"),
    ("04.6", schedule(guess=lambda inputs, guesses: torch.roll(guesses, 1), start=False), "uesses go from text"),
    ("04.6", schedule(guess=lambda inputs, guesses: guesses.roll(1, 0)), "those of another text"),
    ("04.6", schedule(start=False), "he first slot becomes 0"),
    ("04.6", schedule(lambda draws, eps: draws >= eps), "he draws are read the wrong way round"),
    ("04.6", schedule(lambda draws, eps: draws < 1 - eps), "compared with 1 − ε"),
    ("04.6", schedule(lambda draws, eps: draws > 1 - eps), "he chances are right, but"),
    ("04.6", schedule(lambda draws, eps: draws <= eps), "raw that is just ε"),
    ("04.6", schedule(lambda draws, eps: draws < 0.5), "compared with 0.5"),
    ("04.6", schedule(lambda draws, eps: draws[:, :1] < eps), "ne draw decides for a whole text"),
    ("04.6", schedule(lambda draws, eps: draws[0, 0] < eps), "ne draw decides for the whole batch"),
    ("04.6", schedule(lambda draws, eps: draws[0] < eps), "ll texts have the draws of the first"),
    ("04.6", schedule(lambda draws, eps: draws.roll(1, 1) < eps), " slot has the draw of the slot before"),
    ("04.6", schedule(pads=lambda inputs, pad: torch.tensor(False)), "adding is replaced by guesses"),
    ("04.6", schedule(pads=lambda inputs, pad: inputs == 0), "0 is taken for padding"),
    ("04.6", schedule(pads=lambda inputs, pad: inputs != pad), "== and != have changed places"),
    ("04.6", schedule(swap=True), "changed places in torch.where"),
    ("04.6", lambda *args: schedule()(*args)[:, 1:], "he first slot is missing"),
    ("04.6", written_into_inputs, "The answer is right, but `inputs` is changed in place"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("04.2", lambda s, h, real: h @ s, "Print the shape"),
    ("04.3", lambda s, h, W, U, v: torch.tanh(W @ s + U @ h) @ v, "Print the shape"),
    ("04.4", lambda a, s, p: (a & s + a & p) / (a + s), "unsupported operand type"),
    ("04.5", lambda sources, targets, t: t[targets, sources], "Print "),
    ("04.6", unbound, "put each comparison in parentheses"),
])
def test_what_cannot_run_is_shown_with_its_error(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "error" and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer"), [
    ("04.1", turn()), ("04.2", attend()), ("04.2", by_matmul(1)), ("04.3", compare()), ("04.4", rate()), ("04.5", em()),
    ("04.6", schedule()), ("04.6", right.scheduled_inputs),
])
def test_without_its_slip_each_of_these_ways_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)
