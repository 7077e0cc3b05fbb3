"""Wrong answers to the exercises of chapter 06, under the names of their mistakes, and what holds of any right one."""

from math import sqrt

import torch
from einops import rearrange
from torch import Tensor

from plmlab.exercises.mistakes import Mistakes, Properties

HIDDEN, IGNORE = float("-inf"), -100


# 06.1, attention by hand

def scaled(q: Tensor, k: Tensor) -> Tensor:
    """The right scores, QKᵀ/√d_k, [query key]."""
    return q @ k.T / sqrt(k.shape[1])


ATTENTION: Mistakes = {
    "the scores are not divided by √d_k": lambda q, k, v: (q @ k.T).softmax(-1) @ v,
    "the scores are divided by d_k, not by its root": lambda q, k, v: (q @ k.T / k.shape[1]).softmax(-1) @ v,
    "the scores are divided by the root of the number of keys, not of their width":
        lambda q, k, v: (q @ k.T / sqrt(len(k))).softmax(-1) @ v,
    "the softmax runs over the queries (dim 0), not over the keys": lambda q, k, v: scaled(q, k).softmax(0) @ v,
    "the softmax is missing: the scores themselves weigh the values": lambda q, k, v: scaled(q, k) @ v,
    "the values are missing: these are the weights": lambda q, k, v: scaled(q, k).softmax(-1),
    "queries and keys have changed places": lambda q, k, v: scaled(k, q).softmax(-1) @ v,
    "exp of a large score is infinite: take the largest score of the row away first, or use .softmax":
        lambda q, k, v: scaled(q, k).exp() / scaled(q, k).exp().sum(-1, True) @ v,
}

OF_A_MEAN: Properties = {
    "an output lies outside its values, so it is no weighted mean of them; do the weights add up to 1?":
        lambda out, q, k, v: bool(((out >= v.amin(0) - 1e-3) & (out <= v.amax(0) + 1e-3)).all()),
}


# 06.2, the mask

def weights_times_mask(scores: Tensor, look: Tensor) -> Tensor:
    """The softmax over all keys, with 0 written over the hidden ones afterwards, [query key]."""
    return scores.softmax(-1) * look


MASK: Mistakes = {
    "the mask is inverted: True = may look": lambda scores, look: scores.masked_fill(look, HIDDEN).softmax(-1),
    "the mask is multiplied in after the softmax, so the weights no longer add up to 1": weights_times_mask,
    "the mask comes after the softmax: where a hidden score is huge, it has left nothing for the others":
        lambda scores, look: weights_times_mask(scores, look) / weights_times_mask(scores, look).sum(-1, True),
    "hidden scores become 0, not −∞: the softmax still gives them weight, for e⁰ is 1":
        lambda scores, look: (scores * look).softmax(-1),
    "whole keys are hidden, not pairs: a key that one query may not see is hidden from all":
        lambda scores, look: scores.masked_fill(~look.all(0), HIDDEN).softmax(-1),
    "the mask lies on its side: its rows are the queries":
        lambda scores, look: scores.masked_fill(~look.T, HIDDEN).softmax(-1),
    "the softmax runs over the queries (dim 0), not over the keys":
        lambda scores, look: scores.masked_fill(~look, HIDDEN).softmax(0),
    "the mask is not used": lambda scores, look: scores.softmax(-1),
}

OF_WEIGHTS: Properties = {
    "a hidden key still gets weight": lambda weights, _, look: bool((weights[~look].abs() < 1e-6).all()),
    "the weights of a query do not add up to 1":
        lambda weights, *_: torch.allclose(weights.sum(-1), torch.ones(len(weights)), atol=1e-4),
}


# 06.3, many heads

def cut(x: Tensor, heads: int) -> Tensor:
    """The vector of each token cut into heads, time still before head: [batch time head width]."""
    return x.unflatten(-1, (heads, -1))


HEADS: Mistakes = {
    "a view straight to the new shape cuts across tokens: cut the last axis first, then swap two axes":
        lambda x, heads: x.reshape(x.shape[0], heads, x.shape[1], -1),
    "time still stands before head: two axes have to change places": cut,
    "head and width are confused inside a token: a head's numbers stand side by side in x":
        lambda x, heads: rearrange(x, "batch time (width head) -> batch head time width", head=heads),
    "width stands before time: that is the form of transposed keys":
        lambda x, heads: cut(x, heads).permute(0, 2, 3, 1),
    "head stands before batch": lambda x, heads: torch.stack(x.chunk(heads, -1)),
    "batch and head are merged into one axis": lambda x, heads: cut(x, heads).transpose(1, 2).flatten(0, 1),
}

OF_HEADS: Properties = {
    "tokens are mixed: a slot holds numbers that are not its own token's":
        lambda out, x, _: torch.equal(out.transpose(1, 2).flatten(2).sort(-1)[0], x.sort(-1)[0]),
}


# 06.4, positions

def angles(time: int, exponent: Tensor) -> Tensor:
    """Position / 10000^exponent for the positions 0 … time − 1, [time exponent]."""
    return torch.arange(time)[:, None] / 10_000**exponent


def taking_turns(one: Tensor, other: Tensor) -> Tensor:
    """The columns of two tables by turns: the first of one, the first of the other, the second of one …"""
    return torch.stack([one, other], dim=-1).flatten(1)


def waves(angle: Tensor) -> Tensor:
    """Sine and cosine of each angle by turns, [time model]."""
    return taking_turns(angle.sin(), angle.cos())


def even(model: int) -> Tensor:
    """The even numbers below ``model``, the 2i of the formula."""
    return torch.arange(0, model, 2)


POSITIONS: Mistakes = {
    "all sines stand before all cosines; they must take turns: sine, cosine, sine, cosine":
        lambda time, model: torch.cat([(a := angles(time, even(model) / model)).sin(), a.cos()], dim=-1),
    "the exponent is i/d, not 2i/d: the longest waves are too short":
        lambda time, model: waves(angles(time, even(model) / 2 / model)),
    "the cosine comes first; position 0 is 0, 1, 0, 1 …":
        lambda time, model: taking_turns((a := angles(time, even(model) / model)).cos(), a.sin()),
    "each cosine has an exponent of its own, (2i + 1)/d; it shares its sine's, 2i/d":
        lambda time, model: taking_turns(angles(time, even(model) / model).sin(),
                                         angles(time, (even(model) + 1) / model).cos()),
    "the exponent 2i/d needs brackets: ** binds tighter than /":
        lambda time, model: waves(torch.arange(time)[:, None] / 10_000 ** even(model) / model),
    "the angles are taken for degrees": lambda time, model: waves(angles(time, even(model) / model).deg2rad()),
    "positions count from 1, not from 0": lambda time, model: waves(angles(time + 1, even(model) / model)[1:]),
}

OF_WAVES: Properties = {
    "a number is not between −1 and 1, as sines and cosines are": lambda out, *_: bool((out.abs() <= 1.0001).all()),
}


# 06.5, the decoder's shift

Rows = list[list[int]]


def filled(rows: Rows, fill: int) -> Tensor:
    """The rows, as long as the longest, with ``fill`` on the right."""
    longest = max(map(len, rows))
    return torch.tensor([row + [fill] * (longest - len(row)) for row in rows])


def filled_before(rows: Rows, fill: int) -> Tensor:
    """The rows, as long as the longest, with ``fill`` on the left."""
    return filled([row[::-1] for row in rows], fill).flip(1)


def with_start(rows: Rows, start: int) -> Rows:
    """The rows, ``start`` before each."""
    return [[start, *row] for row in rows]


def with_end(rows: Rows, end: int) -> Rows:
    """The rows, ``end`` after each."""
    return [[*row, end] for row in rows]


SHIFT: Mistakes = {
    "nothing is shifted: each slot reads the very token that it must say, and learns to copy":
        lambda rows, start, end, pad: (filled(with_end(rows, end), pad), filled(with_end(rows, end), IGNORE)),
    "it is shifted the wrong way: each slot reads the next token and must say the one before":
        lambda rows, start, end, pad: (filled(with_end(rows, end), pad), filled(with_start(rows, start), IGNORE)),
    "start is kept in the targets: nobody has to say it, and so nothing is shifted":
        lambda rows, start, end, pad: (filled(with_start(rows, start), pad), filled(with_start(rows, start), IGNORE)),
    "end is missing from the targets: the model never learns to stop":
        lambda rows, start, end, pad: (filled(with_start(rows, start), pad), filled(with_end(rows, IGNORE), IGNORE)),
    "end is missing, and with it the last step: the model never learns to stop":
        lambda rows, start, end, pad: (filled(with_start([r[:-1] for r in rows], start), pad), filled(rows, IGNORE)),
    "end is read as well: nothing comes after it, so nobody needs to read it":
        lambda rows, start, end, pad: (filled(with_start(with_end(rows, end), start), pad),
                                       filled(with_end(with_end(rows, end), IGNORE), IGNORE)),
    "the targets are filled up with pad: the model is trained to say padding":
        lambda rows, start, end, pad: (filled(with_start(rows, start), pad), filled(with_end(rows, end), pad)),
    "end stands behind the padding, not behind the last token":
        lambda rows, start, end, pad: (filled(with_start(rows, start), pad),
                                       torch.tensor(with_end(filled(rows, IGNORE).tolist(), end))),
    "short rows are filled up on the left":
        lambda rows, start, end, pad: (filled_before(with_start(rows, start), pad),
                                       filled_before(with_end(rows, end), IGNORE)),
}

OF_A_SHIFT: Properties = {
    "a slot that reads padding has something to say":
        lambda out, rows, start, end, pad: bool((out[1][out[0] == pad] == IGNORE).all()),
}


# 06.6, reading a head

def real(tokens: list[str]) -> Tensor:
    """Whether each token is a word, or a piece of one."""
    return torch.tensor([not token.startswith("[") for token in tokens])


def real_pairs(tokens: list[str]) -> Tensor:
    """Whether token i + 1 and token i are both real, for each i but the last."""
    return real(tokens)[1:] & real(tokens)[:-1]


def line(weights: Tensor, offset: int) -> Tensor:
    """One diagonal of every head's weights, [head cell]; ``offset`` −1 pairs each token with the one before it."""
    return weights.diagonal(offset=offset, dim1=1, dim2=2)


def best(scores: Tensor) -> tuple[int, float]:
    """The head with the largest score, and that score."""
    return int(scores.argmax()), float(scores.max())


def wins(weights: Tensor) -> Tensor:
    """1 for each query, from the second on, whose strongest key is the token before, else 0, [head query]."""
    return (weights.argmax(-1)[:, 1:] == torch.arange(weights.shape[1] - 1)).float()


READING: Mistakes = {
    "it looks at the next token, not at the one before: weights[head, query, key] has the queries first":
        lambda weights, tokens: best(line(weights, 1)[:, real_pairs(tokens)].mean(-1)),
    "special tokens are counted": lambda weights, tokens: best(line(weights, -1).mean(-1)),
    "the first row is counted: the index −1 is the last token, not the one before": lambda weights, tokens:
        best(torch.cat([weights[:, :1, -1], line(weights, -1)[:, real_pairs(tokens)]], dim=1).mean(-1)),
    "it counts how often the token before is the strongest key; the mean weight is asked for":
        lambda weights, tokens: best(wins(weights)[:, real_pairs(tokens)].mean(-1)),
    "the weights are added up, not averaged":
        lambda weights, tokens: best(line(weights, -1)[:, real_pairs(tokens)].sum(-1)),
    "it takes the largest single weight, not the mean of a head":
        lambda weights, tokens: best(line(weights, -1)[:, real_pairs(tokens)].amax(-1)),
    "it looks at the token itself, not at the one before":
        lambda weights, tokens: best(line(weights, 0)[:, real(tokens)].mean(-1)),
    "a pair is counted whose earlier token is special":
        lambda weights, tokens: best(line(weights, -1)[:, real(tokens)[1:]].mean(-1)),
}
