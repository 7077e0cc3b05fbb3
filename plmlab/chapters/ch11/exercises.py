"""Exercises of chapter 11: factorization order and two-stream attention of XLNet (Yang et al. 2019), and MPNet (Song et
al. 2020). XLNet's attention scores are in `exercises_scores`."""

import torch
from jaxtyping import Bool, Float
from torch import Generator, Tensor, randn

from plmlab.chapters.ch11 import exercises_scores
from plmlab.exercises.edits import edit
from plmlab.exercises.exercise import Exercise, Probes


def order_masks(order: list[int]) -> tuple[Bool[Tensor, "query key"], Bool[Tensor, "query key"]]:
    """Who may look at whom if the words of a text are said in an order: XLNet's two masks.

    ``order[t]`` is the position whose word is said t-th, counted from 0. The first mask is that of the
    content stream: a position sees the positions that are said before it, and itself. The second is that of
    the query stream: a position sees those that are said before it, and not itself. In both, True = may
    look, and row i and column i belong to position i of the text, whenever that is said.
    """
    rank = torch.tensor(order).argsort()
    return rank <= rank[:, None], rank < rank[:, None]


def draw_orders(_: Generator) -> Probes:
    """Inputs for 11.1: name → (order,)."""
    return {
        "two positions, the right one first": ([1, 0],),
        "three positions, the last one first": ([2, 0, 1],),
        "five positions": ([3, 0, 4, 2, 1],),
        "from left to right": ([0, 1, 2, 3],),
        "from right to left": ([3, 2, 1, 0],),
        "a single position": ([0],),
        "seven positions": ([5, 2, 6, 0, 3, 1, 4],),
    }


def two_hidden_words(
    first: Float[Tensor, "word"], then: Float[Tensor, "word next"], said: tuple[int, int],
) -> tuple[float, float, tuple[int, int], tuple[int, int]]:
    """Two hidden words, guessed apart as BERT does, and one after the other as XLNet does.

    ``first`` has log p(a) of each word a that the first may be. Row a of ``then`` has log p(b | a)
    of each word b that the second may be. ``said`` is the true pair (a, b). Both readers know these
    probabilities. BERT guesses each word by itself: the first with p(a), the second with p(b), the
    sum of p(a) p(b | a) over all a. XLNet says the first word, sees it, and says the second.

    Give four things: what BERT pays for the true pair, minus the log of the probability that it
    gives to the pair, in nats; what XLNet pays for it; the pair (a, b) that is likeliest by
    BERT's guesses; and the pair that is likeliest by XLNet's.
    """
    a, b = said
    joint = first[:, None] + then
    second = joint.logsumexp(0)
    likeliest = divmod(int(joint.argmax()), len(second))
    return -(first[a] + second[b]).item(), -joint[a, b].item(), (int(first.argmax()), int(second.argmax())), likeliest


def draw_pairs(rng: Generator) -> Probes:
    """Inputs for 11.2: name → (log p(a), log p(b | a), true pair)."""
    def drawn(first: int, second: int, said: tuple[int, int]) -> tuple[Tensor, Tensor, tuple[int, int]]:
        one, other = randn(first, generator=rng), 2 * randn(first, second, generator=rng)
        return one.log_softmax(0), other.log_softmax(1), said

    alone = drawn(3, 4, (1, 2))
    return {
        "San or New; Francisco, Diego or York":
            (torch.tensor([0.6, 0.4]).log(), torch.tensor([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]).log(), (1, 2)),
        "as many second words as first ones": drawn(3, 3, (2, 0)),
        "the first word tells nothing of the second": (alone[0], alone[1][:1].expand(3, -1).clone(), (1, 2)),
        "five first words, three second ones": drawn(5, 3, (1, 0)),
        "four first words, six second ones": drawn(4, 6, (3, 5)),
        "a single first word": drawn(1, 4, (0, 1)),
    }


def two_streams(
    h: Float[Tensor, "time model"], g: Float[Tensor, "query model"], content: Bool[Tensor, "time time"],
    query: Bool[Tensor, "query time"],
) -> tuple[Float[Tensor, "time model"], Float[Tensor, "query model"]]:
    """A layer of XLNet's two streams of attention, with one head and without its weights.

    ``h`` is the content stream, a vector for each position; ``g`` is the query stream, a vector for each
    position whose word is asked. A score is the dot product of a query and a key over the root of the
    width; weights are the softmax of a query's scores over the keys that it may see. Keys and values
    of both streams are the vectors of ``h``; the queries of each stream are its own vectors.
    ``content`` and ``query`` say what each row of ``h`` and of ``g`` may see (True = may look). A row
    that may see nothing becomes zeros. Give the next ``h``, then the next ``g``.
    """
    def read(q: Tensor, attn_mask: Tensor) -> Tensor:
        scores = (q @ h.T / h.shape[1] ** 0.5).masked_fill(~attn_mask, float("-inf"))
        return scores.softmax(1).nan_to_num() @ h

    return read(h, content), read(g, query)


def draw_streams(rng: Generator) -> Probes:
    """Inputs for 11.3: name → (content stream, query stream, their two masks). A rank of −1 is context."""
    def drawn(ranks: list[int], asked: list[int], width: int, size: float = 1.0) -> tuple[Tensor, ...]:
        rank = torch.tensor(ranks)
        h, g = (size * randn(positions, width, generator=rng) for positions in (len(ranks), len(asked)))
        return h, g, rank <= rank[:, None], (rank < rank[:, None])[asked]

    return {
        "two positions, said from the right, a width of 1":
            (torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0], [0.5]]),
             torch.tensor([[True, True], [False, True]]), torch.tensor([[False, True], [False, False]])),
        "five positions in an order, and all are asked": drawn([2, 4, 0, 1, 3], [0, 1, 2, 3, 4], 3),
        "two of six positions are asked, the others are context": drawn([-1, 1, -1, -1, 0, -1], [4, 1], 4),
        "all but the first of four are asked": drawn([1, 3, 0, 2], [0, 3, 1], 5),
        "large numbers": drawn([3, 0, 2, 1], [1, 0], 3, 20.0),
        "a single position": drawn([0], [0], 2),
    }


def mpnet_mask(time: int, predict: list[int]) -> Bool[Tensor, "query key"]:
    """What the queries of MPNet see: of each place of a text exactly one, the word or a mask.

    The keys are the ``time`` words of a text and, behind them, a [MASK] for each position that is
    predicted: key time + u is the mask of the position ``predict[u]``, and stands at its position.
    ``predict`` has these positions in the order in which their words are said. Row t belongs to the position
    that is said t-th, ``predict[t]``. It sees every word that is not predicted and the words that are
    said before it. Of the places that are left, its own and those said later, it sees the masks
    (True = may look).
    """
    rank = torch.full((time,), -1)
    rank[predict] = torch.arange(len(predict))
    t = torch.arange(len(predict))
    return torch.cat([rank < t[:, None], t >= t[:, None]], dim=1)


def draw_predictions(_: Generator) -> Probes:
    """Inputs for 11.6: name → (length of the text, predicted positions)."""
    return {
        "two of three positions, the right one first": (3, [2, 0]),
        "three of seven positions, in any order": (7, [5, 1, 4]),
        "all of four positions": (4, [2, 0, 3, 1]),
        "a single position of five": (5, [3]),
        "two neighbours, from left to right": (6, [3, 4]),
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
        "11.1", "an order in two masks", order_masks, draw_orders,
        mistakes={
            "`order[t]` is taken for the time at which position t is said; it is the position that is said t-th":
                edit(".argsort()", ""),
            "these are the masks from left to right, whatever the order: rows and columns are the positions of the "
            "text, "
            "not those that are said first, second, …": edit(
                "torch.tensor(order).argsort()", "torch.arange(len(order))"),
            "a position sees what is said after it: rows are the queries, columns the keys":
                edit("rank <= rank", "rank >= rank", "rank < rank", "rank > rank"),
            "only the rows are in their places: row i sees as many positions as it should, but the first ones of the "
            "text":
                edit("rank <=", "torch.arange(len(order)) <=", "rank <", "torch.arange(len(order)) <"),
            "only the columns are in their places: row t is the position that is said t-th, and should be position "
            "t": edit(
                "<= rank[:", "<= torch.arange(len(order))[:", "< rank[:", "< torch.arange(len(order))[:"),
            "the query stream sees itself, and so the word that it has to say": edit("rank < rank", "rank <= rank"),
            "the content stream does not see itself; its positions know their own words":
                edit("rank <= rank", "rank < rank"),
            "True marks what is blocked; True = may look":
                edit("rank <= rank", "rank > rank", "rank < rank", "rank >= rank"),
            "the query stream sees all positions but itself, those that are said later too":
                edit("rank < rank", "rank != rank"),
            "the content stream sees everything; it has an order too, or the query stream would hear of later words "
            "through it": edit("rank <= rank[:, None]", "(rank <= rank[:, None]) | True"),
        },
        properties={
            "a position of the query stream sees itself": lambda out, order: torch.equal(
                out[1].diagonal(), torch.zeros(len(order), dtype=torch.bool)),
            "a position of the content stream does not see itself": lambda out, order: torch.equal(
                out[0].diagonal(), torch.ones(len(order), dtype=torch.bool)),
            "the two masks differ elsewhere than in whether a position sees itself": lambda out, order: torch.equal(
                out[0], out[1] | torch.eye(len(order), dtype=torch.bool)),
            "two positions see each other, or neither sees the other; one of the two is said first":
                lambda out, order: torch.equal(out[1] ^ out[1].T, ~torch.eye(len(order), dtype=torch.bool)),
            "the position that is said t-th does not see t positions in the query stream":
                lambda out, order: out[1].sum(1)[order].tolist() == list(range(len(order))),
        },
        hints=(
            "Take the order 2, 0, 1. Which positions have been said when it is the turn of position 0? And when it is "
            "the turn "
            "of position 2? Which row of the masks is that of position 2?",
            "order[t] answers \"who is said t-th?\". You need the answer to \"when is position i said?\". With that, a "
            "key "
            "may be seen if its time is before that of the query. Only the diagonal differs between the two masks.",
            "Of a permutation, .argsort() is the inverse. Compare it with itself as a column, rank[:, None], once with "
            "the diagonal and once without. Or fill a table of False row by row: row order[t], columns order[:t].",
        ),
    ),
    Exercise(
        "11.2", "apart and together", two_hidden_words, draw_pairs,
        mistakes={
            "XLNet pays for the second word only; the first has to be said too": edit("-joint[a, b]", "-then[a, b]"),
            "BERT pays as XLNet does; it does not see the first word when it guesses the second":
                edit("-(first[a] + second[b])", "-joint[a, b]"),
            "BERT's likeliest second word is the one behind its likeliest first word; it guesses each by itself":
                edit("second.argmax()", "then[first.argmax()].argmax()"),
            "XLNet's likeliest pair begins with the likeliest first word; another beginning may give a likelier pair":
                edit("divmod(int(joint.argmax()), len(second))",
                     "int(first.argmax()), int(then[first.argmax()].argmax())"),
            "XLNet's pair is searched by p(b | a) alone, which is 1 behind some unlikely words; p(a) counts too":
                edit("joint.argmax()", "then.argmax()"),
            "for p(b) the sum of p(b | a) over a is taken; each a counts as much as it is likely":
                edit("joint.logsumexp", "then.logsumexp"),
            "logs are added up over a; probabilities are: .logsumexp": edit("logsumexp", "sum"),
            "the sum runs over b, along the rows, and gives p(a) once more; p(b) is a sum over a, down the columns":
                edit("logsumexp(0)", "logsumexp(1)", "len(second)", "then.shape[1]"),
            "the flat number of the cell is divided by the number of rows; a row is as long as there are columns":
                edit("len(second)", "len(first)"),
            "XLNet's likeliest pair is still (0, 0): no log exceeds a maximum that begins at 0, for all are below 0":
                edit("divmod(int(joint.argmax()), len(second))", "(0, 0)"),
        },
        hints=(
            "San (0.6) or New (0.4). After San comes Francisco or Diego, 0.5 each; after New comes York. How likely is "
            "York, if the first word is hidden too? Which word has the largest p(a), and which has the largest p(b)?",
            "Make the table of log p(a, b) first: what is multiplied in probabilities is added in logs. Its column "
            "sums, in probabilities, are p(b). Its largest cell is the pair that is likeliest together, and that need "
            "not begin with the likeliest first word.",
            "first[:, None] stands beside each row; .logsumexp(0) adds up probabilities that are given as logs. "
            ".argmax() of a table counts its cells row by row: divmod(cell, columns) is (row, column).",
        ),
    ),
    Exercise(
        "11.3", "two streams", two_streams, draw_streams,
        mistakes={
            "the query stream attends to itself: its keys and values are those of h, for only h knows words":
                edit("attn_mask: Tensor)", "attn_mask: Tensor, h: Tensor = h)", "read(g, query)", "read(g, query, g)"),
            "the queries of the query stream are those of h, which know the words that are asked; they are those of g":
                edit("read(g, query)", "read(h, query)"),
            "the query stream looks at what h has just become; both streams look at the old h":
                edit("return read(h, content),", "h = read(h, content)\n    return h,"),
            "the content stream's mask is used for both: the query stream sees its own word":
                edit("read(g, query)", "read(g, content)"),
            "a row that sees nothing is NaN, for where all scores are −∞ the softmax is 0/0; it becomes zeros":
                edit(".nan_to_num()", ""),
            "a row that sees nothing is the mean of everything: where all scores are −1e9, the softmax is uniform":
                edit("float(\"-inf\")", "-1e9"),
            "the mask comes behind the softmax, so that the weights that are left do not add up to 1":
                edit(".masked_fill(~attn_mask, float(\"-inf\"))", "", ".nan_to_num()", " * attn_mask"),
            "the mask is upside down: True = may look": edit("~attn_mask", "attn_mask"),
            "the softmax runs over the queries; the weights of each query add up to 1":
                edit("softmax(1)", "softmax(0)"),
            "the scores are not divided by the root of the width": edit(" / h.shape[1] ** 0.5", ""),
        },
        properties={
            "a vector of the next h lies outside those that its position sees":
                lambda out, h, g, content, query: among(out[0], h, content),
            "a vector of the next g lies outside those that its position sees":
                lambda out, h, g, content, query: among(out[1], h, query),
            "a row that sees nothing is not zeros":
                lambda out, h, g, content, query: not bool(out[1][~query.any(1)].any()),
        },
        hints=(
            "The query stream has to guess the word of its position, and does not know it. Which stream holds the "
            "words "
            "that it may look at? What does the first word of the order see?",
            "Both streams do one thing: queries look at h, through a mask. So a function of queries and mask, called "
            "twice. Both times h is the old one. Where all scores of a row are −∞, the softmax is 0/0.",
            "scores.masked_fill(~attn_mask, float(\"-inf\")), .softmax(1) over the keys, and then .nan_to_num() turns "
            "the NaN of an empty row into 0. h.shape[1] is the width.",
        ),
    ),
    *exercises_scores.EXERCISES,
    Exercise(
        "11.6", "words before, masks behind", mpnet_mask, draw_predictions,
        mistakes={
            "a query sees its own word, and its mask too; the word is what it has to say":
                edit("rank < t", "rank <= t"),
            "a query does not see its own mask: its place would be missing, and to it the text one word shorter":
                edit("t >= t", "t > t"),
            "all masks are seen; where a word has been said, it is seen in place of its mask":
                edit("t >= t[:, None]", "(t >= t[:, None]) | True"),
            "no mask is seen. This is XLNet: a query does not know which places are still to come":
                edit("t >= t[:, None]", "(t >= t[:, None]) & False"),
            "the words that are said before are not seen, and all masks are. This is BERT":
                edit("rank < t[:, None]", "rank < 0 * t[:, None]", "t >= t[:, None]", "t >= 0 * t[:, None]"),
            "the masks of what is said before are seen; it is those of what is said later": edit("t >= t", "t <= t"),
            "only the own mask is seen; the places of words that are said later need theirs":
                edit("t >= t", "t == t"),
            "what stands to the left of a position is taken for said; `predict` is the order in which they are "
            "said": edit(
                "rank < t[:, None]", "(rank < 0) | (torch.arange(time) < torch.tensor(predict)[:, None])"),
            "rows and masks stand in the order of the text; they stand in the order in which they are said":
                edit("rank = torch.full", "predict = sorted(predict)\n    rank = torch.full"),
            "True marks what is blocked; True = may look": edit("return torch", "return ~torch"),
        },
        properties={
            "a query sees the word that it has to say": lambda out, time, predict: not bool(
                out[torch.arange(len(predict)), predict].any()),
            "a query does not see its own mask": lambda out, time, predict: torch.equal(
                out[:, time:].diagonal(), torch.ones(len(predict), dtype=torch.bool)),
            "a word that is not predicted is hidden": lambda out, time, predict: bool(
                (out[:, [position for position in range(time) if position not in predict]] == 1).all()),
            "a query does not see each place once, the word or its mask": lambda out, time, predict: bool(
                (out[:, :time].long().index_add(1, torch.tensor(predict), out[:, time:].long()) == 1).all()),
        },
        hints=(
            "Positions 2 and 0 of three are said, in this order. Which words does the query of position 2 see, which "
            "masks? "
            "And the query of position 0? Count the places that each of them sees: three?",
            "There are two blocks side by side. Columns of the words are positions, so predict says which columns to "
            "hide: "
            "from predict[t] on. Columns of the masks stand in the order already, so their block needs no predict.",
            "Start from torch.ones(…, dtype=torch.bool); row by row, words[t, predict[t:]] = False. The block of masks "
            "is a triangle, .triu(). torch.cat([words, masks], dim=1) joins the two.",
        ),
    ),
)
