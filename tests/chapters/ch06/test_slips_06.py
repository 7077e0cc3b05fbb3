"""Slips that people make in the exercises of chapter 06, written as they write them: each is named as what it is."""

from math import exp, sqrt

import pytest
import torch
from torch.nn.functional import softmax
from torch.nn.utils.rnn import pad_sequence

from plmlab.exercises import check

# 06.1, 06.2: a softmax by hand

def softmax_by_hand(scores: torch.Tensor) -> torch.Tensor:
    return scores.exp() / scores.exp().sum(-1, keepdim=True)


def largest_so_far(scores: torch.Tensor) -> torch.Tensor:
    """The softmax of each row, in loops, with a maximum that starts at 0."""
    rows = []
    for row in scores.tolist():
        largest = 0.0
        for score in row:
            if score > largest:
                largest = score
        powers = torch.tensor([exp(score - largest) for score in row])
        rows.append(powers / powers.sum())
    return torch.stack(rows)


def scored(q, k):
    return q @ k.T / sqrt(k.shape[1])


def masked_in_place(scores, look):
    scores[~look] = float("-inf")
    return scores.softmax(-1)


# 06.3

def cut_in_pieces(x, heads):
    return torch.stack(x.split(heads, dim=-1), dim=1)


# 06.4

def waves(angles):
    table = torch.zeros(len(angles), 2 * angles.shape[1])
    table[:, 0::2], table[:, 1::2] = angles.sin(), angles.cos()
    return table


def column(time):
    return torch.arange(time).unsqueeze(1)


# 06.5

def padded(rows, fill):
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [fill] * (longest - len(row)) for row in rows])


def cut_after_padding(sentences, start, end, pad):
    whole = padded([[start, *s, end] for s in sentences], pad)
    targets = whole[:, 1:].clone()
    targets[targets == pad] = -100
    return whole[:, :-1], targets


def cut_after_padding_with_pad(sentences, start, end, pad):
    whole = padded([[start, *s, end] for s in sentences], pad)
    return whole[:, :-1], whole[:, 1:]


def as_t5_does(sentences, start, end, pad):
    """The labels moved to the right; T5's own code then writes pad over −100."""
    targets = padded([[*s, end] for s in sentences], -100)
    read = targets.new_zeros(targets.shape)
    read[:, 1:], read[:, 0] = targets[:, :-1].clone(), start
    return read, targets


def rolled(sentences, start, end, pad):
    read = padded(sentences, pad).roll(1, dims=1)
    read[:, 0] = start
    return read, padded(sentences, -100)


def ragged(sentences, start, end, pad):
    return torch.tensor([[start, *s] for s in sentences]), torch.tensor([[*s, end] for s in sentences])


def by_pad_sequence(sentences, start, end, pad):
    read = [torch.tensor([start, *s]) for s in sentences]
    say = [torch.tensor([*s, end]) for s in sentences]
    return pad_sequence(read, batch_first=True), pad_sequence(say, batch_first=True, padding_value=-100)


def by_pad_sequence_on_its_side(sentences, start, end, pad):
    read = [torch.tensor([start, *s]) for s in sentences]
    say = [torch.tensor([*s, end]) for s in sentences]
    return pad_sequence(read, padding_value=pad), pad_sequence(say, padding_value=-100)


def shifted_in_place(sentences, start, end, pad):
    for s in sentences:
        s.append(end)
    return padded([[start, *s[:-1]] for s in sentences], pad), padded(sentences, -100)


def shifted_in_place_and_wrong(sentences, start, end, pad):
    for s in sentences:
        s.append(end)
    return padded([[start, *s[:-1]] for s in sentences], pad), padded(sentences, -1)


# 06.6

def special(token):
    return token.startswith("[")


def looks_back(weights, tokens, pairs, divide=None):
    scores = [sum(float(head[i, j]) for i, j in pairs) / (divide or len(pairs)) for head in weights]
    return scores.index(max(scores)), max(scores)


def over_sep(weights, tokens):
    words = [i for i, token in enumerate(tokens) if not special(token)]
    return looks_back(weights, tokens, list(zip(words[1:], words[:-1], strict=True)))


def neighbours(tokens, left_out=special):
    return [(i, i - 1) for i in range(1, len(tokens)) if not left_out(tokens[i]) and not left_out(tokens[i - 1])]


def in_two(left_out):
    return lambda weights, tokens: looks_back(weights, tokens, neighbours(tokens, left_out))


@pytest.mark.parametrize(("number", "answer", "words"), [
    ("06.1", lambda q, k, v: softmax(q @ k.T / k.shape[-1] ** 1/2, dim=-1) @ v, "divided by d_k and by 2"),
    ("06.1", lambda q, k, v: softmax(q @ k.T / (k.shape[-1] ** 1/2), dim=-1) @ v, "divided by half of d_k"),
    ("06.1", lambda q, k, v: softmax(q @ k.T / (k.shape[-1] * 0.5), dim=-1) @ v, "* is not **"),
    ("06.1", lambda q, k, v: softmax(q @ k.T / k.shape[-1] ** (1//2), dim=-1) @ v, "are not divided by √d_k"),
    ("06.1", lambda q, k, v: softmax(q @ k.T // k.shape[-1] ** 0.5, dim=-1) @ v, "// is not /"),
    ("06.1", lambda q, k, v: softmax(q @ k.T / k.shape[-1] ** -0.5, dim=-1) @ v, "are multiplied by √d_k"),
    ("06.1", lambda q, k, v: softmax(q @ k.T, dim=-1) / k.shape[-1] ** 0.5 @ v, "comes after the softmax"),
    ("06.1", lambda q, k, v: softmax(q @ k.T / sqrt(q.shape[0]), dim=-1) @ v, "the number of queries"),
    ("06.1", lambda q, k, v: softmax(q @ k.T / sqrt(v.shape[-1]), dim=-1) @ v, "the width of the values"),
    ("06.1", lambda q, k, v: softmax(scored(q, k), dim=0) @ v, "over the queries (dim 0)"),
    ("06.1", lambda q, k, v: softmax_by_hand(scored(q, k)) @ v, "xp of a large score is infinite"),
    ("06.1", lambda q, k, v: softmax_by_hand(scored(q, k) - scored(q, k).max()) @ v, "of the whole table is taken"),
    ("06.1", lambda q, k, v: largest_so_far(scored(q, k)) @ v, " maximum that starts at 0"),
    ("06.1", lambda q, k, v: softmax_by_hand(q @ k.T) @ v, "are not divided by √d_k"),
    ("06.1", lambda q, k, v: scored(q, k).exp() / scored(q, k).exp().sum(0) @ v, "over the queries (dim 0)"),
    ("06.1", lambda q, k, v: scored(q, k).exp() / scored(q, k).exp().sum() @ v, "over the whole table"),
    ("06.2", lambda s, look: softmax(s * look, dim=-1), "idden scores become 0"),
    ("06.2", lambda s, look: softmax(s.masked_fill(~look, -100.0), dim=-1), "idden scores become −100"),
    ("06.2", lambda s, look: softmax(s.masked_fill(~look, float("inf")), dim=-1), "idden scores become +∞"),
    ("06.2", lambda s, look: softmax(torch.where(look, float("-inf"), s), dim=-1), "mask is inverted"),
    ("06.2", lambda s, look: softmax(s.tril().masked_fill(torch.ones_like(s).tril() == 0, float("-inf")), -1),
     "not used, but a causal one"),
    ("06.2", lambda s, look: s.exp() * look / (s.exp() * look).sum(-1, keepdim=True), "∞ · 0 is NaN"),
    ("06.2", lambda s, look: largest_so_far(s.masked_fill(~look, float("-inf"))), " maximum that starts at 0"),
    ("06.2", masked_in_place, "`scores` is changed in place"),
    ("06.3", lambda x, heads: x.view(len(x), heads, x.shape[1], -1), "cuts across tokens"),
    ("06.3", lambda x, heads: x.view(*x.shape[:2], -1, heads).permute(0, 3, 1, 2), "ead and width are confused"),
    ("06.3", lambda x, heads: x.view(*x.shape[:2], -1, heads).transpose(1, 2), "for the width of a head"),
    ("06.3", cut_in_pieces, "for the width of a head"),
    ("06.3", lambda x, heads: torch.stack([x] * heads, dim=1), "othing is cut"),
    ("06.4", lambda time, d: waves(column(time) / 10_000 ** (2 * torch.arange(0, d, 2) / d)), "2i is doubled"),
    ("06.4", lambda time, d: waves(column(time) / 10_000 ** (torch.arange(d // 2) / d)), "exponent is i/d, not 2i/d"),
    ("06.4", lambda time, d: waves(column(time) / 10_000 ** torch.arange(0, d, 2) / d), "needs brackets: ** binds"),
    ("06.4", lambda time, d: waves(column(time) / (10_000 ** torch.arange(0, d, 2) / d)), "needs brackets of its own"),
    ("06.4", lambda time, d: waves(column(time) / 10_000 ** 2 * torch.arange(d // 2) / d), "10000², times i"),
    ("06.4", lambda time, d: waves(column(time) / (10_000 ** 2 * torch.arange(d // 2) / d)), "10000², times i"),
    ("06.4", lambda time, d: waves(column(time) / 10_000 * (torch.arange(0, d, 2) / d)), "* is not **"),
    ("06.4", lambda time, d: waves(column(time) / 10_000 * torch.arange(0, d, 2) / d), "* is not **"),
    ("06.4", lambda time, d: waves(column(time) / (10_000 * torch.arange(0, d, 2) / d)), "* is not **"),
    ("06.4", lambda time, d: waves(column(time) / 10_000 ** (torch.arange(0, d, 2) // d)), "2i // d is 0"),
    ("06.4", lambda time, d: waves(column(time) // 10_000 ** (torch.arange(0, d, 2) / d)), "angles are cut"),
    ("06.4", lambda time, d: waves(column(time) * 10_000 ** (torch.arange(0, d, 2) / d)), "position is multiplied"),
    ("06.5", cut_after_padding, "he padded row is shifted: a short row then reads its end"),
    ("06.5", cut_after_padding_with_pad, "and the targets are filled up with pad"),
    ("06.5", as_t5_does, "−100, which is no token"),
    ("06.5", rolled, "he padded row is shifted, and end is missing"),
    ("06.5", ragged, "torch.tensor wants a table"),
    ("06.5", ragged, "ValueError: expected sequence of length 4"),
    ("06.5", by_pad_sequence, "is filled up with 0, not with `pad`"),
    ("06.5", by_pad_sequence_on_its_side, "batch_first=True"),
    ("06.5", shifted_in_place, "`sentences` is changed in place"),
    ("06.5", shifted_in_place_and_wrong, "Besides, `sentences` is changed in place"),
    ("06.6", over_sep, "over a special token between them"),
    ("06.6", lambda w, t: looks_back(w, t, neighbours(t), len(t)), "by the number of all tokens"),
    ("06.6", lambda w, t: looks_back(w, t, neighbours(t), len(t) - 1), "by the number of all pairs"),
    ("06.6", lambda w, t: looks_back(w, t, neighbours(t), sum(not special(x) for x in t)), "number of real tokens"),
    ("06.6", in_two(lambda token: token in ("[CLS]", "[SEP]")), "nly [CLS] and [SEP] are left out"),
    ("06.6", in_two(lambda token: token in ("[CLS]", "[SEP]", "[PAD]")), "nly [CLS], [SEP] and [PAD]"),
    ("06.6", in_two(lambda token: not token.isalpha()), "nly words of letters count"),
    ("06.6", in_two(lambda token: False), "pecial tokens are counted"),
    ("06.6", lambda w, t: looks_back(w.mT, t, neighbours(t)), "looks at the next token"),
])
def test_a_slip_is_named(number: str, answer, words: str) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback


@pytest.mark.parametrize(("number", "answer", "place"), [
    ("06.5", cut_after_padding, 2), ("06.5", by_pad_sequence, 3), ("06.5", ragged, 2),
    ("06.6", in_two(lambda token: token in ("[CLS]", "[SEP]")), 4),
])
def test_the_input_is_the_first_where_the_slip_shows(number: str, answer, place: int) -> None:
    assert f'case("{number}", {place})' in repr(check(number, answer))
