"""Exercises of chapter 11: the order, the streams and the scores of XLNet (Yang et al. 2019), and MPNet (Song et al.
2020)."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor, randn

from plmlab.chapters.ch11 import mistakes, mistakes_scores
from plmlab.exercises.exercise import Exercise, Probes


def order_masks(order: list[int]) -> tuple[Bool[Tensor, "query key"], Bool[Tensor, "query key"]]:
    """Who may look at whom if the words of a text are said in an order: XLNet's two masks.

    ``order[t]`` is the slot whose word is said t-th, counted from 0. The first mask is that of the
    content stream: a slot sees the slots that are said before it, and itself. The second is that of
    the query stream: a slot sees those that are said before it, and not itself. In both, True = may
    look, and row i and column i belong to slot i of the text, whenever that is said.
    """
    rank = torch.tensor(order).argsort()
    return rank <= rank[:, None], rank < rank[:, None]


def draw_orders(_: Generator) -> Probes:
    """Inputs for 11.1: name → (order,)."""
    return {
        "two slots, the right one first": ([1, 0],),
        "three slots, the last one first": ([2, 0, 1],),
        "five slots": ([3, 0, 4, 2, 1],),
        "from left to right": ([0, 1, 2, 3],),
        "from right to left": ([3, 2, 1, 0],),
        "a single slot": ([0],),
        "seven slots": ([5, 2, 6, 0, 3, 1, 4],),
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

    ``h`` is the content stream, a vector for each slot; ``g`` is the query stream, a vector for each
    slot whose word is asked. A score is the dot product of a query and a key over the root of the
    width; weights are the softmax of a query's scores over the keys that it may see. Keys and values
    of both streams are the vectors of ``h``; the queries of each stream are its own vectors.
    ``content`` and ``query`` say what each row of ``h`` and of ``g`` may see (True = may look). A row
    that may see nothing becomes zeros. Give the next ``h``, then the next ``g``.
    """
    def read(q: Tensor, may_look: Tensor) -> Tensor:
        scores = (q @ h.T / h.shape[1] ** 0.5).masked_fill(~may_look, float("-inf"))
        return scores.softmax(1).nan_to_num() @ h

    return read(h, content), read(g, query)


def draw_streams(rng: Generator) -> Probes:
    """Inputs for 11.3: name → (content stream, query stream, their two masks). A rank of −1 is context."""
    def drawn(ranks: list[int], asked: list[int], width: int, size: float = 1.0) -> tuple[Tensor, ...]:
        rank = torch.tensor(ranks)
        h, g = (size * randn(slots, width, generator=rng) for slots in (len(ranks), len(asked)))
        return h, g, rank <= rank[:, None], (rank < rank[:, None])[asked]

    return {
        "two slots, said from the right, a width of 1":
            (torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0], [0.5]]),
             torch.tensor([[True, True], [False, True]]), torch.tensor([[False, True], [False, False]])),
        "five slots in an order, and all are asked": drawn([2, 4, 0, 1, 3], [0, 1, 2, 3, 4], 3),
        "two of six slots are asked, the others are context": drawn([-1, 1, -1, -1, 0, -1], [4, 1], 4),
        "all but the first of four are asked": drawn([1, 3, 0, 2], [0, 3, 1], 5),
        "large numbers": drawn([3, 0, 2, 1], [1, 0], 3, 20.0),
        "a single slot": drawn([0], [0], 2),
    }


def by_key(by_distance: Float[Tensor, "query distance"], slots: Int[Tensor, "query"]) -> Float[Tensor, "query key"]:
    """From a column for each distance to a column for each key, of queries that stand anywhere.

    XLNet looks to both sides: of a query at slot i, the key at slot j has the distance i − j, which is
    below 0 where the key comes later. ``by_distance`` has 2·key − 1 columns, the farthest distance
    first: column c belongs to key − 1 − c, so that the last one belongs to 1 − key. Row n is
    that of a query at slot ``slots[n]``; these stand in any order, and two queries may stand at one
    slot. Column j of the answer belongs to the key at slot j.
    """
    key = (by_distance.shape[1] + 1) // 2
    return by_distance.gather(1, key - 1 - slots[:, None] + torch.arange(key))


def draw_distances(rng: Generator) -> Probes:
    """Inputs for 11.4: name → (a table with a column for each distance, the slots of its queries)."""
    def drawn(key: int, *slots: int) -> tuple[Tensor, Tensor]:
        return randn(len(slots), 2 * key - 1, generator=rng), torch.tensor(slots)

    return {
        "two keys, the right query first": (torch.arange(1.0, 7).view(2, 3), torch.tensor([1, 0])),
        "four queries in a row, at all keys": drawn(4, 0, 1, 2, 3),
        "three queries of six keys, in any order": drawn(6, 4, 0, 3),
        "three queries in a row, the last of five keys": drawn(5, 2, 3, 4),
        "a single query of five keys": drawn(5, 1),
        "two queries at one slot": drawn(4, 2, 1, 2),
        "a text of one slot, for both streams": drawn(1, 0, 0),
    }


def segment_scores(
    q: Float[Tensor, "head query width"], s: Float[Tensor, "2 head width"], b: Float[Tensor, "head width"],
    of_queries: Int[Tensor, "query"], of_keys: Int[Tensor, "key"],
) -> Float[Tensor, "head query key"]:
    """What XLNet adds to its scores for the segments: whether query and key are of one or of two.

    In each head, the score of a query and a key is (q + b)·s₊ if both are of one segment, and
    (q + b)·s₋ if they are not. ``s`` holds s₊ (row 0) and s₋ (row 1) of each head, ``b`` a vector for
    each head. ``of_queries`` and ``of_keys`` number the segment of each query and of each key. The
    numbers are names only, any whole numbers; which segment it is tells nothing. Nothing is divided.
    """
    same, other = ((q + b[:, None]) * s[:, :, None]).sum(3, keepdim=True)
    return torch.where(of_queries[:, None] == of_keys, same, other)


def draw_segments(rng: Generator) -> Probes:
    """Inputs for 11.5: name → (queries, s₊ and s₋, b, segments of the queries and of the keys)."""
    def drawn(head: int, width: int, queries: list[int], keys: list[int]) -> tuple[Tensor, ...]:
        shapes = (head, len(queries), width), (2, head, width), (head, width)
        return *(randn(shape, generator=rng) for shape in shapes), torch.tensor(queries), torch.tensor(keys)

    return {
        "two queries, three keys, a width of 1":
            (torch.tensor([[[1.0], [3.0]]]), torch.tensor([[[10.0]], [[-2.0]]]), torch.tensor([[0.5]]),
             torch.tensor([0, 1]), torch.tensor([0, 0, 1])),
        "two segments, as many queries as keys": drawn(2, 3, [0, 0, 1, 1], [0, 0, 1, 1]),
        "a memory before the keys, and [CLS] is a segment of its own":
            drawn(3, 4, [0, 1, 1, 2], [0, 0, 0, 1, 1, 2]),
        "as many heads as queries": drawn(3, 2, [1, 0, 1], [0, 1, 1, 0]),
        "segments with other numbers": drawn(2, 5, [7, 4, 4], [4, 7, 7, 9, 4]),
        "all of one segment": drawn(2, 3, [1, 1], [1, 1, 1]),
    }


def mpnet_mask(time: int, predict: list[int]) -> Bool[Tensor, "query key"]:
    """What the queries of MPNet see: of each place of a text exactly one, the word or a mask.

    The keys are the ``time`` words of a text and, behind them, a [MASK] for each slot that is
    predicted: key time + u is the mask of the slot ``predict[u]``, and stands at its position.
    ``predict`` has these slots in the order in which their words are said. Row t belongs to the slot
    that is said t-th, ``predict[t]``. It sees every word that is not predicted and the words that are
    said before it. Of the places that are left, its own and those said later, it sees the masks
    (True = may look).
    """
    rank = torch.full((time,), -1)
    rank[predict] = torch.arange(len(predict))
    t = torch.arange(len(predict))
    return torch.cat([rank < t[:, None], t >= t[:, None]], dim=1)


def draw_predictions(_: Generator) -> Probes:
    """Inputs for 11.6: name → (slots of the text, those that are predicted)."""
    return {
        "two of three slots, the right one first": (3, [2, 0]),
        "three of seven slots, in any order": (7, [5, 1, 4]),
        "all of four slots": (4, [2, 0, 3, 1]),
        "a single slot of five": (5, [3]),
        "two neighbours, from left to right": (6, [3, 4]),
        "four of nine slots": (9, [6, 8, 1, 3]),
    }


EXERCISES = (
    Exercise(
        "11.1", "an order in two masks", order_masks, draw_orders,
        mistakes=mistakes.ORDER, properties=mistakes.OF_MASKS,
        hints=(
            "Take the order 2, 0, 1. Which slots have been said when it is the turn of slot 0? And when it is the turn "
            "of slot 2? Which row of the masks is that of slot 2?",
            "order[t] answers \"who is said t-th?\". You need the answer to \"when is slot i said?\". With that, a key "
            "may be seen if its time is before that of the query. Only the diagonal differs between the two masks.",
            "Of a permutation, .argsort() is the inverse. Compare it with itself as a column, rank[:, None], once with "
            "the diagonal and once without. Or fill a table of False row by row: row order[t], columns order[:t].",
        ),
    ),
    Exercise(
        "11.2", "apart and together", two_hidden_words, draw_pairs,
        mistakes=mistakes.PAIR,
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
        mistakes=mistakes_scores.STREAMS, properties=mistakes_scores.OF_STREAMS,
        hints=(
            "The query stream has to guess the word of its slot, and does not know it. Which stream holds the words "
            "that it may look at? What does the first word of the order see?",
            "Both streams do one thing: queries look at h, through a mask. So a function of queries and mask, called "
            "twice. Both times h is the old one. Where all scores of a row are −∞, the softmax is 0/0.",
            "scores.masked_fill(~may_look, float(\"-inf\")), .softmax(1) over the keys, and then .nan_to_num() turns "
            "the NaN of an empty row into 0. h.shape[1] is the width.",
        ),
    ),
    Exercise(
        "11.4", "a query anywhere", by_key, draw_distances,
        mistakes=mistakes_scores.DISTANCES, properties=mistakes_scores.OF_DISTANCES,
        hints=(
            "With three keys the columns are the distances 2, 1, 0, −1, −2. Which three columns does a query at slot 0 "
            "need, and in which order? Which does a query at slot 2 need?",
            "The key j of a query at slot i needs the distance i − j. Column c has the distance key − 1 − c. Set the "
            "two equal and solve for c. Each row needs its own columns, because slots need not be in a row.",
            "Make a table of columns [query key]: slots[:, None] is a column, torch.arange(key) a row. Then "
            ".gather(1, columns) picks in each row. Of n columns, (n + 1) // 2 is the number of keys.",
        ),
    ),
    Exercise(
        "11.5", "one segment or two", segment_scores, draw_segments,
        mistakes=mistakes_scores.SEGMENTS, properties=mistakes_scores.OF_SEGMENTS,
        hints=(
            "A query is of segment 4, and three keys are of 4, 7 and 9. Which two vectors does its score need, and how "
            "many different numbers stand in its row?",
            "A query has only two scores in each head, one for each row of s. Compute these two for all queries first. "
            "A table of \"of one segment?\" [query key] then says which of the two stands in each cell.",
            "b[:, None] is [head 1 width] and s[:, :, None] is [2 head 1 width]; multiply and .sum over the width. "
            "of_queries[:, None] == of_keys is the table, and torch.where(table, this, that) chooses.",
        ),
    ),
    Exercise(
        "11.6", "words before, masks behind", mpnet_mask, draw_predictions,
        mistakes=mistakes.PREDICTED, properties=mistakes.OF_PREDICTED,
        hints=(
            "Slots 2 and 0 of three are said, in this order. Which words does the query of slot 2 see, which masks? "
            "And the query of slot 0? Count the places that each of them sees: three?",
            "There are two blocks side by side. Columns of the words are slots, so predict says which columns to hide: "
            "from predict[t] on. Columns of the masks stand in the order already, so their block needs no predict.",
            "Start from torch.ones(…, dtype=torch.bool); row by row, words[t, predict[t:]] = False. The block of masks "
            "is a triangle, .triu(). torch.cat([words, masks], dim=1) joins the two.",
        ),
    ),
)
