"""Wrong answers to the exercises 06.1 to 06.3 and 06.6, attention and its heads, under the names of their mistakes,
and what holds of any right one."""

from math import sqrt

import torch
from einops import rearrange
from torch import Tensor

from plmlab.exercises.mistakes import Mistakes, Properties, by_exp, largest_from_zero

HIDDEN = float("-inf")


# 06.1, attention by hand

def scaled(q: Tensor, k: Tensor) -> Tensor:
    """The right scores, QKᵀ/√d_k, [query key]."""
    return q @ k.T / sqrt(k.shape[1])


ATTENTION: Mistakes = {
    "the scores are not divided by √d_k": lambda q, k, v: (q @ k.T).softmax(-1) @ v,
    "the scores are divided by d_k, not by its root": lambda q, k, v: (q @ k.T / k.shape[1]).softmax(-1) @ v,
    "the scores are divided by the root of the number of keys, not of their width":
        lambda q, k, v: (q @ k.T / sqrt(len(k))).softmax(-1) @ v,
    "the scores are divided by the root of the number of queries, not of the width of a key":
        lambda q, k, v: (q @ k.T / sqrt(len(q))).softmax(-1) @ v,
    "the scores are divided by the root of the width of the values, not of the keys":
        lambda q, k, v: (q @ k.T / sqrt(v.shape[1])).softmax(-1) @ v,
    "the scores are divided by half of d_k, not by its root: * is not **, and d ** 1/2 halves after the power":
        lambda q, k, v: (q @ k.T / (k.shape[1] / 2)).softmax(-1) @ v,
    "the scores are divided by d_k and by 2, not by the root: ** binds tighter than /, so write ** 0.5":
        lambda q, k, v: (q @ k.T / k.shape[1] / 2).softmax(-1) @ v,
    "the scores are multiplied by √d_k; it divides them":
        lambda q, k, v: (q @ k.T * sqrt(k.shape[1])).softmax(-1) @ v,
    "the scores are cut to whole numbers: // is not /": lambda q, k, v: scaled(q, k).floor().softmax(-1) @ v,
    "the division by √d_k comes after the softmax; it is the scores that it makes smaller":
        lambda q, k, v: (q @ k.T).softmax(-1) / sqrt(k.shape[1]) @ v,
    "the softmax runs over the queries (dim 0), not over the keys": lambda q, k, v: scaled(q, k).softmax(0) @ v,
    "the softmax runs over the whole table; the weights of each query add up to 1, one row at a time":
        lambda q, k, v: scaled(q, k).flatten().softmax(0).view(len(q), len(k)) @ v,
    "the softmax is missing: the scores themselves weigh the values": lambda q, k, v: scaled(q, k) @ v,
    "the values are missing: these are the weights": lambda q, k, v: scaled(q, k).softmax(-1),
    "queries and keys have changed places": lambda q, k, v: scaled(k, q).softmax(-1) @ v,
    "exp of a large score is infinite: take the largest score of the row away first, or use .softmax":
        lambda q, k, v: by_exp(scaled(q, k)) @ v,
    "the largest score of the whole table is taken away before exp; each row needs its own largest":
        lambda q, k, v: by_exp((scores := scaled(q, k)) - scores.max()) @ v,
    "a maximum that starts at 0 stays 0 where all scores of a row are negative: start at −∞, or use .softmax":
        lambda q, k, v: by_exp((scores := scaled(q, k)) - largest_from_zero(scores)) @ v,
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
    "hidden scores become −100; a score may be lower still, and then the hidden key gets weight: −∞ is below all":
        lambda scores, look: scores.masked_fill(~look, -100).softmax(-1),
    "hidden scores become +∞, not −∞": lambda scores, look: scores.masked_fill(~look, float("inf")).softmax(-1),
    "whole keys are hidden, not pairs: a key that one query may not see is hidden from all":
        lambda scores, look: scores.masked_fill(~look.all(0), HIDDEN).softmax(-1),
    "the mask lies on its side: its rows are the queries":
        lambda scores, look: scores.masked_fill(~look.T, HIDDEN).softmax(-1),
    "the softmax runs over the queries (dim 0), not over the keys":
        lambda scores, look: scores.masked_fill(~look, HIDDEN).softmax(0),
    "the mask is not used": lambda scores, look: scores.softmax(-1),
    "the mask that is given is not used, but a causal one: not every mask is causal":
        lambda scores, look: scores.masked_fill(torch.ones_like(look).triu(1), HIDDEN).softmax(-1),
    "exp of a huge score is infinite, and ∞ · 0 is NaN: put −∞ at the hidden keys, and then use .softmax":
        lambda scores, look: (powers := scores.exp() * look) / powers.sum(-1, True),
    "a maximum that starts at 0 stays 0 where all scores of a row are negative: start at −∞, or use .softmax":
        lambda scores, look: by_exp((seen := scores.masked_fill(~look, HIDDEN)) - largest_from_zero(seen)),
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
    "`heads` is taken for the width of a head; it is how many heads there are":
        lambda x, heads: x.unflatten(-1, (-1, heads)).transpose(1, 2),
    "nothing is cut: each head has the whole vector of each token":
        lambda x, heads: x[:, None].repeat(1, heads, 1, 1),
    "head stands before batch": lambda x, heads: torch.stack(x.chunk(heads, -1)),
    "batch and head are merged into one axis": lambda x, heads: cut(x, heads).transpose(1, 2).flatten(0, 1),
}

OF_HEADS: Properties = {
    "tokens are mixed: a slot holds numbers that are not its own token's":
        lambda out, x, _: torch.equal(out.transpose(1, 2).flatten(2).sort(-1)[0], x.sort(-1)[0]),
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


def without(tokens: list[str], left_out: tuple[str, ...]) -> Tensor:
    """Whether token i + 1 and token i are none of those that are ``left_out``, for each i but the last."""
    kept = torch.tensor([token not in left_out for token in tokens])
    return kept[1:] & kept[:-1]


def shares(weights: Tensor, tokens: list[str], number: int) -> Tensor:
    """The weights of the right pairs added up and divided by a ``number``, [head]."""
    return line(weights, -1)[:, real_pairs(tokens)].sum(-1) / number


def bridged(weights: Tensor, tokens: list[str]) -> Tensor:
    """The mean weight from a real token to the last real one before it, over special tokens between them, [head]."""
    return line(weights[:, real(tokens)][:, :, real(tokens)], -1).mean(-1)


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
    "a pair is counted whose later token is special":
        lambda weights, tokens: best(line(weights, -1)[:, real(tokens)[:-1]].mean(-1)),
    "a pair is counted over a special token between them: with [SEP] taken out, two words meet that are no neighbours":
        lambda weights, tokens: best(bridged(weights, tokens)),
    "only [CLS] and [SEP] are left out; [MASK] and [PAD] begin with [ too":
        lambda weights, tokens: best(line(weights, -1)[:, without(tokens, ("[CLS]", "[SEP]"))].mean(-1)),
    "only [CLS], [SEP] and [PAD] are left out; [MASK] begins with [ too":
        lambda weights, tokens: best(line(weights, -1)[:, without(tokens, ("[CLS]", "[SEP]", "[PAD]"))].mean(-1)),
    "only words of letters count; a comma and a piece of a word, like ##ing, are real tokens too":
        lambda weights, tokens: best(line(weights, -1)[:, without(
            tokens, tuple(token for token in tokens if not token.isalpha()))].mean(-1)),
    "the sum is divided by the number of all tokens, not of the pairs that count":
        lambda weights, tokens: best(shares(weights, tokens, len(tokens))),
    "the sum is divided by the number of all pairs, those that are left out too":
        lambda weights, tokens: best(shares(weights, tokens, len(tokens) - 1)),
    "the sum is divided by the number of real tokens, not of the pairs that count":
        lambda weights, tokens: best(shares(weights, tokens, int(real(tokens).sum()))),
    "the mean is taken over the heads, so this is a pair, not a head":
        lambda weights, tokens: best(line(weights, -1)[:, real_pairs(tokens)].mean(0)),
    "the score comes first; give the head, then its score": lambda weights, tokens:
        best(line(weights, -1)[:, real_pairs(tokens)].mean(-1))[::-1],
}
