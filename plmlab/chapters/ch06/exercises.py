"""Exercises of chapter 06: the Transformer (Vaswani et al. 2017), one small function at a time."""

import torch
from einops import rearrange
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor, rand, randn

from plmlab.example import IGNORE
from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def attention_by_hand(
    q: Float[Tensor, "query width"], k: Float[Tensor, "key width"], v: Float[Tensor, "key value"],
) -> Float[Tensor, "query value"]:
    """Attention of one head: softmax(QKᵀ/√d_k) V.

    Every query scores every key. The softmax turns the scores of a query into weights that add
    up to 1. The output is the weighted mean of the values, one row per query. d_k is the width of
    a key.
    """
    scores = q @ k.T / k.shape[-1] ** 0.5
    return scores.softmax(-1) @ v


def draw_vectors(rng: Generator) -> Probes:
    """Inputs for 06.1: name → (queries, keys, values) of one head."""
    def several(*shapes: tuple[int, int], scale: float = 1.0) -> tuple[Tensor, ...]:
        return tuple(scale * randn(shape, generator=rng) for shape in shapes)

    two_keys, two_values = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[10.0], [20.0]])
    return {
        "one query, two keys": (torch.tensor([[1.0, 0.0]]), two_keys, two_values),
        "as many queries as keys": several((4, 3), (4, 3), (4, 3)),
        "more keys than queries, wide values": several((2, 4), (5, 4), (5, 6)),
        "scores in the thousands": several((3, 4), (5, 4), (5, 2), scale=60.0),
        "scores far below 0": (torch.full((2, 4), 3.0), -20 - rand(3, 4, generator=rng), randn(3, 5, generator=rng)),
    }


def masked_weights(
    scores: Float[Tensor, "query key"], attn_mask: Bool[Tensor, "query key"],
) -> Float[Tensor, "query key"]:
    """Attention weights under a mask: the softmax of each query's scores over the keys that it may look at.

    True = may look. A hidden key gets the weight 0, as if it were not there: the others add up
    to 1. Every query may look at one key at least.
    """
    return scores.masked_fill(~attn_mask, float("-inf")).softmax(-1)


def draw_masks(rng: Generator) -> Probes:
    """Inputs for 06.2: name → (scores, mask), both `[query key]`, with extreme scores, large ones at masked keys."""
    causal, padded = torch.ones(4, 4, dtype=torch.bool).tril(), torch.tensor([[True, True, True, False, False]])
    gaps = torch.tensor([[True, True, False, False], [True, False, True, True]])
    huge = torch.tensor([[1.0, 2.0, 300.0], [300.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    return {
        "two words, causal": (torch.tensor([[1.0, 2.0], [2.0, 1.0]]), causal[:2, :2]),
        "four words, causal": (randn(4, 4, generator=rng), causal),
        "padding, three queries and five keys": (randn(3, 5, generator=rng), padded.repeat(3, 1)),
        "a hidden key with a huge score": (huge, torch.tensor([[True, True, False], [False, True, True], [True] * 3])),
        "all scores far below 0": (randn(2, 4, generator=rng) - 200, gaps),
    }


def split_heads(x: Float[Tensor, "batch time model"], heads: int) -> Float[Tensor, "batch head time width"]:
    """Cut the vector of each token into ``heads`` pieces of equal width, and give each head its own axis.

    Head 0 gets the first ``width`` numbers of every token, head 1 the next, and so on. Each
    head then holds a text of its own: all tokens, in order, with narrower vectors.
    """
    return rearrange(x, "batch time (head width) -> batch head time width", head=heads)


def draw_texts(rng: Generator) -> Probes:
    """Inputs for 06.3: name → (vectors `[batch time model]`, number of heads)."""
    return {
        "two tokens, two heads": (torch.arange(8.0).view(1, 2, 4), 2),
        "four heads of width 2": (randn(2, 3, 8, generator=rng), 4),
        "three heads of width 4": (randn(3, 5, 12, generator=rng), 3),
    }


def position_table(time: int, model: int) -> Float[Tensor, "time model"]:
    """The positions 0 … time − 1 as vectors of an even width d = ``model``.

    For each i from 0 to d/2 − 1, dimension 2i holds sin(p / 10000^(2i/d)) and dimension 2i + 1
    holds the cosine of the same angle, where p is the position.
    """
    even = torch.arange(0, model, 2)
    angles = torch.arange(time)[:, None] / 10_000 ** (even / model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def draw_sizes(_: Generator) -> Probes:
    """Inputs for 06.4: name → (number of positions, width)."""
    return {"three positions, width 4": (3, 4), "one position": (1, 2), "twenty positions, width 6": (20, 6)}


def shift_right(
    sentences: list[list[int]], start: int, end: int, pad: int,
) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]:
    """What a decoder reads, and what each of its positions must say (the targets), for a batch.

    A sentence is a list of token ids. Position 0 reads ``start`` and says the first token. Each
    later position reads a token and says the next one, and the position that reads the last token says
    ``end``. Fill short rows up on the right: with ``pad`` in what is read, with −100 in the
    targets, where ``cross_entropy`` then counts no loss. With start 5, end 6 and pad 0,
    [[7, 8], [9]] is read as [[5, 7, 8], [5, 9, 0]]; the targets are [[7, 8, 6], [9, 6, −100]].
    """
    longest = max(len(tokens) for tokens in sentences)
    read = [[start, *tokens] + [pad] * (longest - len(tokens)) for tokens in sentences]
    targets = [[*tokens, end] + [-100] * (longest - len(tokens)) for tokens in sentences]
    return torch.tensor(read), torch.tensor(targets)


def draw_sentences(_: Generator) -> Probes:
    """Inputs for 06.5: name → (sentences as lists of ids, start, end, pad)."""
    return {
        "one sentence": ([[11, 12, 13]], 5, 6, 0),
        "two lengths": ([[11, 12, 13], [14]], 5, 6, 0),
        "other special tokens": ([[7], [8, 9, 4, 8], [9, 9]], 1, 2, 3),
    }


def previous_token_head(weights: Float[Tensor, "head query key"], tokens: list[str]) -> tuple[int, float]:
    """The head that looks most at the token before, and its score.

    A head's score is its mean weight from a token to the one before it. Only pairs of two real
    tokens count: the first token has none before it, and a pair with a special token in it is
    left out. A special token begins with "[", like [CLS] and [SEP]. ``weights[h, i, j]`` says
    how much query i looks at key j in head h.
    """
    back = weights.diagonal(offset=-1, dim1=1, dim2=2)
    real = torch.tensor([not token.startswith("[") for token in tokens])
    scores = back[:, real[1:] & real[:-1]].mean(-1)
    return int(scores.argmax()), float(scores.max())


def draw_heads(rng: Generator) -> Probes:
    """Inputs for 06.6: name → (weights `[head query key]`, tokens), with special tokens."""
    def looks(heads: int, time: int) -> Tensor:
        return (2 * randn(heads, time, time, generator=rng)).softmax(-1)

    small = torch.tensor([[[0.6, 0.2, 0.2], [0.3, 0.2, 0.5], [0.1, 0.4, 0.5]],
                          [[0.2, 0.1, 0.7], [0.5, 0.3, 0.2], [0.1, 0.7, 0.2]]])
    return {
        "two heads, three words": (small, ["the", "old", "king"]),
        "special tokens at both ends": (looks(4, 6), ["[CLS]", "the", "king", "was", "found", "[SEP]"]),
        "a pair of sentences": (looks(6, 7), ["[CLS]", "who", "won", "[SEP]", "the", "king", "[SEP]"]),
        "a hidden word, pieces and padding":
            (looks(5, 11), ["[CLS]", "un", "##known", "[MASK]", "the", "king", ",", "won", "[SEP]", "[PAD]", "[PAD]"]),
    }


EXERCISES = (
    Exercise(
        "06.1", "attention by hand", attention_by_hand, draw_vectors,
        mistakes={
            "the scores are not divided by √d_k": edit(" / k.shape[-1] ** 0.5", ""),
            "the scores are divided by d_k, not by its root": edit(" ** 0.5", ""),
            "the scores are divided by d_k and by 2, not by the root: ** binds tighter than /, so write ** 0.5":
                edit("** 0.5", "** 1 / 2"),
            "the scores are divided by the root of the number of keys, not of their width":
                edit("k.shape[-1]", "k.shape[0]"),
            "the division by √d_k comes after the softmax; it is the scores that it makes smaller":
                edit(" / k.shape[-1] ** 0.5", "", "@ v", "/ k.shape[-1] ** 0.5 @ v"),
            "the softmax runs over the queries (dim 0), not over the keys": edit("softmax(-1)", "softmax(0)"),
            "the softmax is missing: the scores themselves weigh the values": edit(".softmax(-1)", ""),
            "queries and keys have changed places": edit("q @ k.T", "k @ q.T"),
            "exp of a large score is infinite: take the largest score of the row away first, or use .softmax":
                edit("scores.softmax(-1)", "by_exp(scores)"),
            "a maximum that starts at 0 stays 0 where all scores of a row are negative: start at −∞, or use .softmax":
                edit("scores.softmax(-1)", "by_exp(scores - largest_from_zero(scores))"),
        },
        properties={
            "an output lies outside its values, so it is no weighted mean of them; do the weights add up to 1?":
                lambda out, q, k, v: bool(((out >= v.amin(0) - 1e-3) & (out <= v.amax(0) + 1e-3)).all()),
        },
        hints=(
            "Three steps: scores [query key], weights [query key], output [query value]. Which products have these "
            "shapes?",
            "The scores are the dot products of every query with every key, divided by the root of their width. Over "
            "which of the two axes must the weights add up to 1?",
            "A matrix product with a transposed matrix, a division, .softmax over the last axis, a matrix product.",
        ),
    ),
    Exercise(
        "06.2", "the mask", masked_weights, draw_masks,
        mistakes={
            "the mask is inverted: True = may look": edit("~attn_mask", "attn_mask"),
            "the mask is multiplied in after the softmax, so the weights no longer add up to 1":
                edit('.masked_fill(~attn_mask, float("-inf")).softmax(-1)', ".softmax(-1) * attn_mask"),
            "the mask comes after the softmax: where a hidden score is huge, it has left nothing for the others":
                edit('return scores.masked_fill(~attn_mask, float("-inf")).softmax(-1)',
                     "weights = scores.softmax(-1) * attn_mask\n    return weights / weights.sum(-1, keepdim=True)"),
            "hidden scores become 0, not −∞: the softmax still gives them weight, for e⁰ is 1":
                edit('scores.masked_fill(~attn_mask, float("-inf"))', "(scores * attn_mask)"),
            "hidden scores become −100; a score may be lower still, and then the hidden key gets weight: −∞ is below "
            "all": edit('float("-inf")', "-100"),
            "whole keys are hidden, not pairs: a key that one query may not see is hidden from all":
                edit("~attn_mask", "~attn_mask.all(0)"),
            "the mask lies on its side: its rows are the queries": edit("~attn_mask", "~attn_mask.T"),
            "the softmax runs over the queries (dim 0), not over the keys": edit("softmax(-1)", "softmax(0)"),
            "exp of a huge score is infinite, and ∞ · 0 is NaN: put −∞ at the hidden keys, and then use .softmax":
                edit('return scores.masked_fill(~attn_mask, float("-inf")).softmax(-1)',
                     "powers = scores.exp() * attn_mask\n    return powers / powers.sum(-1, keepdim=True)"),
            "a maximum that starts at 0 stays 0 where all scores of a row are negative: start at −∞, or use .softmax":
                edit("return scores", "seen = scores", ".softmax(-1)",
                     "\n    return by_exp(seen - largest_from_zero(seen))"),
        },
        properties={
            "a hidden key still gets weight": lambda weights, _, look: bool((weights[~look].abs() < 1e-6).all()),
            "the weights of a query do not add up to 1":
                lambda weights, *_: torch.allclose(weights.sum(-1), torch.ones(len(weights)), atol=1e-4),
        },
        hints=(
            "The hidden keys must be gone before the softmax adds up. What score has the weight 0 after a softmax?",
            "exp(x) is 0 only for x = −∞. Put that where the mask is False, and leave the other scores alone.",
            "scores.masked_fill(where, value) writes a value where its mask is True; ~ turns a mask round.",
        ),
    ),
    Exercise(
        "06.3", "many heads", split_heads, draw_texts,
        mistakes={
            "a view straight to the new shape cuts across tokens: cut the last axis first, then swap two axes":
                edit('rearrange(x, "batch time (head width) -> batch head time width", head=heads)',
                     "x.reshape(x.shape[0], heads, x.shape[1], -1)"),
            "time still stands before head: two axes have to change places":
                edit("-> batch head time", "-> batch time head"),
            "head and width are confused inside a token: a head's numbers stand side by side in x":
                edit("(head width)", "(width head)"),
            "width stands before time: that is the form of transposed keys":
                edit("-> batch head time width", "-> batch head width time"),
            "`heads` is taken for the width of a head; it is how many heads there are":
                edit("head=heads", "width=heads"),
            "nothing is cut: each head has the whole vector of each token":
                edit('rearrange(x, "batch time (head width) -> batch head time width", head=heads)',
                     "x[:, None].repeat(1, heads, 1, 1)"),
            "head stands before batch": edit("-> batch head", "-> head batch"),
            "batch and head are merged into one axis": edit("-> batch head", "-> (batch head)"),
        },
        properties={
            "tokens are mixed: a position holds numbers that are not its own token's":
                lambda out, x, _: torch.equal(out.transpose(1, 2).flatten(2).sort(-1)[0], x.sort(-1)[0]),
        },
        hints=(
            "Cutting an axis in two and swapping two axes are two steps. `view` and `reshape` can do only the first.",
            "First cut the last axis: [batch time head width]. Which two axes have still to change places?",
            "x.unflatten(-1, (heads, -1)) cuts and .transpose swaps. Or say all of it at once in einops: "
            "rearrange(x, \"batch time (head width) -> …\", head=heads).",
        ),
    ),
    Exercise(
        "06.4", "positions", position_table, draw_sizes,
        mistakes={
            "all sines stand before all cosines; they must take turns: sine, cosine, sine, cosine":
                edit("torch.stack", "torch.cat", ".flatten(1)", ""),
            "the cosine comes first; position 0 is 0, 1, 0, 1 …":
                edit("angles.sin(), angles.cos()", "angles.cos(), angles.sin()"),
            "the exponent is i/d, not 2i/d: the longest waves are too short":
                edit("torch.arange(0, model, 2)", "torch.arange(model // 2)"),
            "2i is doubled: torch.arange(0, d, 2) counts in steps of 2, and its numbers are the 2i already":
                edit("even / model", "2 * even / model"),
            "each cosine has an exponent of its own, (2i + 1)/d; it shares its sine's, 2i/d":
                edit("angles.cos()", "(torch.arange(time)[:, None] / 10_000 ** ((even + 1) / model)).cos()"),
            "the exponent 2i/d needs brackets: ** binds tighter than /": edit("(even / model)", "even / model"),
            "2i/d is multiplied; it is an exponent, and * is not **": edit("10_000 ** ", "10_000 * "),
            "2i // d is 0, so that all waves are alike: // cuts to whole numbers, / divides":
                edit("even / model", "even // model"),
            "the position is multiplied by 10000^(2i/d); that divides it": edit("[:, None] / ", "[:, None] * "),
            "positions count from 1, not from 0": edit("torch.arange(time)", "torch.arange(1, time + 1)"),
        },
        properties={
            "a number is not between −1 and 1, as sines and cosines are":
                lambda out, *_: bool((out.abs() <= 1.0001).all()),
        },
        hints=(
            "Begin with a table of angles, one row a position, one column an i. A sine and a cosine share each angle.",
            "The even numbers 0, 2, 4 … below d are the 2i of the formula: torch.arange(0, d, 2). Positions as a "
            "column, [time 1], divided by a row give the table.",
            "Sines and cosines must take turns: torch.stack([sines, cosines], dim=-1) pairs them up, .flatten(1) lays "
            "the pairs in a row.",
        ),
    ),
    Exercise(
        "06.5", "the decoder's shift", shift_right, draw_sentences,
        mistakes={
            "the padded row is shifted: a short row then reads its end too. Shift each sentence first, then fill it up":
                edit("[[start, *tokens] + [pad] * (longest - len(tokens))",
                     "[([start, *tokens, end] + [pad] * (longest - len(tokens)))[:-1]"),
            "end is missing from the targets: the model never learns to stop":
                edit("[*tokens, end] + [-100] * (longest", "[*tokens] + [-100] * (1 + longest"),
            "the padded row is shifted, and end is missing: the model never learns to stop":
                edit("[[start, *tokens] + [pad] * (longest - len(tokens))",
                     "[([start, *tokens] + [pad] * (longest - len(tokens)))[:-1]", "[*tokens, end]", "tokens"),
            "the rows have different lengths, and torch.tensor wants a table: fill short ones up first":
                edit(" + [pad] * (longest - len(tokens))", "", " + [-100] * (longest - len(tokens))", ""),
            "what is read is filled up with −100; that is no token, and pad is": edit("[pad]", "[-100]"),
            "what is read is filled up with 0, not with `pad`; pad_sequence does so unless told padding_value":
                edit("[pad]", "[0]"),
            "the targets are filled up with pad: the model is trained to say padding": edit("[-100]", "[pad]"),
            "time stands before batch: one row a sentence is asked for (pad_sequence needs batch_first=True)":
                edit("torch.tensor(read)", "torch.tensor(read).T", "torch.tensor(targets)", "torch.tensor(targets).T"),
            "nothing is shifted: each position reads the very token that it must say, and learns to copy":
                edit("[start, *tokens]", "[*tokens, end]"),
            "it is shifted the wrong way: each position reads the next token and must say the one before":
                edit("[*tokens, end]", "[start, *tokens]", "[start, *tokens] + [pad]", "[*tokens, end] + [pad]"),
        },
        properties={
            "a position that reads padding has something to say":
                lambda out, rows, start, end, pad: bool((out[1][out[0] == pad] == IGNORE).all()),
        },
        hints=(
            "Write both rows for the sentence 11 12 13 on paper, one above the other. How long are they?",
            "What is read begins with start and has no end; the targets end with end and have no start. Both are one "
            "longer than the sentence.",
            "Build lists: [start, *tokens] and [*tokens, end]. Each needs as many fillers as the sentence lacks of the "
            "longest; torch.tensor makes a table of the rows.",
        ),
    ),
    Exercise(
        "06.6", "reading a head", previous_token_head, draw_heads,
        mistakes={
            "it looks at the next token, not at the one before: weights[head, query, key] has the queries first":
                edit("offset=-1", "offset=1"),
            "it looks at the token itself, not at the one before":
                edit("offset=-1", "offset=0", "real[1:] & real[:-1]", "real"),
            "special tokens are counted": edit("back[:, real[1:] & real[:-1]]", "back"),
            "a pair is counted whose earlier token is special": edit("real[1:] & real[:-1]", "real[1:]"),
            "a pair is counted whose later token is special": edit("real[1:] & real[:-1]", "real[:-1]"),
            "a pair is counted over a special token between them: with [SEP] taken out, two words meet that are no "
            "neighbours": edit("back[:, real[1:] & real[:-1]]", "weights[:, real][:, :, real].diagonal(-1, 1, 2)"),
            "only [CLS] and [SEP] are left out; [MASK] and [PAD] begin with [ too":
                edit('token.startswith("[")', 'token in ("[CLS]", "[SEP]")'),
            "the weights are added up, not averaged": edit("mean", "sum"),
            "it takes the largest single weight, not the mean of a head": edit("mean", "amax"),
            "the sum is divided by the number of all tokens, not of the pairs that count":
                edit("mean(-1)", "sum(-1) / len(tokens)"),
        },
        hints=(
            "In one head, which cells of the matrix belong to a token and the one before it? Draw them: they lie "
            "on a line.",
            "weights.diagonal(offset=…, dim1=1, dim2=2) takes a line out of every head. Below the middle the offset is "
            "negative. Its first cell belongs to the second token.",
            "Cell i of the line pairs token i + 1 with token i. Keep the cells where both are real, take the mean over "
            "the cells of each head, then the largest.",
        ),
    ),
)
