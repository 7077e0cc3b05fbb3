"""The solutions of chapter 03 against independent ones; and other right ways are not refused."""

import math
from itertools import product

import pytest
import torch
from torch.nn import functional as F

from plmlab.chapters.ch03 import exercises as right
from plmlab.chapters.ch03 import exercises_search as search
from plmlab.decode import Beam, UncachedLM, beam_search, length_penalty
from plmlab.exercises import check
from plmlab.text.vocabulary import Vocabulary


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape)), dtype=torch.float64)


# The solutions

@pytest.mark.parametrize("padded", [0, 1, 3])
def test_the_perplexity_is_e_to_pytorchs_cross_entropy(padded: int) -> None:
    logits, targets = 3 * draw(4, 5, 7), torch.randint(7, (4, 5), generator=torch.Generator().manual_seed(padded))
    targets[0, 5 - padded:] = targets[2, : padded] = -100
    told = F.cross_entropy(logits.transpose(1, 2), targets).exp()
    assert right.perplexity_of(logits, targets) == pytest.approx(float(told))


def test_a_perplexity_worked_by_hand() -> None:
    """Of 9 equally likely tokens it is 9, whatever is asked."""
    assert right.perplexity_of(torch.zeros(2, 3, 9), torch.tensor([[4, 0, -100], [8, 8, 1]])) == pytest.approx(9)


@pytest.mark.parametrize("width", [1, 3, 7, 40])
def test_a_step_is_beam_searchs(width: int) -> None:
    logprobs = draw(3, 6).log_softmax(-1)
    logprobs[0, 2] = logprobs[2, :4] = -math.inf
    beam = Beam(width, alpha=0.0, length=99, end=None)
    beam.open = [text.extend(token, score) for token, score, text in zip(
        range(3), [-1.5, -0.2, -3.0], beam.open * 3, strict=True)]
    scores = torch.tensor([text.logprob for text in beam.open], dtype=torch.float64)
    rows, tokens, sums = search.beam_step(scores, logprobs, width)
    assert beam.grow(logprobs) == rows.tolist()
    assert [text.tokens[-1] for text in beam.open] == tokens.tolist()
    assert [text.logprob for text in beam.open] == pytest.approx(sums.tolist())


@pytest.mark.parametrize("alpha", [0.0, 0.65, 1.0])
def test_the_rank_is_by_beam_searchs_penalty(alpha: float) -> None:
    logprobs, written = -5 * draw(9).abs(), [3, 1, 12, 7, 30, 2, 2, 19, 5]
    told = {place: float(logprobs[place]) / length_penalty(written[place], alpha) for place in range(9)}
    order, scores = search.rank_by_length_penalty(logprobs, torch.tensor(written) + 6, 6, alpha)
    assert order.tolist() == sorted(told, key=told.__getitem__, reverse=True)
    assert scores.tolist() == pytest.approx([told[place] for place in order.tolist()])


def model_of(seed: int, vocab: int, end: int, length: int):
    """A model, and the log-probability of each of its finished texts."""
    tokens = [token for token in range(vocab) if token != end]
    begun = [text for size in range(length) for text in product(tokens, repeat=size)]
    rows = dict(zip(begun, draw(len(begun), vocab, seed=seed).log_softmax(-1), strict=True))
    finished = {(*text, token): sum(float(rows[(*text, token)[:position]][(*text, token)[position]])
                                    for position in range(len(text) + 1))
                for text in begun for token in range(vocab) if token == end or len(text) == length - 1}
    return rows, finished


@pytest.mark.parametrize(("vocab", "end", "length"), [(3, 0, 5), (4, 3, 4), (5, 2, 3), (2, 1, 6), (6, 0, 1)])
@pytest.mark.parametrize("seed", range(5))
def test_the_likeliest_text_is_that_of_brute_force_and_no_call_is_wasted(seed, vocab, end, length) -> None:
    rows, finished = model_of(seed, vocab, end, length)
    asked = []
    text, logprob = search.likeliest_text(lambda text: asked.append(text) or rows[text], end, length)
    assert text == max(finished, key=finished.__getitem__) and logprob == pytest.approx(finished[text])
    assert sum(math.exp(each) for each in finished.values()) == pytest.approx(1)
    likely = [begun for begun in rows if sum(
        float(rows[begun[:position]][token]) for position, token in enumerate(begun)) >= logprob - 1e-9]
    assert sorted(asked) == sorted(likely)


def test_a_beam_as_wide_as_there_are_texts_finds_it_too() -> None:
    _, end, length = args = list(search.draw_models(torch.Generator()).values())[4]
    rows = args[0].rows
    reader = UncachedLM(lambda texts: torch.tensor([rows[tuple(text[1:])] for text in texts.tolist()]))
    vocab = Vocabulary(4, None, None, None, None, None, None, end=end, sentinels=())
    told = [beam_search(reader, torch.tensor([[0]]), vocab, length=length, beam=beam)[0][0] for beam in (1, 2, 200)]
    text, logprob = search.likeliest_text(*args)
    assert told[2].tokens == text and told[2].logprob == pytest.approx(logprob, abs=1e-5)
    assert told[0].logprob < logprob - 0.01 and told[1].logprob < logprob - 0.01


def test_the_toys_of_the_docstrings_come_out() -> None:
    assert right.perplexity_of(*right.draw_logits(torch.Generator())["probabilities 1/2 and 1/8"]) == pytest.approx(4)
    chances = torch.tensor([[0.6, 0.3, 0.1], [0.8, 0.1, 0.1]])
    rows, tokens, sums = search.beam_step(torch.tensor([-1.0, -3]), chances.log(), 2)
    assert rows.tolist() == [0, 0] and tokens.tolist() == [0, 1]
    assert sums.tolist() == pytest.approx([-1.51, -2.20], abs=0.01)
    order, scores = search.rank_by_length_penalty(torch.tensor([-4.0, -6]), torch.tensor([5, 15]), 2, 1.0)
    assert order.tolist() == [1, 0] and scores.tolist() == [-2, -3]
    text, logprob = search.likeliest_text(*search.draw_models(torch.Generator())["two tokens at most"])
    assert text == (2, 0) and logprob == pytest.approx(math.log(0.36))


def test_a_little_model_refuses_what_cannot_win() -> None:
    model, end, _ = search.draw_models(torch.Generator())["three tokens at most"]
    for text in [(end,), (0, 0, 0), (0, 9)]:
        with pytest.raises(search.CannotWin, match="finished or contains an unknown token"):
            model(text)
    assert model([]).shape == model(torch.tensor([0])).shape == (4,)
    best = max((text for text in model.rows if len(text) == 1), key=lambda text: model.logprob((*text, end)))
    worst = min((text for text in model.rows if len(text) == 2 and text[:1] != best), key=model.logprob)
    model(worst)
    model(best)
    with pytest.raises(search.CannotWin, match="is finished and has"):
        model(worst)


# Other right ways

def perplexity_in_loops(logits, targets):
    total, number = 0.0, 0
    for text, row in zip(logits.tolist(), targets.tolist(), strict=True):
        for scores, target in zip(text, row, strict=True):
            if target != -100:
                most = max(scores)
                total += most + math.log(sum(math.exp(score - most) for score in scores)) - scores[target]
                number += 1
    return math.exp(total / number)


def perplexity_by_logsumexp(logits, targets):
    mask = (targets != -100).float()
    said = logits.gather(-1, targets.clamp(min=0)[..., None])[..., 0]
    return torch.exp(((logits.logsumexp(-1) - said) * mask).sum() / mask.sum()).item()


def beam_in_loops(scores, logprobs, width):
    ways = [(score + logprob, row, token) for row, score in enumerate(scores.tolist())
            for token, logprob in enumerate(logprobs[row].tolist())]
    ways = sorted((way for way in ways if way[0] > -math.inf), reverse=True)[:width]
    sums, rows, tokens = zip(*ways, strict=True)
    return torch.tensor(rows), torch.tensor(tokens), torch.tensor(sums)


def beam_in_two_rounds(scores, logprobs, width):
    """The best of each text first, then the best of those."""
    each = (scores.unsqueeze(1) + logprobs).topk(min(width, logprobs.shape[1]), dim=1)
    sums, places = each.values.flatten().sort(descending=True)
    keep = sums[:width] > -math.inf
    rows = torch.arange(len(scores)).repeat_interleave(each.values.shape[1])
    return rows[places[:width]][keep], each.indices.flatten()[places[:width]][keep], sums[:width][keep]


def beam_by_unravelling(scores, logprobs, width):
    sums = scores.view(-1, 1) + logprobs
    order = sums.flatten().argsort(descending=True)[:width]
    rows, tokens = torch.unravel_index(order, sums.shape)
    here = sums[rows, tokens] != -torch.inf
    return [rows[here], tokens[here], sums[rows, tokens][here]]


def rank_by_sorted(logprobs, lengths, prompt, alpha):
    scores = [logprob / ((5 + length - prompt) / 6) ** alpha for logprob, length in zip(
        logprobs.tolist(), lengths.tolist(), strict=True)]
    order = sorted(range(len(scores)), key=lambda place: scores[place], reverse=True)
    return torch.tensor(order), torch.tensor([scores[place] for place in order])


def rank_by_argsort(logprobs, lengths, prompt, alpha):
    scores = logprobs * torch.pow((lengths - prompt + 5) / 6, -alpha)
    order = torch.argsort(-scores, stable=True)
    return [order, scores[order]]


def is_finished(text, end, length):
    return text[-1:] == (end,) or len(text) == length


def deep(worth=lambda longer, total, best: longer > best, least=-math.inf):
    """Into the depth, the last tokens first."""
    def answer(ask, end, length):
        best, found = least, ()

        def search(text, total):
            nonlocal best, found
            if is_finished(text, end, length):
                if total > best:
                    best, found = total, text
                return
            row = ask(text).tolist()
            for token in reversed(range(len(row))):
                if worth(total + row[token], total, best):
                    search((*text, token), total + row[token])
        search((), 0.0)
        return found, best
    return answer


def by_stack(ask, end, length):
    stack, best = [((), 0.0)], ((), -math.inf)
    while stack:
        text, total = stack.pop()
        if total <= best[1]:
            continue
        if len(text) == length or (text and text[-1] == end):
            best = text, total
            continue
        for token, logprob in enumerate(ask(text).tolist()):
            stack.append(((*text, token), total + logprob))
    return best


def length_by_length(ask, end, length):
    texts, best = {(): 0.0}, ((), -math.inf)
    for size in range(1, length + 1):
        longer = {}
        for text, total in texts.items():
            for token, logprob in enumerate(ask(text).tolist()):
                if token == end or size == length:
                    best = max(best, ((*text, token), total + logprob), key=lambda found: found[1])
                else:
                    longer[(*text, token)] = total + logprob
        texts = {text: total for text, total in longer.items() if total >= best[1]}
    return list(best[0]), torch.tensor(best[1])


@pytest.mark.parametrize(("number", "answer"), [
    ("03.1", perplexity_in_loops), ("03.1", perplexity_by_logsumexp),
    ("03.1", lambda x, t: math.exp(F.cross_entropy(x.reshape(-1, x.shape[-1]), t.reshape(-1)))),
    ("03.2", beam_in_loops), ("03.2", beam_in_two_rounds), ("03.2", beam_by_unravelling),
    ("03.3", rank_by_sorted), ("03.3", rank_by_argsort),
    ("03.4", deep()), ("03.4", by_stack), ("03.4", length_by_length),
])
def test_another_right_way_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


# Slips, as people write them

def without_logsumexp(logits, targets):
    said = logits.gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return (logits.exp().sum(-1).log() - said)[targets != -100].mean().exp()


def largest_so_far(logits, targets):
    nats = []
    for scores, target in zip(logits.flatten(0, 1), targets.flatten(), strict=True):
        if target != -100:
            largest = torch.tensor(0.0)
            for score in scores:
                largest = torch.maximum(largest, score)
            nats.append((scores - largest).exp().sum().log() + largest - scores[target])
    return torch.stack(nats).mean().exp()


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


def by_topk(scores, logprobs, width):
    sums = scores.unsqueeze(1) + logprobs
    best, at = sums.view(-1).topk(width)
    return at // sums.shape[1], at % sums.shape[1], best


def rank(score=lambda lp, n, alpha: lp / ((5 + n) / 6) ** alpha, down=lambda scores: scores.argsort(descending=True)):
    def answer(logprobs, lengths, prompt, alpha):
        scores = score(logprobs, lengths - prompt, alpha)
        return down(scores), scores[down(scores)]
    return answer


def greedily(ask, end, length):
    text, total = (), 0.0
    while not is_finished(text, end, length):
        logprob, token = ask(text).max(-1)
        text, total = (*text, int(token)), total + float(logprob)
    return text, total


def narrow(width):
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
        total = sum(float(ask(text[:position])[token]) for position, token in enumerate(text))
        if total > best[1]:
            best = text, total
    return best


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("03.1", lambda x, t: F.cross_entropy(x.softmax(-1).mT, t).exp(), "he softmax is applied twice"),
    ("03.1", without_logsumexp, "use .logsumexp"),
    ("03.1", largest_so_far, " maximum that starts at 0"),
    ("03.2", each_row, "best extensions of each hypothesis"),
    ("03.2", one_a_row, "extended by its best token only"),
    ("03.2", by_topk, "opk cannot return more"),
    ("03.3", rank(lambda lp, n, alpha: lp / ((5 + n) / 6) * alpha), "lpha multiplies the score"),
    ("03.3", rank(lambda lp, n, alpha: lp / (5 + n / 6) ** alpha), "nly n is divided by 6"),
    ("03.3", rank(down=lambda scores: scores.argsort(stable=True).flip(0)), "exts with equal scores are in reverse"),
    ("03.4", greedily, "his is greedy search"),
    ("03.4", narrow(2), "beam search with width 2"),
    ("03.4", deep(least=0.0), " maximum that starts at 0"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


@pytest.mark.parametrize(("answer", "words"), [
    (all_texts, "is called with texts that cannot win"),
    (deep(lambda longer, total, best: total > best), "he text without the new token"),
])
def test_a_text_that_cannot_win_is_named_beside_the_one_that_beats_it(answer, words: str) -> None:
    told = repr(check("03.4", answer))
    assert words in told
    assert "CannotWin: next_logprobs was called with (" in told and ") is finished and has −" in told.replace("-", "−")


# What no mistake names

@pytest.mark.parametrize(("number", "answer", "words"), [
    ("03.1", lambda x, t: right.perplexity_of(x, t) + 1, "Yours is 5.0, expected 4.0"),
    ("03.1", lambda x, t: F.cross_entropy(x.transpose(1, 2), t, reduction="none").exp(), "expected a number"),
    ("03.2", lambda *args: [part.tolist() for part in search.beam_step(*args)], "expected a tensor [2]"),
    ("03.2", lambda *args: [part + 1 for part in search.beam_step(*args)], "sum is not the score of its row"),
    ("03.2", lambda *args: [part + 9 for part in search.beam_step(*args)], "row or a token is out of range"),
    ("03.2", lambda *args: [part[:1].repeat(len(part)) for part in search.beam_step(*args)], "yours is 0, expected 1"),
    ("03.3", lambda *args: search.rank_by_length_penalty(*args)[0], "2 values were expected"),
    ("03.3", lambda *args: (0 * search.rank_by_length_penalty(*args)[0], args[0]), "does not contain each text"),
    ("03.4", lambda *args: search.likeliest_text(*args)[0], "Part 1 of the output is 2; 2 values were expected"),
    ("03.4", lambda *args: search.likeliest_text(*args)[1], "2 values were expected: ((2, 0), -1.0217)"),
    ("03.4", lambda ask, end, length: ((end,), 0.0), "Part 1 of the output has 1 parts; 2 were expected: (2, 0)"),
])
def test_what_no_mistake_names_is_said(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and not feedback.mistake and words in repr(feedback), feedback
