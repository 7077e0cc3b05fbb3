"""Slips that people make in the exercises of chapter 03, as they write them: each is named as what it is."""

import heapq
import math
from itertools import product

import pytest
import torch
from torch.nn import functional as F

from plmlab.chapters.ch03 import exercises as right
from plmlab.exercises import check

# 03.1

def ce(logits, targets, **how):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), **how)


def by_mask(log, finish=lambda nats, targets: nats.mean().exp()):
    def answer(logits, targets):
        asked = targets != -100
        logprobs = log(logits)[asked]
        return finish(-logprobs[torch.arange(len(logprobs)), targets[asked]], targets)
    return answer


def text_by_text(finish):
    return lambda logits, targets: finish(torch.stack([
        ce(x[None], t[None]) for x, t in zip(logits, targets, strict=True)]))


def one_hot(logits, targets):
    asked = targets != -100
    return (-(F.one_hot(targets[asked], logits.shape[-1]) * logits[asked].log_softmax(-1)).mean()).exp()


def largest_so_far(logits, targets):
    nats = []
    for scores, target in zip(logits.flatten(0, 1), targets.flatten(), strict=True):
        if target != -100:
            largest = torch.tensor(0.0)
            for score in scores:
                largest = torch.maximum(largest, score)
            nats.append((scores - largest).exp().sum().log() + largest - scores[target])
    return torch.stack(nats).mean().exp()


# 03.3

def table(follows=lambda c: (c > 0).sum(0) / (c > 0).sum(), kept=lambda c, d: (c - d).clamp(min=0),
          kinds=lambda c: (c > 0).sum(1, keepdim=True), n=lambda c: c.sum(1, keepdim=True), guard=True):
    def answer(counts, d):
        told = kept(counts, d) / n(counts) + d * kinds(counts) / n(counts) * follows(counts)
        return torch.where(counts.sum(1, keepdim=True) > 0, told, follows(counts)) if guard else told
    return answer


def taken_off_in_place(counts, d):
    told = table()(counts, d)
    counts -= d
    return told


def no_more_nan(counts, d):
    return table(guard=False)(counts, d).nan_to_num()


# 03.4

def step(sums=lambda s, lp: s[:, None] + lp, places=lambda at, lp: (at // lp.shape[1], at % lp.shape[1]),
         many=lambda sums, width: min(width, int((sums > -math.inf).sum())), largest=True):
    def answer(scores, logprobs, width):
        told = sums(scores, logprobs)
        best, at = told.flatten().topk(many(told, width), largest=largest)
        return *places(at, logprobs), best
    return answer


def each_row(scores, logprobs, width):
    rows, tokens, sums = [], [], []
    for row, score in enumerate(scores.tolist()):
        for token in logprobs[row].argsort(descending=True)[:width].tolist():
            if logprobs[row, token] > -math.inf:
                rows.append(row)
                tokens.append(token)
                sums.append(score + float(logprobs[row, token]))
    return torch.tensor(rows), torch.tensor(tokens), torch.tensor(sums)


def one_a_row(scores, logprobs, width):
    sums, tokens = (scores[:, None] + logprobs).max(-1)
    order = sums.argsort(descending=True)[:width]
    return order, tokens[order], sums[order]


def in_place(scores, logprobs, width):
    logprobs += scores[:, None]
    return step(lambda scores, sums: sums)(scores, logprobs, width)


# 03.5

def rank(score=lambda lp, n, alpha: lp / ((5 + n) / 6) ** alpha, n=lambda lengths, prompt: lengths - prompt,
         order=lambda scores: scores.argsort(descending=True, stable=True)):
    def answer(logprobs, lengths, prompt, alpha):
        scores = score(logprobs, n(lengths, prompt), alpha)
        return order(scores), scores[order(scores)]
    return answer


def prompt_off_in_place(logprobs, lengths, prompt, alpha):
    lengths -= prompt
    return rank(n=lambda lengths, prompt: lengths)(logprobs, lengths, prompt, alpha)


# 03.6

def is_finished(text, end, length):
    return text[-1:] == (end,) or len(text) == length


def deep(worth=lambda longer, total, best: longer > best, least=-math.inf, finished=is_finished,
         counted=lambda text, end: True, order=lambda row: range(len(row))):
    def answer(ask, end, length):
        best, found = least, ()

        def search(text, total):
            nonlocal best, found
            if finished(text, end, length):
                if total > best and counted(text, end):
                    best, found = total, text
                return
            row = ask(text).tolist()
            for token in order(row):
                if worth(total + row[token], total, best):
                    search((*text, token), total + row[token])
        search((), 0.0)
        return found, best
    return answer


def greedily(ask, end, length):
    text, total = (), 0.0
    while not is_finished(text, end, length):
        logprob, token = ask(text).max(-1)
        text, total = (*text, int(token)), total + float(logprob)
    return text, total


def beam_search(width):
    """With finished texts laid aside."""
    def answer(ask, end, length):
        texts, finished = [((), 0.0)], []
        for _ in range(length):
            ways = [((*text, token), total + logprob) for text, total in texts
                    for token, logprob in enumerate(ask(text).tolist())]
            ways = sorted(ways, key=lambda way: way[1], reverse=True)[:width]
            finished += [way for way in ways if way[0][-1] == end]
            texts = [way for way in ways if way[0][-1] != end]
        return max(finished + texts, key=lambda way: way[1])
    return answer


def all_texts(ask, end, length):
    """Every text of a product, cut at its end."""
    vocab, best = len(ask(())), ((), -math.inf)
    for tokens in product(range(vocab), repeat=length):
        text = tokens[:tokens.index(end) + 1] if end in tokens else tokens
        total = sum(float(ask(text[:slot])[token]) for slot, token in enumerate(text))
        if total > best[1]:
            best = text, total
    return best


def all_lengths(ask, end, length):
    texts, finished = [((), 0.0)], []
    while texts:
        ways = [((*text, token), total + logprob) for text, total in texts
                for token, logprob in enumerate(ask(text).tolist())]
        finished += [way for way in ways if is_finished(way[0], end, length)]
        texts = [way for way in ways if not is_finished(way[0], end, length)]
    return max(finished, key=lambda way: way[1])


def pile(sign=-1, give=lambda text, total, end: (text, total), at_once=False):
    def answer(ask, end, length):
        texts = [(0.0, ())]
        while True:
            cost, text = heapq.heappop(texts)
            if is_finished(text, end, length):
                return give(text, sign * cost, end)
            for token, logprob in enumerate(ask(text).tolist()):
                if at_once and is_finished((*text, token), end, length):
                    return give((*text, token), sign * cost + logprob, end)
                heapq.heappush(texts, (cost + sign * logprob, (*text, token)))
    return answer


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("03.1", lambda x, t: ce(x.softmax(-1), t).exp(), "he softmax is taken twice"),
    ("03.1", lambda x, t: F.nll_loss(x.softmax(-1).flatten(0, 1), t.flatten()).exp(), "he logarithm is missing"),
    ("03.1", lambda x, t: F.nll_loss(x.flatten(0, 1), t.flatten()).exp(), "he softmax is missing"),
    ("03.1", lambda x, t: ce(x, t).item(), "his is the mean of −log p; the perplexity"),
    ("03.1", lambda x, t: 2 ** ce(x, t), "2 is raised to a loss in nats"),
    ("03.1", lambda x, t: (ce(x, t) / math.log(2)).exp(), "is raised to a loss in bits"),
    ("03.1", lambda x, t: (-ce(x, t)).exp(), "he sign is wrong: this is e to"),
    ("03.1", by_mask(lambda x: x.log_softmax(-1), lambda nats, t: nats.exp().mean()), "his is the mean of 1/p"),
    ("03.1", by_mask(lambda x: x.log_softmax(-1), lambda nats, t: nats.sum().exp()), "added up, not averaged"),
    ("03.1", by_mask(lambda x: x.log_softmax(-1), lambda nats, t: (nats.sum() / t.numel()).exp()), "with −100 too"),
    ("03.1", by_mask(lambda x: x.log_softmax(-1), lambda nats, t: (nats.sum() / len(t)).exp()), "number of texts"),
    ("03.1", by_mask(lambda x: x.log_softmax(1)), "over the slots (dim 1)"),
    ("03.1", by_mask(lambda x: x.softmax(-1).log()), " probability underflows"),
    ("03.1", by_mask(lambda x: (x.softmax(-1) + 1e-8).log()), " little is added inside the logarithm"),
    ("03.1", by_mask(lambda x: (x.exp() / x.exp().sum(-1, keepdim=True)).log()), "take .log_softmax of the logits"),
    ("03.1", by_mask(lambda x: x - x.exp().sum(-1, keepdim=True).log()), ".logsumexp knows how"),
    ("03.1", largest_so_far, " maximum that starts at 0"),
    ("03.1", one_hot, "over the whole vocabulary"),
    ("03.1", text_by_text(lambda nats: nats.exp().mean()), "mean of the texts' perplexities"),
    ("03.1", text_by_text(lambda nats: nats.mean().exp()), "he mean is taken text by text"),
    ("03.1", lambda x, t: ce(x, t, ignore_index=0).exp() if t.min() >= 0 else ce(
        x[t > 0][None], t[t > 0][None]).exp(), "oken 0 is left out too"),
    ("03.1", lambda x, t: ce(x, t.clamp(min=0)).exp(), "−100 is taken for a token"),
    ("03.1", lambda x, t: ce(x[:, :-1], t[:, 1:]).exp(), "shifted once more"),
    ("03.1", lambda x, t: F.cross_entropy(x.view(len(x), x.shape[2], -1), t).exp(), "mixes slots and tokens"),
    ("03.2", lambda nats, text: nats.mean() / math.log(2), "divided by the number of tokens"),
    ("03.2", lambda nats, text: nats.mean().item() / math.log(2) / len(text), "mean over the tokens, divided by the"),
    ("03.2", lambda nats, text: nats.sum() / len(text), "hese are nats: a bit"),
    ("03.2", lambda nats, text: nats.sum() * math.log(2) / len(text), "multiplied by log 2"),
    ("03.2", lambda nats, text: nats.sum() / math.log10(2) / len(text), "to base 10"),
    ("03.2", lambda nats, text: torch.log2(nats).sum() / len(text), " second logarithm is taken: "),
    ("03.2", lambda nats, text: math.log2(nats.sum()) / len(text), "a second logarithm is taken, of the sum"[1:]),
    ("03.2", lambda nats, text: -torch.log2(torch.exp(-nats)).sum() / len(text), "without going back to chances"),
    ("03.2", lambda nats, text: nats.sum() / math.log(2) // len(text), "// is not /"),
    ("03.2", lambda nats, text: nats.sum() / math.log(2) / len(text.encode("utf-8")), "for each byte"),
    ("03.2", lambda nats, text: nats.sum() / math.log(2) / len(text.split()), "for each word"),
    ("03.2", lambda nats, text: nats.sum() / math.log(2) / len(text.replace(" ", "")), "paces are not counted"),
    ("03.2", lambda nats, text: nats.sum() / math.log(2) / len(text.strip()), "he text is stripped"),
    ("03.2", lambda nats, text: 2 ** (nats.sum() / math.log(2) / len(text)), "a perplexity of characters"),
    ("03.3", table(lambda c: c.sum(0) / c.sum()), "`follows` is how often a word comes"),
    ("03.3", table(lambda c: (c > 0).sum(1) / (c > 0).sum()), "`follows` adds up rows"),
    ("03.3", table(lambda c: (c > 0).sum(0)), "`follows` does not add up to 1"),
    ("03.3", table(lambda c: (c > 0).float().mean(0)), "divided by the number of first words"),
    ("03.3", table(kept=lambda c, d: c - d), "taken from zeros too"),
    ("03.3", table(kept=lambda c, d: c), "othing is taken off"),
    ("03.3", table(kinds=lambda c: 1), "very row shares out d / n"),
    ("03.3", table(kinds=lambda c: c.sum(1, keepdim=True)), "very row shares out d; "),
    ("03.3", table(kinds=lambda c: 0), "what is shared out goes missing"[1:]),
    ("03.3", table(kinds=lambda c: (c > 0).sum()), "each pair of the whole table"),
    ("03.3", table(n=lambda c: c.sum()), "n is the sum of all counts"[1:]),
    ("03.3", table(n=lambda c: c.sum(0)), "is the sum of a column"),
    ("03.3", table(n=lambda c: c.sum(1)), " lies along the columns"),
    ("03.3", table(n=lambda c: c.sum(1), kinds=lambda c: (c > 0).sum(1)), "and kinds lie along the columns"),
    ("03.3", table(guard=False), "0 divided by 0 is NaN"),
    ("03.3", no_more_nan, " first word that never comes has zeros"),
    ("03.3", lambda c, d: table()(c, d).T, "on its side"),
    ("03.3", taken_off_in_place, "The answer is right, but `counts` is changed in place"),
    ("03.4", each_row, "he best of each open text are taken"),
    ("03.4", one_a_row, "goes on with its best token only"),
    ("03.4", step(places=lambda at, lp: (at % lp.shape[1], at // lp.shape[1])), "// and % have changed places"),
    ("03.4", step(places=lambda at, lp: (at // len(lp), at % len(lp))), "divided by the number of open texts"),
    ("03.4", step(lambda s, lp: s[:, None] * lp), "og-probabilities are multiplied"),
    ("03.4", step(lambda s, lp: lp), "left out: only the new token counts"),
    ("03.4", step(lambda s, lp: s + lp), "he scores lie along the tokens"),
    ("03.4", step(lambda s, lp: (s[:, None].exp() * lp.exp()).log(), many=lambda x, k: min(k, x.numel())),
     "chance of a long text underflows"),
    ("03.4", step(lambda s, lp: s[:, None] + lp.log_softmax(-1)), "he softmax is taken once more"),
    ("03.4", step(lambda s, lp: (s[:, None] + lp).nan_to_num(neginf=math.inf), many=lambda x, k: min(
        k, int(x.isfinite().sum())), largest=False), "he least likely first"),
    ("03.4", step(many=lambda sums, width: width), "topk cannot give more"[1:]),
    ("03.4", step(many=lambda sums, width: min(width, sums.numel())), "teps with a sum of −∞ are kept"),
    ("03.4", step(many=lambda sums, width: 1), "nly the best of all"),
    ("03.4", lambda *args: tuple(part.flip(0) for part in step()(*args)), "he least likely of them stands first"),
    ("03.4", in_place, "The answer is right, but `logprobs` is changed in place"),
    ("03.5", rank(lambda lp, n, alpha: lp * ((5 + n) / 6) ** alpha), "is multiplied by the penalty"),
    ("03.5", rank(n=lambda lengths, prompt: lengths), "he prompt's tokens are counted"),
    ("03.5", rank(lambda lp, n, alpha: lp / n), "his is the mean for each token; "),
    ("03.5", rank(lambda lp, n, alpha: lp / n ** alpha), "he penalty is n**alpha"),
    ("03.5", rank(lambda lp, n, alpha: lp / ((5 + n) / 6 ** alpha)), "nly the 6 is raised"),
    ("03.5", rank(lambda lp, n, alpha: lp / (5 + n / 6) ** alpha), "nly n is divided by 6"),
    ("03.5", rank(lambda lp, n, alpha: lp / ((5 + n) // 6) ** alpha), "// is not /"),
    ("03.5", rank(lambda lp, n, alpha: lp / ((5 + n) / 6) * alpha), "alpha multiplies the score"[1:]),
    ("03.5", rank(lambda lp, n, alpha: lp / ((5 + n) / 6 * alpha)), "alpha multiplies the penalty"[1:]),
    ("03.5", rank(lambda lp, n, alpha: (lp / ((5 + n) / 6)) ** alpha), "he whole score is raised"),
    ("03.5", rank(lambda lp, n, alpha: lp), "here is no penalty"),
    ("03.5", rank(order=lambda scores: scores.argsort()), "he worst stands first"),
    ("03.5", rank(order=lambda scores: scores.argsort(stable=True).flip(0)), "f equal texts the later"),
    ("03.5", lambda *args: rank()(*args)[::-1], "he scores come first"),
    ("03.5", lambda *args: (rank()(*args)[0].argsort(), rank()(*args)[1]), "hese are ranks"),
    ("03.5", prompt_off_in_place, "The answer is right, but `lengths` is changed in place"),
    ("03.6", greedily, "he likeliest token is taken at each step"),
    ("03.6", beam_search(2), "keeps two texts after each token"),
    ("03.6", beam_search(3), "keeps three texts after each token"),
    ("03.6", all_texts, "asks about texts that cannot win any more"),
    ("03.6", all_lengths, "asks about texts that cannot win any more"),
    ("03.6", deep(lambda longer, total, best: True), "asks about texts that cannot win any more"),
    ("03.6", deep(lambda longer, total, best: True, order=lambda row: range(len(row) - 1, -1, -1)),
     "asks about texts that cannot win any more"),
    ("03.6", deep(lambda longer, total, best: total > best), "he text before the new token is compared"),
    ("03.6", deep(lambda longer, total, best: total > best, order=lambda row: sorted(
        range(len(row)), key=lambda token: -row[token])), "he text before the new token is compared"),
    ("03.6", deep(least=0.0), " maximum that starts at 0"),
    ("03.6", deep(counted=lambda text, end: text != (end,)), "he end at once is left out"),
    ("03.6", deep(counted=lambda text, end: text[-1] == end), " text that is cut at its full length is left out"),
    ("03.6", deep(finished=lambda text, end, length: text[-1:] == (end,)), " text of the full length is asked"),
    ("03.6", deep(finished=lambda text, end, length: len(text) == length), "nly texts of the full length count"),
    ("03.6", lambda ask, end, length: pile()(ask, 0, length), "he end is taken to be 0"),
    ("03.6", pile(at_once=True), "he first finished text that comes up"),
    ("03.6", pile(sign=1), "heapq gives the smallest first"[1:]),
    ("03.6", pile(give=lambda text, total, end: (tuple(t for t in text if t != end), total)), "he end is missing"),
    ("03.6", pile(give=lambda text, total, end: (text, math.exp(total))), "his is the chance of the text"),
    ("03.6", pile(give=lambda text, total, end: (text, -total)), "he sign is wrong"),
    ("03.6", pile(give=lambda text, total, end: (text, total / len(text))), "his is the mean for each token"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer", "error"), [
    ("03.1", lambda x, t: x.log_softmax(-1).gather(-1, t[..., None]).neg().mean().exp(), "out of bounds"),
    ("03.2", lambda nats, text: nats.sum() / math.log(2) / text, "unsupported operand type"),
    ("03.6", lambda ask, end, length: ask([end]), "which is finished or has an unknown token"),
])
def test_what_cannot_run_is_shown_with_its_error(number: str, answer, error: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "error" and error in repr(feedback) and "\nPrint " in repr(feedback), feedback


def test_a_text_that_cannot_win_is_named_beside_the_one_that_beats_it() -> None:
    told = repr(check("03.6", all_texts))
    assert "CannotWin: next_logprobs was asked about (" in told and ") is finished and has −" in told.replace("-", "−")


@pytest.mark.parametrize(("number", "answer"), [
    ("03.1", by_mask(lambda x: x.log_softmax(-1))), ("03.3", table()), ("03.4", step()), ("03.5", rank()),
    ("03.6", deep()), ("03.6", pile()), ("03.6", right.likeliest_text),
])
def test_without_its_slip_each_of_these_ways_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)
