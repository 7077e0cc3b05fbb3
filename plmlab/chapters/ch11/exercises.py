"""Exercises of chapter 11: factorization order and two-stream attention of XLNet (Yang et al. 2019), and MPNet (Song et
al. 2020). XLNet's attention scores are in `exercises_scores`."""

import torch
from jaxtyping import Bool, Float
from torch import Generator, Tensor, randn

from plmlab.chapters.ch11 import exercises_scores
from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def order_masks(order: list[int]) -> tuple[Bool[Tensor, "query key"], Bool[Tensor, "query key"]]:
    """XLNet's two attention masks for a factorization order.

    ``order[t]`` is the position whose token is predicted t-th, counted from 0. In the content stream, a
    position attends to the positions predicted before it and to itself. In the query stream, it attends to
    those predicted before it, but not to itself. In both masks, True = can attend, and row i and column i
    belong to position i of the text, whenever it is predicted. Return the content mask, then the query mask.
    """
    rank = torch.tensor(order).argsort()
    return rank <= rank[:, None], rank < rank[:, None]


def draw_orders(_: Generator) -> Probes:
    """Inputs for 11.1: name → (order,)."""
    return {
        "two positions, right to left": ([1, 0],),
        "three positions, the last one first": ([2, 0, 1],),
        "five positions": ([3, 0, 4, 2, 1],),
        "left to right": ([0, 1, 2, 3],),
        "right to left": ([3, 2, 1, 0],),
        "a single position": ([0],),
        "seven positions": ([5, 2, 6, 0, 3, 1, 4],),
    }


def two_masked_words(
    first: Float[Tensor, "word"], conditional: Float[Tensor, "word next"], target: tuple[int, int],
) -> tuple[float, float, tuple[int, int], tuple[int, int]]:
    """Two masked words, predicted independently as in BERT, and sequentially as in XLNet.

    ``first`` has log p(a) of each candidate a for the first word. Row a of ``conditional`` has log p(b | a)
    of each candidate b for the second word. ``target`` is the true pair (a, b). Both models know these
    probabilities. BERT predicts each word independently: the first with p(a), the second with p(b), the
    sum of p(a) p(b | a) over all a. XLNet predicts the first word, then the second given the first.

    Return four things: BERT's loss on the true pair, −log of the probability that it assigns to the
    pair, in nats; XLNet's loss on it; the pair (a, b) with the highest probability under BERT's
    predictions; and the most probable pair under XLNet's.
    """
    a, b = target
    joint = first[:, None] + conditional
    second = joint.logsumexp(0)
    likeliest = divmod(int(joint.argmax()), len(second))
    return -(first[a] + second[b]).item(), -joint[a, b].item(), (int(first.argmax()), int(second.argmax())), likeliest


def draw_pairs(rng: Generator) -> Probes:
    """Inputs for 11.2: name → (log p(a), log p(b | a), true pair)."""
    def drawn(first: int, second: int, target: tuple[int, int]) -> tuple[Tensor, Tensor, tuple[int, int]]:
        one, other = randn(first, generator=rng), 2 * randn(first, second, generator=rng)
        return one.log_softmax(0), other.log_softmax(1), target

    alone = drawn(3, 4, (1, 2))
    return {
        "San or New; Francisco, Diego or York":
            (torch.tensor([0.6, 0.4]).log(), torch.tensor([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]).log(), (1, 2)),
        "the same number of first and second words": drawn(3, 3, (2, 0)),
        "the two words are independent": (alone[0], alone[1][:1].expand(3, -1).clone(), (1, 2)),
        "five first words, three second words": drawn(5, 3, (1, 0)),
        "four first words, six second words": drawn(4, 6, (3, 5)),
        "a single first word": drawn(1, 4, (0, 1)),
    }


def two_stream_attention(
    h: Float[Tensor, "time model"], g: Float[Tensor, "query model"], content: Bool[Tensor, "time time"],
    query: Bool[Tensor, "query time"],
) -> tuple[Float[Tensor, "time model"], Float[Tensor, "query model"]]:
    """One layer of XLNet's two-stream attention, with a single head and no projection matrices.

    ``h`` is the content stream, one vector per position; ``g`` is the query stream, one vector per
    prediction target. A score is the dot product of a query and a key, divided by the square root of
    the width; the attention weights are the softmax of a query's scores over its visible keys. Keys and
    values of both streams are the vectors of ``h``; the queries of each stream are its own vectors.
    ``content`` and ``query`` are the masks for the rows of ``h`` and of ``g`` (True = can attend). The output
    of a row with no visible key is zero. Return the next ``h``, then the next ``g``.
    """
    def read(q: Tensor, attn_mask: Tensor) -> Tensor:
        scores = (q @ h.T / h.shape[1] ** 0.5).masked_fill(~attn_mask, float("-inf"))
        return scores.softmax(1).nan_to_num() @ h

    return read(h, content), read(g, query)


def draw_streams(rng: Generator) -> Probes:
    """Inputs for 11.3: name → (content stream, query stream, their two masks). A rank of −1 is context."""
    def drawn(ranks: list[int], targets: list[int], width: int, size: float = 1.0) -> tuple[Tensor, ...]:
        rank = torch.tensor(ranks)
        h, g = (size * randn(positions, width, generator=rng) for positions in (len(ranks), len(targets)))
        return h, g, rank <= rank[:, None], (rank < rank[:, None])[targets]

    return {
        "two positions, right to left, a width of 1":
            (torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0], [0.5]]),
             torch.tensor([[True, True], [False, True]]), torch.tensor([[False, True], [False, False]])),
        "five positions in some order, all of them predicted": drawn([2, 4, 0, 1, 3], [0, 1, 2, 3, 4], 3),
        "two of six positions are predicted, the others are context": drawn([-1, 1, -1, -1, 0, -1], [4, 1], 4),
        "all but the first of four are predicted": drawn([1, 3, 0, 2], [0, 3, 1], 5),
        "large numbers": drawn([3, 0, 2, 1], [1, 0], 3, 20.0),
        "a single position": drawn([0], [0], 2),
    }


def mpnet_mask(time: int, predict: list[int]) -> Bool[Tensor, "query key"]:
    """MPNet's attention mask: each query sees exactly one token per position of the text, the word or a [MASK].

    The keys are the ``time`` words of a text, followed by a [MASK] for each predicted position:
    key time + u is the mask of the position ``predict[u]``, with the position encoding of that position.
    ``predict`` lists these positions in the order in which they are predicted. Row t belongs to the
    position predicted t-th, ``predict[t]``. It attends to every word that is not predicted, and to the words
    predicted before it. For the other positions, its own and those predicted later, it attends to the
    masks (True = can attend).
    """
    rank = torch.full((time,), -1)
    rank[predict] = torch.arange(len(predict))
    t = torch.arange(len(predict))
    return torch.cat([rank < t[:, None], t >= t[:, None]], dim=1)


def draw_predictions(_: Generator) -> Probes:
    """Inputs for 11.6: name → (length of the text, predicted positions)."""
    return {
        "two of three positions, right to left": (3, [2, 0]),
        "three of seven positions, in any order": (7, [5, 1, 4]),
        "all of four positions": (4, [2, 0, 3, 1]),
        "a single position of five": (5, [3]),
        "two adjacent positions, left to right": (6, [3, 4]),
        "four of nine positions": (9, [6, 8, 1, 3]),
    }


def among(out: Tensor, h: Tensor, attn_mask: Tensor) -> bool:
    """Whether each row lies element-wise within the range of the vectors visible to it; a row that sees nothing is
    skipped."""
    table, hidden = h.expand(len(attn_mask), -1, -1), ~attn_mask[..., None]
    low, high = table.masked_fill(hidden, float("inf")).amin(1), table.masked_fill(hidden, float("-inf")).amax(1)
    inside = (low - 1e-3 <= out) & (out <= high + 1e-3)
    return bool(inside[attn_mask.any(1)].all())


EXERCISES = (
    Exercise(
        "11.1", "two masks for a factorization order", order_masks, draw_orders,
        mistakes={
            "`order[t]` is treated as the step at which position t is predicted; it is the position predicted t-th":
                edit(".argsort()", ""),
            "these are left-to-right masks, whatever the order: rows and columns are positions of the text, not steps":
                edit(
                "torch.tensor(order).argsort()", "torch.arange(len(order))"),
            "a position attends to those predicted after it: rows are the queries, columns the keys":
                edit("rank <= rank", "rank >= rank", "rank < rank", "rank > rank"),
            "only the rows are permuted: row i has the correct number of visible positions, but the wrong ones":
                edit("rank <=", "torch.arange(len(order)) <=", "rank <", "torch.arange(len(order)) <"),
            "only the columns are permuted: row t is the position predicted t-th, and should be position t": edit(
                "<= rank[:", "<= torch.arange(len(order))[:", "< rank[:", "< torch.arange(len(order))[:"),
            "the query stream attends to itself, and so to its own target": edit("rank < rank", "rank <= rank"),
            "the content stream does not attend to itself; its positions encode their own tokens":
                edit("rank <= rank", "rank < rank"),
            "the mask is inverted: True = can attend":
                edit("rank <= rank", "rank > rank", "rank < rank", "rank >= rank"),
            "the query stream attends to all positions but itself, including those predicted later":
                edit("rank < rank", "rank != rank"),
            "the content stream attends to everything; it needs the order too, or later words leak out":
                edit("rank <= rank[:, None]", "(rank <= rank[:, None]) | True"),
        },
        properties={
            "a position of the query stream can attend to itself": lambda out, order: torch.equal(
                out[1].diagonal(), torch.zeros(len(order), dtype=torch.bool)),
            "a position of the content stream cannot attend to itself": lambda out, order: torch.equal(
                out[0].diagonal(), torch.ones(len(order), dtype=torch.bool)),
            "the two masks differ outside the diagonal": lambda out, order: torch.equal(
                out[0], out[1] | torch.eye(len(order), dtype=torch.bool)),
            "two positions attend to each other, or neither to the other; one of the two is predicted first":
                lambda out, order: torch.equal(out[1] ^ out[1].T, ~torch.eye(len(order), dtype=torch.bool)),
            "the position predicted t-th does not attend to t positions in the query stream":
                lambda out, order: out[1].sum(1)[order].tolist() == list(range(len(order))),
        },
        hints=(
            "Take the order 2, 0, 1. Which positions have been predicted before position 0? And before position 2? "
            "Which row of the masks belongs to position 2?",
            "order[t] answers \"which position is predicted t-th?\". You need the answer to \"when is position i "
            "predicted?\". A key is visible if its step is before the query's. The two masks differ only on the "
            "diagonal.",
            ".argsort() of a permutation is its inverse. Compare it with itself as a column, rank[:, None], once with "
            "the diagonal and once without. Or fill a table of False row by row: row order[t], columns order[:t].",
        ),
    ),
    Exercise(
        "11.2", "independent and sequential prediction", two_masked_words, draw_pairs,
        mistakes={
            "XLNet's loss covers the second word only; it has to predict the first too":
                edit("-joint[a, b]", "-conditional[a, b]"),
            "BERT's loss equals XLNet's; BERT does not see the first word when it predicts the second":
                edit("-(first[a] + second[b])", "-joint[a, b]"),
            "BERT's most probable second word is conditioned on the first; BERT predicts each word independently":
                edit("second.argmax()", "conditional[first.argmax()].argmax()"),
            "XLNet's best pair starts with the most probable first word; another may give a better pair":
                edit("divmod(int(joint.argmax()), len(second))",
                     "int(first.argmax()), int(conditional[first.argmax()].argmax())"),
            "XLNet's pair maximizes p(b | a) alone, which is 1 after some improbable words; p(a) is a factor too":
                edit("joint.argmax()", "conditional.argmax()"),
            "p(b) is computed as the sum of p(b | a) over a; each a has the weight p(a)":
                edit("joint.logsumexp", "conditional.logsumexp"),
            "log-probabilities are summed over a; sum the probabilities: .logsumexp": edit("logsumexp", "sum"),
            "the sum runs over b, along the rows, and gives p(a) again; p(b) is a sum over a, down the columns":
                edit("logsumexp(0)", "logsumexp(1)", "len(second)", "conditional.shape[1]"),
            "the flat index of the cell is divided by the number of rows; divide by the number of columns":
                edit("len(second)", "len(first)"),
            "XLNet's best pair is still (0, 0): a maximum that starts at 0 exceeds all logs":
                edit("divmod(int(joint.argmax()), len(second))", "(0, 0)"),
        },
        hints=(
            "San (0.6) or New (0.4). After San comes Francisco or Diego, 0.5 each; after New comes York. How probable "
            "is York if the first word is masked too? Which word has the largest p(a), and which has the largest p(b)?",
            "Compute the table of log p(a, b) first: a product of probabilities is a sum of logs. Its column sums, in "
            "probabilities, are p(b). Its largest cell is the most probable pair jointly, which need not start with "
            "the most probable first word.",
            "first[:, None] broadcasts over each row; .logsumexp(0) sums probabilities given as logs. .argmax() of a "
            "table is a flat index, row by row: divmod(cell, columns) is (row, column).",
        ),
    ),
    Exercise(
        "11.3", "two-stream attention", two_stream_attention, draw_streams,
        mistakes={
            "the query stream attends to itself: its keys and values are those of h, because only h contains the words":
                edit("attn_mask: Tensor)", "attn_mask: Tensor, h: Tensor = h)", "read(g, query)", "read(g, query, g)"),
            "the queries of the query stream are those of h, which contain the target words; use those of g":
                edit("read(g, query)", "read(h, query)"),
            "the query stream attends to the updated h; both streams attend to the old h":
                edit("return read(h, content),", "h = read(h, content)\n    return h,"),
            "the content stream's mask is used for both: the query stream sees its own target":
                edit("read(g, query)", "read(g, content)"),
            "a row with no visible key is NaN, because the softmax of scores that are all −∞ is 0/0; it should be zero":
                edit(".nan_to_num()", ""),
            "a row with no visible key is the mean of everything: if all scores are −1e9, the softmax is uniform":
                edit("float(\"-inf\")", "-1e9"),
            "the mask is applied after the softmax, so that the remaining weights do not sum to 1":
                edit(".masked_fill(~attn_mask, float(\"-inf\"))", "", ".nan_to_num()", " * attn_mask"),
            "the mask is inverted: True = can attend": edit("~attn_mask", "attn_mask"),
            "the softmax runs over the queries; the weights of each query sum to 1": edit("softmax(1)", "softmax(0)"),
            "the scores are not divided by the square root of the width": edit(" / h.shape[1] ** 0.5", ""),
        },
        properties={
            "a vector of the next h is outside the range of the vectors visible to it":
                lambda out, h, g, content, query: among(out[0], h, content),
            "a vector of the next g is outside the range of the vectors visible to it":
                lambda out, h, g, content, query: among(out[1], h, query),
            "a row with no visible key is not zero":
                lambda out, h, g, content, query: not bool(out[1][~query.any(1)].any()),
        },
        hints=(
            "The query stream has to predict the token of its position, and does not know it. Which stream contains "
            "the tokens that it can attend to? What is visible to the first position of the order?",
            "Both streams do the same: queries attend to h, through a mask. So write one function of queries and "
            "mask, and call it twice, both times with the old h. If all scores of a row are −∞, the softmax is 0/0.",
            "scores.masked_fill(~attn_mask, float(\"-inf\")), .softmax(1) over the keys, and then .nan_to_num() "
            "replaces the NaN of a row without keys by 0. h.shape[1] is the width.",
        ),
    ),
    *exercises_scores.EXERCISES,
    Exercise(
        "11.6", "MPNet's mask: words and [MASK]s", mpnet_mask, draw_predictions,
        mistakes={
            "a query attends to its own word as well as its mask; the word is its target":
                edit("rank < t", "rank <= t"),
            "a query does not attend to its own mask: its position would be missing, and the text one token shorter":
                edit("t >= t", "t > t"),
            "all masks are visible; once a word has been predicted, it replaces its mask":
                edit("t >= t[:, None]", "(t >= t[:, None]) | True"),
            "no mask is visible. This is XLNet: a query does not know which positions are still to come":
                edit("t >= t[:, None]", "(t >= t[:, None]) & False"),
            "words predicted earlier are hidden, and all masks are visible. This is BERT":
                edit("rank < t[:, None]", "rank < 0 * t[:, None]", "t >= t[:, None]", "t >= 0 * t[:, None]"),
            "the masks of the positions predicted earlier are visible; it should be those predicted later":
                edit("t >= t", "t <= t"),
            "only the query's own mask is visible; positions predicted later need theirs": edit("t >= t", "t == t"),
            "positions to the left are treated as already predicted; `predict` gives the prediction order": edit(
                "rank < t[:, None]", "(rank < 0) | (torch.arange(time) < torch.tensor(predict)[:, None])"),
            "rows and masks are in text order; they should be in prediction order":
                edit("rank = torch.full", "predict = sorted(predict)\n    rank = torch.full"),
            "the mask is inverted: True = can attend": edit("return torch", "return ~torch"),
        },
        properties={
            "a query can attend to its target": lambda out, time, predict: not bool(
                out[torch.arange(len(predict)), predict].any()),
            "a query cannot attend to its own mask": lambda out, time, predict: torch.equal(
                out[:, time:].diagonal(), torch.ones(len(predict), dtype=torch.bool)),
            "a word that is not predicted is hidden": lambda out, time, predict: bool(
                (out[:, [position for position in range(time) if position not in predict]] == 1).all()),
            "a query does not see exactly one token per position, the word or its mask":
                lambda out, time, predict: bool(
                (out[:, :time].long().index_add(1, torch.tensor(predict), out[:, time:].long()) == 1).all()),
        },
        hints=(
            "Positions 2 and 0 of three are predicted, in this order. Which words and masks does the query of "
            "position 2 attend to? And the query of position 0? How many positions does each of them cover: three?",
            "There are two blocks side by side. The columns of the words are positions, so `predict` says which to "
            "block: from predict[t] on. The columns of the masks are already in prediction order, so their block does "
            "not need `predict`.",
            "Start from torch.ones(…, dtype=torch.bool); row by row, words[t, predict[t:]] = False. The block of "
            "masks is a triangle, .triu(). torch.cat([words, masks], dim=1) concatenates the two.",
        ),
    ),
)
