"""The solutions of chapter 06 against independent ones; and other right ways are not refused."""

from math import exp, sqrt
from random import Random

import pytest
import torch
from torch.nn import functional as F

from plmlab.chapters.ch06 import exercises as right
from plmlab.example import IGNORE, Batch
from plmlab.exercises import check
from plmlab.layers.attention import MultiHeadAttention
from plmlab.objectives import causal
from plmlab.text.vocabulary import Vocabulary


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


# The solutions

@pytest.mark.parametrize(("query", "key"), [(1, 1), (3, 3), (2, 7)])
def test_attention(query: int, key: int) -> None:
    q, k, v = draw(query, 4), draw(key, 4), draw(key, 5)
    theirs = F.scaled_dot_product_attention(q[None], k[None], v[None])[0]
    torch.testing.assert_close(right.attention_by_hand(q, k, v), theirs)


def test_the_mask() -> None:
    q, k, look = draw(5, 16), draw(6, 16), draw(5, 6) < 0.5
    look[:, 0] = True
    weights = F.scaled_dot_product_attention(q[None], k[None], torch.eye(6)[None], look)[0]
    torch.testing.assert_close(right.masked_weights(q @ k.T / 4, look), weights)


def test_many_heads() -> None:
    x, layer = draw(2, 5, 12), MultiHeadAttention(12, 3)
    assert torch.equal(right.split_heads(x, 3), layer._split(x))
    assert torch.equal(right.split_heads(x, 3)[1, 2, 4], x[1, 4, 8:12])


def test_the_shift_is_that_of_the_causal_objective() -> None:
    rows, vocab = [[11, 12, 13], [14], [15, 16]], Vocabulary(50)
    batch = Batch.of([causal(row, vocab=vocab, rng=Random(0)) for row in rows], pad=0)
    read, targets = right.shift_right(rows, start=5, end=6, pad=0)
    assert torch.equal(read, batch.tokens) and torch.equal(targets, batch.targets)
    assert int((targets == IGNORE).sum()) == 3


def look_back_by_hand(weights: torch.Tensor, tokens: list[str]) -> tuple[int, float]:
    """Cell by cell, as the docstring says it."""
    means = []
    for head in weights.tolist():
        cells = [head[i][i - 1] for i in range(1, len(tokens)) if tokens[i][0] != "[" and tokens[i - 1][0] != "["]
        means.append(sum(cells) / len(cells))
    return means.index(max(means)), max(means)


def test_reading_a_head() -> None:
    weights, tokens = draw(8, 6, 6).softmax(-1), ["[CLS]", "a", "b", "[SEP]", "c", "d"]
    head, score = right.previous_token_head(weights, tokens)
    assert (head, pytest.approx(score)) == look_back_by_hand(weights, tokens)


# Other right ways

def attention_in_loops(q, k, v):
    out = torch.zeros(len(q), v.shape[1])
    for i, query in enumerate(q):
        scores = [sum(a * b for a, b in zip(query.tolist(), key.tolist(), strict=True)) / sqrt(len(query)) for key in k]
        weights = [exp(s - max(scores)) for s in scores]
        for weight, value in zip(weights, v, strict=True):
            out[i] += weight / sum(weights) * value
    return out


def attention_scaled_first(q, k, v):
    return torch.einsum("qk,kv->qv", torch.softmax((q / q.size(-1) ** 0.5).matmul(k.mT), dim=1), v)


def softmax_of_what_is_seen(scores, attn_mask):
    weights = torch.zeros_like(scores)
    for i in range(len(scores)):
        weights[i, attn_mask[i]] = scores[i, attn_mask[i]].softmax(0)
    return weights


def shift_by_padding(sentences, start, end, pad):
    read = [torch.tensor([start, *s]) for s in sentences]
    say = [torch.tensor([*s, end]) for s in sentences]
    return [torch.nn.utils.rnn.pad_sequence(rows, True, fill) for rows, fill in ((read, pad), (say, -100))]


def reading_with_tensors(weights, tokens):
    pairs = [i for i in range(1, len(tokens)) if not (tokens[i] + tokens[i - 1]).count("[")]
    scores = torch.stack([weights[:, i, i - 1] for i in pairs], dim=1).mean(1)
    return scores.argmax(), scores.max()


@pytest.mark.parametrize(("number", "answer"), [
    ("06.1", attention_in_loops), ("06.1", attention_scaled_first),
    ("06.1", lambda q, k, v: F.scaled_dot_product_attention(q[None], k[None], v[None])[0]),
    ("06.2", softmax_of_what_is_seen), ("06.2", lambda scores, look: (scores + torch.where(look, 0, -1e9)).softmax(1)),
    ("06.3", lambda x, heads: x.view(*x.shape[:2], heads, x.shape[2] // heads).permute(0, 2, 1, 3).contiguous()),
    ("06.3", lambda x, heads: torch.stack(x.chunk(heads, dim=-1), dim=1)),
    ("06.4", shift_by_padding), ("06.5", look_back_by_hand), ("06.5", reading_with_tensors),
])
def test_another_right_way_is_right(number: str, answer) -> None:
    assert check(number, answer).ok, check(number, answer)


# Slips, as people write them

def softmax_from_zero(scores):
    """The softmax of each row, with a maximum that starts at 0."""
    powers = (scores - scores.amax(-1, keepdim=True).clamp(min=0)).exp()
    return powers / powers.sum(-1, keepdim=True)


def masked_in_place(scores, look):
    scores[~look] = float("-inf")
    return scores.softmax(-1)


def cut_after_padding(sentences, start, end, pad):
    longest = max(map(len, sentences))
    whole = torch.tensor([[start, *s, end] + [pad] * (longest - len(s)) for s in sentences])
    return whole[:, :-1], whole[:, 1:].masked_fill(whole[:, 1:] == pad, IGNORE)


def by_pad_sequence(sentences, start, end, pad):
    read, say = ([torch.tensor(row) for row in rows]
                 for rows in ([[start, *s] for s in sentences], [[*s, end] for s in sentences]))
    pad_sequence = torch.nn.utils.rnn.pad_sequence
    return pad_sequence(read, batch_first=True), pad_sequence(say, batch_first=True, padding_value=IGNORE)


def shifted_in_place(sentences, start, end, pad):
    for s in sentences:
        s.append(end)
    return shift_by_padding([s[:-1] for s in sentences], start, end, pad)


def over_sep(weights, tokens):
    words = [i for i, token in enumerate(tokens) if not token.startswith("[")]
    scores = weights[:, words[1:], words[:-1]].mean(1)
    return scores.argmax(), scores.max()


def but_for(left_out, divide=torch.mean):
    def answer(weights, tokens):
        pairs = [i for i in range(1, len(tokens)) if not {tokens[i], tokens[i - 1]} & left_out]
        scores = torch.stack([divide(head[pairs, [i - 1 for i in pairs]]) for head in weights])
        return scores.argmax(), scores.max()
    return answer


@pytest.mark.parametrize(("number", "answer", "words", "place"), [
    ("06.1", lambda q, k, v: F.softmax(q @ k.T / k.shape[-1] ** 1/2, dim=-1) @ v, "divided by d_k and by 2", 1),
    ("06.1", lambda q, k, v: F.softmax(q @ k.T, dim=-1) / k.shape[-1] ** 0.5 @ v, "comes after the softmax", 1),
    ("06.1", lambda q, k, v: softmax_from_zero(q @ k.T / k.shape[-1] ** 0.5) @ v, "maximum that starts at 0", 5),
    ("06.2", lambda s, look: F.softmax(s * look, dim=-1), "asked scores become 0", 1),
    ("06.2", lambda s, look: s.exp() * look / (s.exp() * look).sum(-1, keepdim=True), "∞ · 0 is NaN", 4),
    ("06.2", masked_in_place, "`scores` is changed in place", 1),
    ("06.3", lambda x, heads: x.view(len(x), heads, x.shape[1], -1), "cuts across tokens", 1),
    ("06.3", lambda x, heads: x.view(*x.shape[:2], -1, heads).permute(0, 3, 1, 2), "ead and width are swapped", 1),
    ("06.3", lambda x, heads: torch.stack(x.split(heads, dim=-1), dim=1), "as the width of a head", 2),
    ("06.4", cut_after_padding, "he padded row is shifted, so the input of a short row contains", 2),
    ("06.4", by_pad_sequence, "is padded with 0, not with `pad`", 3),
    ("06.4", shifted_in_place, "`sentences` is changed in place", 1),
    ("06.5", over_sep, "across a special token", 3),
    ("06.5", but_for({"[CLS]", "[SEP]"}), "nly [CLS] and [SEP] are left out", 4),
    ("06.5", but_for(set()), "pecial tokens are counted", 2),
])
def test_a_slip_is_named_where_it_shows_first(number: str, answer, words: str, place: int) -> None:
    feedback = check(number, answer)
    assert feedback.verdict == "wrong" and words in repr(feedback), feedback
    assert f'case("{number}", {place})' in repr(feedback)


def test_a_hidden_score_that_is_only_small_is_told_by_what_must_hold() -> None:
    assert "A masked key still gets" in repr(check("06.2", lambda s, look: s.masked_fill(~look, -3.0).softmax(-1)))
