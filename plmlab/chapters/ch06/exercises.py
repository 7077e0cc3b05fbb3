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

    Every query is scored against every key. The softmax turns the scores of a query into weights that sum to
    1. The output is the weighted mean of the values, one row per query. d_k is the width of a key.
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
        "the same number of queries and keys": several((4, 3), (4, 3), (4, 3)),
        "more keys than queries, wide values": several((2, 4), (5, 4), (5, 6)),
        "scores in the thousands": several((3, 4), (5, 4), (5, 2), scale=60.0),
        "scores far below 0": (torch.full((2, 4), 3.0), -20 - rand(3, 4, generator=rng), randn(3, 5, generator=rng)),
    }


def masked_weights(
    scores: Float[Tensor, "query key"], attn_mask: Bool[Tensor, "query key"],
) -> Float[Tensor, "query key"]:
    """Attention weights under a mask: the softmax of each query's scores over the keys that it can attend to.

    True = attend. A masked key has the weight 0, and the other weights sum to 1. Every query can attend to at
    least one key.
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
        "a masked key with a huge score": (huge, torch.tensor([[True, True, False], [False, True, True], [True] * 3])),
        "all scores large and negative": (randn(2, 4, generator=rng) - 200, gaps),
    }


def split_heads(x: Float[Tensor, "batch time model"], heads: int) -> Float[Tensor, "batch head time width"]:
    """Split the vector of each token into ``heads`` parts of equal width, and give the heads their own axis.

    Head 0 gets the first ``width`` dimensions of every token, head 1 the next, and so on. Each head then has
    a sequence of its own: all tokens, in order, with narrower vectors.
    """
    return rearrange(x, "batch time (head width) -> batch head time width", head=heads)


def draw_texts(rng: Generator) -> Probes:
    """Inputs for 06.3: name → (vectors `[batch time model]`, number of heads)."""
    return {
        "two tokens, two heads": (torch.arange(8.0).view(1, 2, 4), 2),
        "four heads of width 2": (randn(2, 3, 8, generator=rng), 4),
        "three heads of width 4": (randn(3, 5, 12, generator=rng), 3),
    }


def shift_right(
    sentences: list[list[int]], start: int, end: int, pad: int,
) -> tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]:
    """The inputs of a decoder and the target at each of its positions, for a batch.

    A sentence is a list of token ids. The input at position 0 is ``start``, and its target is the first
    token. The input at each later position is a token, and its target is the next one; at the last token,
    the target is ``end``. Pad short rows on the right: the inputs with ``pad``, the targets with −100,
    which ``cross_entropy`` ignores. With start 5, end 6 and pad 0, the inputs for [[7, 8], [9]] are [[5,
    7, 8], [5, 9, 0]]; the targets are [[7, 8, 6], [9, 6, −100]].
    """
    longest = max(len(tokens) for tokens in sentences)
    inputs = [[start, *tokens] + [pad] * (longest - len(tokens)) for tokens in sentences]
    targets = [[*tokens, end] + [-100] * (longest - len(tokens)) for tokens in sentences]
    return torch.tensor(inputs), torch.tensor(targets)


def draw_sentences(_: Generator) -> Probes:
    """Inputs for 06.4: name → (sentences as lists of ids, start, end, pad)."""
    return {
        "one sentence": ([[11, 12, 13]], 5, 6, 0),
        "two lengths": ([[11, 12, 13], [14]], 5, 6, 0),
        "other special tokens": ([[7], [8, 9, 4, 8], [9, 9]], 1, 2, 3),
    }


def previous_token_head(weights: Float[Tensor, "head query key"], tokens: list[str]) -> tuple[int, float]:
    """The head that attends most to the previous token, and its score.

    A head's score is its mean attention weight from a token to the previous one. Only pairs of two ordinary
    tokens count: the first token has no previous one, and a pair with a special token is left out. A special
    token starts with "[", like [CLS] and [SEP]. ``weights[h, i, j]`` is the weight with which query i attends
    to key j in head h.
    """
    back = weights.diagonal(offset=-1, dim1=1, dim2=2)
    real = torch.tensor([not token.startswith("[") for token in tokens])
    scores = back[:, real[1:] & real[:-1]].mean(-1)
    return int(scores.argmax()), float(scores.max())


def draw_heads(rng: Generator) -> Probes:
    """Inputs for 06.5: name → (weights `[head query key]`, tokens), with special tokens."""
    def random_weights(heads: int, time: int) -> Tensor:
        return (2 * randn(heads, time, time, generator=rng)).softmax(-1)

    small = torch.tensor([[[0.6, 0.2, 0.2], [0.3, 0.2, 0.5], [0.1, 0.4, 0.5]],
                          [[0.2, 0.1, 0.7], [0.5, 0.3, 0.2], [0.1, 0.7, 0.2]]])
    return {
        "two heads, three words": (small, ["the", "old", "king"]),
        "special tokens at both ends": (random_weights(4, 6), ["[CLS]", "the", "king", "was", "found", "[SEP]"]),
        "a pair of sentences": (random_weights(6, 7), ["[CLS]", "who", "won", "[SEP]", "the", "king", "[SEP]"]),
        "a masked token, subwords and padding":
            (random_weights(5, 11),
             ["[CLS]", "un", "##known", "[MASK]", "the", "king", ",", "won", "[SEP]", "[PAD]", "[PAD]"]),
    }


EXERCISES = (
    Exercise(
        "06.1", "attention by hand", attention_by_hand, draw_vectors,
        mistakes={
            "the scores are not divided by √d_k": edit(" / k.shape[-1] ** 0.5", ""),
            "the scores are divided by d_k, not by its square root": edit(" ** 0.5", ""),
            "the scores are divided by d_k and by 2, not by the square root: ** binds tighter than /, so write ** 0.5":
                edit("** 0.5", "** 1 / 2"),
            "the scores are divided by the square root of the number of keys, not of their width":
                edit("k.shape[-1]", "k.shape[0]"),
            "the division by √d_k comes after the softmax; divide the scores instead":
                edit(" / k.shape[-1] ** 0.5", "", "@ v", "/ k.shape[-1] ** 0.5 @ v"),
            "the softmax is over the queries (dim 0), not over the keys": edit("softmax(-1)", "softmax(0)"),
            "the softmax is missing: the scores themselves are used as weights": edit(".softmax(-1)", ""),
            "queries and keys are swapped": edit("q @ k.T", "k @ q.T"),
            "exp of a large score overflows to ∞: subtract the maximum of the row first, or use .softmax":
                edit("scores.softmax(-1)", "by_exp(scores)"),
            "a maximum that starts at 0 stays 0 if all scores of a row are negative: start at −∞, or use .softmax":
                edit("scores.softmax(-1)", "by_exp(scores - largest_from_zero(scores))"),
        },
        properties={
            "an output is outside the range of its values; do the weights sum to 1?":
                lambda out, q, k, v: bool(((out >= v.amin(0) - 1e-3) & (out <= v.amax(0) + 1e-3)).all()),
        },
        hints=(
            "Three steps: scores [query key], weights [query key], output [query value]. Which products have these "
            "shapes?",
            "The scores are the dot products of every query with every key, divided by the square root of their "
            "width. Along which of the two axes must the weights sum to 1?",
            "A matrix product with a transposed matrix, a division, .softmax over the last axis, a matrix product.",
        ),
    ),
    Exercise(
        "06.2", "the mask", masked_weights, draw_masks,
        mistakes={
            "the mask is inverted: True = attend": edit("~attn_mask", "attn_mask"),
            "the weights are multiplied by the mask after the softmax, so they no longer sum to 1":
                edit('.masked_fill(~attn_mask, float("-inf")).softmax(-1)', ".softmax(-1) * attn_mask"),
            "the mask is applied after the softmax: if a masked score is huge, the other weights are 0":
                edit('return scores.masked_fill(~attn_mask, float("-inf")).softmax(-1)',
                     "weights = scores.softmax(-1) * attn_mask\n    return weights / weights.sum(-1, keepdim=True)"),
            "masked scores become 0, not −∞: the softmax still gives them weight, because e⁰ is 1":
                edit('scores.masked_fill(~attn_mask, float("-inf"))', "(scores * attn_mask)"),
            "masked scores become −100; if the other scores are lower, the masked key still gets weight: use −∞":
                edit('float("-inf")', "-100"),
            "a key that is masked for one query is masked for all queries; mask each pair of query and key separately":
                edit("~attn_mask", "~attn_mask.all(0)"),
            "the mask is transposed: its rows are the queries": edit("~attn_mask", "~attn_mask.T"),
            "the softmax is over the queries (dim 0), not over the keys": edit("softmax(-1)", "softmax(0)"),
            "exp of a huge score overflows, and ∞ · 0 is NaN: set masked scores to −∞, then use .softmax":
                edit('return scores.masked_fill(~attn_mask, float("-inf")).softmax(-1)',
                     "powers = scores.exp() * attn_mask\n    return powers / powers.sum(-1, keepdim=True)"),
            "a maximum that starts at 0 stays 0 if all scores of a row are negative: start at −∞, or use .softmax":
                edit("return scores", "masked = scores", ".softmax(-1)",
                     "\n    return by_exp(masked - largest_from_zero(masked))"),
        },
        properties={
            "a masked key still gets weight": lambda weights, _, mask: bool((weights[~mask].abs() < 1e-6).all()),
            "the weights of a query do not sum to 1":
                lambda weights, *_: torch.allclose(weights.sum(-1), torch.ones(len(weights)), atol=1e-4),
        },
        hints=(
            "The masked keys must be excluded before the softmax normalizes the weights. Which score has the weight 0 "
            "after a softmax?",
            "exp(x) is 0 only for x = −∞. Set the scores to −∞ where the mask is False, and leave the others "
            "unchanged.",
            "scores.masked_fill(where, value) writes a value where its mask is True; ~ inverts a mask.",
        ),
    ),
    Exercise(
        "06.3", "splitting heads", split_heads, draw_texts,
        mistakes={
            "a view directly to the new shape cuts across tokens: split the last axis first, then swap two axes":
                edit('rearrange(x, "batch time (head width) -> batch head time width", head=heads)',
                     "x.reshape(x.shape[0], heads, x.shape[1], -1)"),
            "time is still before head: swap these two axes": edit("-> batch head time", "-> batch time head"),
            "head and width are swapped inside a token: the dimensions of a head are contiguous in x":
                edit("(head width)", "(width head)"),
            "width is before time: that is the shape of transposed keys":
                edit("-> batch head time width", "-> batch head width time"),
            "`heads` is used as the width of a head; it is the number of heads": edit("head=heads", "width=heads"),
            "the vectors are not split: each head has the whole vector of each token":
                edit('rearrange(x, "batch time (head width) -> batch head time width", head=heads)',
                     "x[:, None].repeat(1, heads, 1, 1)"),
            "head is before batch": edit("-> batch head", "-> head batch"),
            "batch and head are merged into one axis": edit("-> batch head", "-> (batch head)"),
        },
        properties={
            "tokens are mixed: a position has entries of another token":
                lambda out, x, _: torch.equal(out.transpose(1, 2).flatten(2).sort(-1)[0], x.sort(-1)[0]),
        },
        hints=(
            "Splitting an axis and swapping two axes are two steps. `view` and `reshape` can do only the first.",
            "First split the last axis: [batch time head width]. Which two axes must then be swapped?",
            'x.unflatten(-1, (heads, -1)) splits and .transpose swaps. Or do both with einops: rearrange(x, "batch '
            'time (head width) -> …", head=heads).',
        ),
    ),
    Exercise(
        "06.4", "shifting the decoder's input", shift_right, draw_sentences,
        mistakes={
            "the padded row is shifted, so the input of a short row contains end: shift first, then pad":
                edit("[[start, *tokens] + [pad] * (longest - len(tokens))",
                     "[([start, *tokens, end] + [pad] * (longest - len(tokens)))[:-1]"),
            "end is missing from the targets: the model never learns to stop":
                edit("[*tokens, end] + [-100] * (longest", "[*tokens] + [-100] * (1 + longest"),
            "the padded row is shifted, and end is missing: the model never learns to stop":
                edit("[[start, *tokens] + [pad] * (longest - len(tokens))",
                     "[([start, *tokens] + [pad] * (longest - len(tokens)))[:-1]", "[*tokens, end]", "tokens"),
            "the rows have different lengths, and torch.tensor needs equal ones: pad short rows first":
                edit(" + [pad] * (longest - len(tokens))", "", " + [-100] * (longest - len(tokens))", ""),
            "the input is padded with −100, which is not a token; use `pad`": edit("[pad]", "[-100]"),
            "the input is padded with 0, not with `pad`; pad_sequence does so unless padding_value is given":
                edit("[pad]", "[0]"),
            "the targets are padded with `pad`, not with −100: the model is trained to predict padding":
                edit("[-100]", "[pad]"),
            "time is before batch: return one row per sentence (pad_sequence needs batch_first=True)":
                edit("torch.tensor(inputs)", "torch.tensor(inputs).T",
                     "torch.tensor(targets)", "torch.tensor(targets).T"),
            "nothing is shifted: the input at each position is its own target, and the model learns to copy":
                edit("[start, *tokens]", "[*tokens, end]"),
            "the shift has the wrong direction: the input is the next token, and the target the previous one":
                edit("[*tokens, end]", "[start, *tokens]", "[start, *tokens] + [pad]", "[*tokens, end] + [pad]"),
        },
        properties={
            "a position whose input is padding has a target":
                lambda out, rows, start, end, pad: bool((out[1][out[0] == pad] == IGNORE).all()),
        },
        hints=(
            "Write both rows for the sentence 11 12 13 on paper, one above the other. How long are they?",
            "The input begins with start and has no end; the targets end with end and have no start. Both are one "
            "token longer than the sentence.",
            "Build lists: [start, *tokens] and [*tokens, end]. Pad each to the length of the longest; torch.tensor "
            "makes a matrix of the rows.",
        ),
    ),
    Exercise(
        "06.5", "a previous-token head", previous_token_head, draw_heads,
        mistakes={
            "these are the weights to the next token, not to the previous one: weights[head, query, key] has the "
            "queries first": edit("offset=-1", "offset=1"),
            "these are the weights to the token itself, not to the previous one":
                edit("offset=-1", "offset=0", "real[1:] & real[:-1]", "real"),
            "special tokens are counted": edit("back[:, real[1:] & real[:-1]]", "back"),
            "a pair whose earlier token is special is counted": edit("real[1:] & real[:-1]", "real[1:]"),
            "a pair whose later token is special is counted": edit("real[1:] & real[:-1]", "real[:-1]"),
            "a pair is counted across a special token: after [SEP] is removed, its neighbours are not adjacent tokens":
                edit("back[:, real[1:] & real[:-1]]", "weights[:, real][:, :, real].diagonal(-1, 1, 2)"),
            "only [CLS] and [SEP] are left out; [MASK] and [PAD] are special tokens, too":
                edit('token.startswith("[")', 'token in ("[CLS]", "[SEP]")'),
            "the weights are summed, not averaged": edit("mean", "sum"),
            "this is the largest single weight, not the mean of a head": edit("mean", "amax"),
            "the sum is divided by the number of all tokens, not of the counted pairs":
                edit("mean(-1)", "sum(-1) / len(tokens)"),
        },
        hints=(
            "In the matrix of one head, which entries are weights from a token to the previous one? Draw them: they "
            "are on a diagonal.",
            "weights.diagonal(offset=…, dim1=1, dim2=2) selects a diagonal of every head. Below the main diagonal the "
            "offset is negative. Its first entry belongs to the second token.",
            "Entry i of the diagonal pairs token i + 1 with token i. Keep the entries where both are ordinary tokens. "
            "Take the mean of these entries in each head, then the maximum over the heads.",
        ),
    ),
)
